"""A worker's share of keeping the memory index up to date, beside its turns."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import structlog
from channels.db import database_sync_to_async
from django.conf import settings

from memory import warming
from memory.index.work import IndexWork

_log = structlog.get_logger(__name__)

# Between two steps of work that waits, while turns run.
BREATH_S: Final = 0.2
# A thread of its own, as a step that waits for an embedder would hold up what turns write.
_thread: Final = ThreadPoolExecutor(1, thread_name_prefix="index")


async def keep(is_busy: Callable[[], bool]) -> None:
    """Do what waits for the index, for as long as the worker runs.

    Args:
        is_busy: Tells whether turns run, which go before.
    """
    work = IndexWork()
    is_warm = False
    while True:
        try:
            is_warm = is_warm or await _beside(warming.warm)
            is_more = await _beside(partial(_work, work, is_busy=is_busy()))
        except Exception:
            _log.exception("index.step_failed")
            is_more = False
        if not is_more:
            await asyncio.sleep(settings.QANOT_INDEX_S)
        elif is_busy():
            await asyncio.sleep(BREATH_S)


async def warm() -> None:
    """Load what the first message would wait for."""
    if settings.QANOT_INDEX_S:
        await _beside(warming.warm)


async def _beside(do: Callable[[], bool]) -> bool:
    """Do one step; one that has begun is waited for even when the worker ends."""
    doing = asyncio.ensure_future(
        database_sync_to_async(do, thread_sensitive=False, executor=_thread)()
    )
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await doing
        raise


def _work(work: IndexWork, *, is_busy: bool) -> bool:
    is_more = work.step(is_busy=is_busy)
    return work.tend(is_busy=is_busy) or is_more
