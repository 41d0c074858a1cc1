"""One beat for all machines: the first takes a lock in PostgreSQL, the others wait for it."""

import threading
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django_celery_beat.schedulers import DatabaseScheduler

from qanot_site.beat_life import LOCK_ID

log = structlog.get_logger(__name__)

RETRY_S = 2.0


class BeatLock:
    """A session-level advisory lock on its own connection, which lives as long as the beat."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection | None = None
        self._stopping = threading.Event()

    def acquire(self) -> None:
        """Wait until the lock is ours; an unreachable database is a longer wait."""
        waited = False
        while not self._try():
            if not waited:
                log.info("beat_waits", reason="another beat runs")
                waited = True
            self._stopping.wait(RETRY_S)

    def is_held(self) -> bool:
        """Whether the connection that holds the lock still answers."""
        if self._connection is None:
            return False
        try:
            self._connection.execute("select 1")
        except psycopg.Error:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Close the connection; the server lets the lock go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _try(self) -> bool:
        try:
            if self._connection is None:
                self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=3)
            row = self._connection.execute("select pg_try_advisory_lock(%s)", [LOCK_ID]).fetchone()
        except psycopg.Error:
            self.release()
            return False
        return bool(row and row[0])


class LockedScheduler(DatabaseScheduler):
    """Django's schedule rows, read only while this beat holds the lock."""

    # Any: the scheduler's base class takes whatever the beat service passes.
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lock = BeatLock(settings.DATABASE_URL)
        self._lock.acquire()
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        """Ring what is due; after a lost database connection take the lock again first."""
        if not self._lock.is_held():
            self._lock.acquire()
        return super().tick(*args, **kwargs)

    def close(self) -> None:
        """Write the last run times and let the next beat in."""
        super().close()
        self._lock.release()
