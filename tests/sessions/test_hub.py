"""The carrier of live events, where Redis or its client misbehaves."""

import asyncio
from uuid import uuid4

import pytest

from sessions.events.hub import Hub


async def test_closing_ends_although_the_redis_client_swallows_the_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_sending, may_go_on = asyncio.Event(), asyncio.Event()

    async def swallow(self: Hub, *_: object) -> None:
        is_sending.set()
        try:
            await may_go_on.wait()
        except asyncio.CancelledError:
            # As its time-out does when it ends in the same moment.
            return

    monkeypatch.setattr(Hub, "_pipeline", swallow)
    hub = Hub()
    hub.feed(turn=uuid4(), session=uuid4(), attempt=1).begin()
    await is_sending.wait()
    async with asyncio.timeout(5):
        await hub.aclose()
