"""The way out to one chat, without aiogram until it is used; what it raises says what became."""

import asyncio
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agents.core.errors import AgentError
from agents.services.keys import KeyMissing
from sessions.channels.telegram import client
from sessions.channels.telegram.tokens import NotAToken
from sessions.delivery import NotDelivered, Undeliverable
from sessions.models import ChannelAccount

if TYPE_CHECKING:
    from sessions.channels.telegram.calls import Calls

_CALLS = "sessions.channels.telegram.calls"
# A bot whose token cannot be had is not asked for every few seconds.
NO_TOKEN_PAUSE_S = 60.0


class Refused(Exception):
    """The Bot API did not take a request; another form of it may do.

    Args:
        description: In its own words, in lower case.
    """

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description


class Moved(Undeliverable):
    """The group became a supergroup, which has another number.

    Args:
        chat: That number.
    """

    def __init__(self, chat: str) -> None:
        super().__init__("moved")
        self.chat = chat


class NotModified(Exception):
    """An edit would change nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages go.

    Args:
        chat: Telegram's number of it; below 0 for groups.
        thread: Of a topic; empty where there is none.
    """

    chat: str
    thread: str = ""

    @property
    def is_private(self) -> bool:
        """Return whether only one person reads there."""
        return not self.chat.startswith(("-", "@"))


def warm() -> None:
    """Import aiogram and what is built on it: seconds, so in a thread."""
    client.warm()
    import_module(_CALLS)


async def calls_to(account: ChannelAccount, place: Place) -> "Calls":
    """Return the Bot API's methods for one chat.

    Raises:
        NotDelivered: The bot's token or address cannot be had now.
    """
    if _CALLS not in sys.modules:
        await asyncio.to_thread(warm)
    module = import_module(_CALLS)
    try:
        bot = client.bot_of(account)
    except (KeyMissing, NotAToken, AgentError, ValueError) as error:
        raise NotDelivered(type(error).__name__, retry_after_s=NO_TOKEN_PAUSE_S) from None
    return cast("type[Calls]", module.Calls)(bot, account.pk, place)
