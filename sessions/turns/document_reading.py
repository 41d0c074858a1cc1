"""A worker's share of reading uploaded documents, beside its turns."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog
from channels.db import database_sync_to_async
from django.conf import settings

from memory import uploads

_log = structlog.get_logger(__name__)

# A thread of its own: a file may take a minute, and neither turns nor the index wait for it.
_thread: Final = ThreadPoolExecutor(1, thread_name_prefix="documents")


async def keep() -> None:
    """Read what waits, one document at a time, for as long as the worker runs.

    One that is being read when the worker ends is read by another worker later.
    """
    while True:
        try:
            document = await database_sync_to_async(
                uploads.read_one, thread_sensitive=False, executor=_thread
            )()
        except Exception:
            _log.exception("document.reading_failed")
            document = None
        if document is None:
            await asyncio.sleep(settings.QANOT_INDEX_S)
