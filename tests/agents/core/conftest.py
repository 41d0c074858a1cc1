"""A clock that jumps to the next moment at which something is due, so that no test waits.

The loop's real limits of seconds and minutes are tested as they are; a test in which nothing
is due any more fails instead of hanging.
"""

import asyncio
from collections.abc import AsyncIterator
from selectors import BaseSelector, SelectorKey

import pytest

DEADLOCK_S = 5.0


class Clock:
    """The seconds that have passed for a test."""

    def __init__(self, selector: BaseSelector) -> None:
        """Begin at second 0."""
        self._select = selector.select
        self.now_s = 0.0

    def time(self) -> float:
        """Stand for the event loop's own clock."""
        return self.now_s

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Let the time pass that asyncio wants to wait, without waiting."""
        if timeout is None:
            ready = self._select(DEADLOCK_S)
            assert ready, "everybody waits, and nothing is due"
            return ready
        self.now_s += max(timeout, 0.0)
        return self._select(0)


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Clock]:
    """Make the test's event loop jump."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, asyncio.SelectorEventLoop)
    selector: BaseSelector = loop._selector  # type: ignore[attr-defined]  # its only clock hand
    jumping = Clock(selector)
    with monkeypatch.context() as patch:
        patch.setattr(selector, "select", jumping.select)
        patch.setattr(loop, "time", jumping.time)
        yield jumping
