"""Names and shapes that publishers and readers of live events share."""

import json
from typing import Final
from uuid import UUID

from channels.layers import get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer

from agents.core.messages import JsonObject

VERSION: Final = 1
# More than the longest call can gather (600 s, a frame every 0.03 s).
STREAM_FRAMES: Final = 20_480
STREAM_SECONDS: Final = 3_600


def stream_of(turn: UUID) -> str:
    """Return the Redis stream that holds a turn's frames."""
    return f"qanot:turn:{turn}"


def group_of(session: UUID) -> str:
    """Return the channel layer's group of those who watch a session."""
    return f"session.{session}"


def encode(frame: JsonObject) -> str:
    """Return a frame's JSON text."""
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":"))


def session_changed(turn: UUID, *, message: UUID | None = None) -> dict[str, str]:
    """Return the group message that tells watchers to ask how a turn stands.

    Args:
        message: What was accepted; whoever shows it already has nothing to ask.
    """
    frame: JsonObject = {"v": VERSION, "type": "session.changed", "turn": str(turn)}
    if message is not None:
        frame["message"] = str(message)
    return {"type": "session.changed", "frame": encode(frame)}


def noted_changed(turn: UUID) -> dict[str, str]:
    """Return the group message that tells watchers to look at a turn's noted lines again."""
    frame: JsonObject = {"v": VERSION, "type": "noted.changed", "turn": str(turn)}
    return {"type": "noted.changed", "frame": encode(frame)}


def layer() -> RedisPubSubChannelLayer:
    """Return the channel layer, which carries frames to every web process."""
    found = get_channel_layer()
    if not isinstance(found, RedisPubSubChannelLayer):
        raise TypeError("live events need the pub/sub channel layer")
    return found


def redis_channel_of(group: str) -> str:
    """Return the Redis channel under which the channel layer delivers a group's messages.

    Publishing there ourselves lets one pipeline carry a frame to its stream and to its
    watchers; a test holds this name against the layer's own.
    """
    return f"asgi__group__{group}"
