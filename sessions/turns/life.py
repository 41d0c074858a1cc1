"""How others see that a process lives: an advisory lock on a connection of its own.

PostgreSQL lets go of it when the process is gone, however it went.
"""

import asyncio
from typing import Any

import psycopg
import structlog
from django.db import connection

_log = structlog.get_logger(__name__)


class Life:
    """Holds one process's lock; whoever may be gone asks ``pg_locks`` for it.

    Args:
        kind: The lock's first key: what sort of process it is.
        number: Its second one: which of them, below 2^31.
    """

    def __init__(self, kind: int, number: int) -> None:
        self._kind, self._number = kind, number
        self._connection: psycopg.AsyncConnection | None = None
        self._is_held = False
        self._looking = asyncio.Lock()

    async def hold(self) -> bool:
        """Make sure that the lock is held, over a new connection if the old one broke.

        Returns:
            Whether it is, if only by our connection of before, of which PostgreSQL does not know
            yet that it broke. Others may take over what a process without it holds.
        """
        async with self._looking:
            had_one = self._connection is not None
            is_taken = await self._is_taken()
            if not is_taken and had_one:
                # At once, as without the lock this process counts as dead.
                is_taken = await self._is_taken()
            return is_taken

    async def release(self) -> None:
        """Let go."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _is_taken(self) -> bool:
        """Take or check the lock; False where its connection broke, or cannot be made."""
        try:
            await self._take()
        except (psycopg.Error, OSError) as error:
            _log.warning("process.lock_lost", number=self._number, error=type(error).__name__)
            await self.release()
            return False
        return True

    async def _take(self) -> None:
        if self._connection is None:
            self._is_held = False
            self._connection = await psycopg.AsyncConnection.connect(
                autocommit=True, **_connection_parameters()
            )
        if self._is_held:
            await self._connection.execute("SELECT 1")
            return
        # Not waited for: where PostgreSQL does not know yet that the old connection broke, its
        # lock speaks for us, and leases must be renewed meanwhile.
        tried = await self._connection.execute(
            "SELECT pg_try_advisory_lock(%s, %s)", [self._kind, self._number]
        )
        self._is_held = await tried.fetchone() == (True,)


def _connection_parameters() -> dict[str, Any]:
    """Return where and how Django connects, certificates and time limits included."""
    # Any: libpq's own parameters. The others are those of Django's blocking connection.
    parameters: dict[str, Any] = connection.get_connection_params()
    of_django = ("context", "cursor_factory", "prepare_threshold")
    return {name: value for name, value in parameters.items() if name not in of_django}
