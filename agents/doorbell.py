"""Ringing upward: the lowest layer asks for work by a task's registered name.

A bell is only a nudge. Every worker looks into PostgreSQL by itself, so a lost bell costs
seconds, never work.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import structlog
from celery import current_app
from django.db import transaction

_log = structlog.get_logger(__name__)

# Beyond this many waiting nudges the sweep is quicker anyway.
MAX_WAITING: Final = 1_000
# One thread nudges, so that whoever stored a message never waits for a Redis that is away.
_thread = ThreadPoolExecutor(1, thread_name_prefix="doorbell")
_places = threading.BoundedSemaphore(MAX_WAITING)


def ring(task: str, *args: int) -> None:
    """Ask for a task by name, soon and once; a lost or refused bell is logged, never raised."""
    nudge(f"bell {task}", partial(_send, task, args))


def ring_after_commit(task: str, *args: int) -> None:
    """Ring once the running transaction has committed, so that the worker finds the rows."""
    transaction.on_commit(partial(ring, task, *args))


def nudge(name: str, send: Callable[[], object]) -> None:
    """Run something small towards Redis in the background; a failure is logged, never raised."""
    if not _places.acquire(blocking=False):
        _log.warning("nudge.dropped", nudge=name)
        return
    _thread.submit(_run, name, send)


def _run(name: str, send: Callable[[], object]) -> None:
    try:
        send()
    except Exception as error:
        _log.warning("nudge.lost", nudge=name, error=type(error).__name__)
    finally:
        _places.release()


def _send(task: str, args: tuple[int, ...]) -> None:
    current_app.send_task(task, args=args)
    _log.info("bell.rung", task=task, args=args)
