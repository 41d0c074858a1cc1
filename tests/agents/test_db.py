"""How coroutines reach the database."""

import asyncio
import threading

import pytest

from agents.db import in_db


async def test_who_is_cancelled_waits_for_the_statement_that_is_on_its_way() -> None:
    began, goes_on = threading.Event(), threading.Event()
    ended: list[str] = []

    def write() -> None:
        began.set()
        goes_on.wait(10)
        ended.append("written")

    writing = asyncio.create_task(in_db(write))
    await asyncio.to_thread(began.wait, 10)
    writing.cancel()
    await asyncio.sleep(0.05)
    assert not writing.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert ended == ["written"]


async def test_what_a_call_raises_is_raised() -> None:
    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await in_db(fail)
