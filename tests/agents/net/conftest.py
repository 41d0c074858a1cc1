"""The fixtures of a world of its own."""

from collections.abc import AsyncIterator

import pytest

from tests.agents.net.world import Web, World, make_world


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Put our own DNS and our own connect call in the place of the system's."""
    return make_world(monkeypatch)


@pytest.fixture
async def web(world: World) -> AsyncIterator[Web]:
    """Serve whatever the guard lets through."""
    served = Web()
    world.server = await served.start()
    yield served
    await served.stop()
