"""Updates as Telegram sends them, with the fields that real ones have."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agents.models import Agent
from sessions.channels.telegram import receiving
from sessions.models import ChannelAccount, InboundMessage, Outgoing, Turn
from tests import factories

# Any: JSON, as it comes.
Json = dict[str, Any]

_numbers = count(700_000_001)
# 2025-06-02 12:00:00 UTC: what Telegram took then arrives late.
MORNING = 1_748_865_600
GROUP_ID = -1001234567890


def user(number: int = 501, first: str = "Bobur", **given: Any) -> Json:
    """Return a user."""
    return {"id": number, "is_bot": False, "first_name": first, "language_code": "uz"} | given


def private(who: Json) -> Json:
    """Return the private chat of a user."""
    names = {name: who[name] for name in ("first_name", "last_name", "username") if name in who}
    return {"id": who["id"], "type": "private"} | names


def group(**given: Any) -> Json:
    """Return a supergroup."""
    return {"id": GROUP_ID, "type": "supergroup", "title": "Team room"} | given


def entity(kind: str, text: str, piece: str, **given: Any) -> Json:
    """Return the entity that marks a piece of a text, counted as Telegram counts."""
    before = text[: text.index(piece)]
    units = [len(part.encode("utf-16-le")) // 2 for part in (before, piece)]
    return {"type": kind, "offset": units[0], "length": units[1]} | given


def command(text: str) -> list[Json]:
    """Return the entities of a text that begins with a command."""
    return [entity("bot_command", text, text.split(maxsplit=1)[0])]


@dataclass(slots=True)
class Wire:
    """One bot's incoming updates."""

    account: ChannelAccount
    _message_ids: "count[int]" = field(default_factory=lambda: count(11))

    @property
    def bot(self) -> Json:
        """Return the bot as Telegram shows it."""
        return {
            "id": self.account.bot_id,
            "is_bot": True,
            "first_name": "Helper",
            "username": self.account.username,
        }

    def message(self, text: str = "", *, who: Json | None = None, **given: Any) -> Json:
        """Return a message; it stands in the sender's private chat if nothing else is said."""
        sender = who or user()
        made: Json = {
            "message_id": next(self._message_ids),
            "from": sender,
            "chat": private(sender),
            "date": MORNING,
        }
        if text:
            made["text"] = text
        return made | given

    def update(self, **given: Any) -> Json:
        """Return an update with the next number."""
        return {"update_id": next(_numbers)} | given

    def take(self, **given: Any) -> bool:
        """Take an update in, as poller and webhook do."""
        return receiving.take(self.account, self.update(**given))

    def say(self, text: str = "", **given: Any) -> Json:
        """Take a message in; return it."""
        made = self.message(text, **given)
        assert self.take(message=made)
        return made

    def set(self, **columns: Any) -> None:
        """Change the account's row."""
        ChannelAccount.objects.filter(pk=self.account.pk).update(**columns)
        self.account.refresh_from_db()


def wire(**given: Any) -> Wire:
    """Make a bot, open to everybody, that answers at once."""
    account = factories.telegram_account(**{"pause_s": 0.0} | given)
    return Wire(account)


def hearing(**given: Any) -> Wire:
    """Make a bot whose agent hears groups."""
    made = wire(**given)
    Agent.objects.filter(channel_accounts=made.account).update(hears_groups=True)
    return made


def texts() -> list[str]:
    """Return what was taken in as people's own words, in order."""
    return list(InboundMessage.objects.order_by("pk").values_list("content__text", flat=True))


def contexts() -> list[str]:
    """Return what came with messages, in order; empty for nothing."""
    found = InboundMessage.objects.order_by("pk").values_list("context__text", flat=True)
    return [text or "" for text in found]


def notices() -> list[str]:
    """Return what the platform says, in order."""
    found = Outgoing.objects.filter(kind=Outgoing.Kind.NOTICE).order_by("pk")
    return [row.content.text for row in found.select_related("content") if row.content]


def turns() -> int:
    """Return how many turns there are."""
    return Turn.objects.count()
