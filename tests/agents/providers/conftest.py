"""Real SDKs on one side, fakes on loopback on the other."""

from collections.abc import AsyncIterator, Iterator

import pytest

from agents.core.protocols import Provider
from agents.providers import Endpoint, ProviderLimits, open_provider
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.openai import FakeOpenAI
from tests.fakes.server import FakeServer

KEY = "sk-test-0123456789abcdef"
LIMITS = ProviderLimits()
# Tenths of a second where the platform waits minutes.
SHORT_LIMITS = ProviderLimits(first_event_s=0.3, between_events_s=0.3, call_s=0.6)

FAKES: dict[str, type[FakeAnthropic | FakeOpenAI]] = {
    "anthropic": FakeAnthropic,
    "openai": FakeOpenAI,
}


@pytest.fixture(params=["anthropic", "openai"])
def kind(request: pytest.FixtureRequest) -> str:
    """Run the test once for each wire."""
    return str(request.param)


@pytest.fixture
def fake(kind: str) -> Iterator[FakeServer]:
    """Serve the kind's wire; what the script and the requests do not share fails the test."""
    with FAKES[kind]() as server:
        yield server
        server.assert_done()


@pytest.fixture
async def provider(kind: str, fake: FakeServer) -> AsyncIterator[Provider]:
    """Open the kind's adapter on its fake."""
    opened = open_provider(
        kind, Endpoint(api_key=KEY, base_url=fake.base_url, limits=LIMITS, may_reach_private=True)
    )
    yield opened
    await opened.aclose()


@pytest.fixture
async def impatient(kind: str, fake: FakeServer) -> AsyncIterator[Provider]:
    """Open the kind's adapter on its fake, with short limits."""
    opened = open_provider(
        kind,
        Endpoint(api_key=KEY, base_url=fake.base_url, limits=SHORT_LIMITS, may_reach_private=True),
    )
    yield opened
    await opened.aclose()
