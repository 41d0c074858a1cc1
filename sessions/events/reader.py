"""How a watcher catches up with a turn that already runs."""

from typing import cast
from uuid import UUID

import structlog
from redis.exceptions import RedisError

from sessions.events.redis_client import redis_client
from sessions.events.wire import group_of, stream_of

__all__ = ["group_of", "read_after"]

_log = structlog.get_logger(__name__)


async def read_after(turn: UUID, after: str | None) -> list[tuple[str, str]]:
    """Return the frames that Redis still has of a turn, oldest first.

    Args:
        after: Id ``<attempt>-<n>`` of the last frame seen; None for all.

    Returns:
        Pairs of frame id and JSON text; empty where there are none or Redis is away, which the
        live frames and the transcript make good.
    """
    start = f"({after}" if after else "-"
    try:
        rows = await redis_client().xrange(stream_of(turn), min=start)
    except (RedisError, OSError) as error:
        _log.warning("events.unreadable", turn=str(turn), error=type(error).__name__)
        return []
    # Bytes, as the client is told not to decode; its annotations allow every setting.
    found = cast("list[tuple[bytes, dict[bytes, bytes]]]", rows)
    return [(frame_id.decode(), fields[b"f"].decode()) for frame_id, fields in found]
