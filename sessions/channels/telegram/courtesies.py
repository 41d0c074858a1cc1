"""Small signs that something arrived: a pressed button comes to rest, a message gets a reaction.

They are given after the commit. Nothing waits for them, and nothing is lost without them.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Final

import structlog
from pydantic import JsonValue

from agents.core.messages import JsonObject
from sessions.channels.telegram import places, updates, who
from sessions.models import ChannelAccount, InboundMessage

_log = structlog.get_logger(__name__)

# One of those that every chat allows.
SEEN: Final = "👀"


@dataclass(frozen=True, slots=True)
class Courtesy:
    """What the Bot API is asked for."""

    method: str
    parameters: JsonObject

    def as_reply(self) -> bytes:
        """Return it as the answer to a webhook's call."""
        return json.dumps({"method": self.method, **self.parameters}).encode()


def of_press(update: JsonObject) -> Courtesy | None:
    """Return what ends the clock that Telegram shows on a pressed button; None without one."""
    query = update.get("callback_query")
    number = query.get("id") if isinstance(query, dict) else None
    if not isinstance(number, str):
        return None
    return Courtesy("answerCallbackQuery", {"callback_query_id": number})


def of_message(update: JsonObject, account: ChannelAccount) -> Courtesy | None:
    """Return the reaction that tells somebody that their message arrived, if the account asks so.

    Only what was taken in to be answered gets one: in a group it says that the bot was meant.
    """
    if not account.shows_receipts or "message" not in update:
        return None
    parsed = updates.parse(update)
    message = parsed.message if parsed is not None else None
    sender = who.sender_of(message) if message is not None else None
    if message is None or sender is None:
        return None
    taken = InboundMessage.objects.filter(
        account_id=account.pk,
        sender=sender.key,
        external_id=f"{places.place_of(message).peer}:{message.message_id}",
    )
    if not taken.exists():
        return None
    reaction: list[JsonValue] = [{"type": "emoji", "emoji": SEEN}]
    where: JsonObject = {"chat_id": message.chat.id, "message_id": message.message_id}
    return Courtesy("setMessageReaction", {**where, "reaction": reaction})


def log_failed(task: "asyncio.Task[JsonValue]") -> None:
    """Log how a courtesy went wrong."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.info("courtesy.failed", error=type(error).__name__)
