"""A group's pictures that may belong to an album which speaks to the bot.

Only one picture of an album has the caption, and with it the bot's name; others may come before.
They are held in Valkey for seconds and nowhere else, as what is said to others is not kept.
"""

from typing import Final

import structlog
from pydantic import ValidationError
from redis.exceptions import RedisError

from agents import sql
from sessions.channels.telegram.updates import Message
from sessions.events.redis_client import blocking_client
from sessions.models import ChannelAccount

_log = structlog.get_logger(__name__)

# Telegram brings an album's pictures within moments.
HELD_S: Final = 20
# As many as an album has.
MOST: Final = 10
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 7))"


def follow_each_other(message: Message, account: ChannelAccount) -> None:
    """Let an album's pictures come one by one until the transaction ends.

    Telegram brings several at once to a webhook: one would be held where another, not committed
    yet, has just looked for it.
    """
    sql.fetch(_LOCK, [_key(message, account)])


def hold(message: Message, account: ChannelAccount) -> None:
    """Remember a picture that names nobody, until the one that may name the bot is there."""
    key = _key(message, account)
    try:
        with blocking_client().pipeline() as pipeline:
            pipeline.rpush(key, message.model_dump_json(exclude_defaults=True))
            pipeline.ltrim(key, -MOST, -1)
            pipeline.expire(key, HELD_S)
            pipeline.execute()
    except RedisError as error:
        # The album lacks a picture; everything else goes on.
        _log.warning("album.not_held", account=account.pk, error=type(error).__name__)


def held(message: Message, account: ChannelAccount) -> list[Message]:
    """Return the pictures of a message's album that came before it, in order."""
    try:
        found = blocking_client().lrange(_key(message, account), 0, -1)
        return [Message.model_validate_json(each) for each in found]
    except (RedisError, ValidationError) as error:
        _log.warning("album.not_found", account=account.pk, error=type(error).__name__)
        return []


def _key(message: Message, account: ChannelAccount) -> str:
    sender = message.sender_chat or message.from_user
    number = sender.id if sender is not None else 0
    return f"album:{account.pk}:{message.chat.id}:{number}:{message.media_group_id}"
