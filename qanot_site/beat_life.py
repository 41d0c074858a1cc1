"""Which beat holds the lock, as PostgreSQL knows it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agents import sql

# Any constant shared by all beats of one database: "qanot beat" as a number.
LOCK_ID: Final = 0x71616E6F74

# A lock of one big number shows as its two halves; with each tick the beat asks something over
# the lock's connection.
_HOLDER = """
    SELECT a.backend_start, a.state_change, coalesce(host(a.client_addr), '')
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
      AND l.classid = %s AND l.objid = %s
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@dataclass(frozen=True, slots=True)
class BeatLife:
    """The beat that holds the lock.

    Args:
        address: From where it is connected; empty for a local socket.
    """

    since: datetime
    ticked_at: datetime | None
    address: str


def holder() -> BeatLife | None:
    """Return the beat that holds the lock; None where none does."""
    rows = sql.fetch(_HOLDER, [LOCK_ID >> 32, LOCK_ID & 0xFFFFFFFF])
    return BeatLife(*rows[0]) if rows else None
