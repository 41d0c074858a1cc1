"""The one way in which coroutines reach the ORM."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings

P = ParamSpec("P")
T = TypeVar("T")

# Fewer threads than the pool has connections, so that none waits for one; and few, as each
# competes with the event loop for the interpreter.
_threads = ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="database")


async def in_db(f: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a synchronous function that uses the ORM, and return what it returns.

    It runs on one of a bounded number of threads, each with a pooled connection for the length
    of the call. A bare ``await queryset.aget()`` would put all turns of a process on one thread.

    A statement that is on its way cannot be called back: who is cancelled meanwhile waits for its
    end, so that nothing of a process is written after the process took its leave.
    """
    running = asyncio.ensure_future(
        database_sync_to_async(f, thread_sensitive=False, executor=_threads)(*args, **kwargs)
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.gather(running, return_exceptions=True)
        raise
