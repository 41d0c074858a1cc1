"""Bots, ready to be asked: the one place that opens tokens for aiogram."""

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from sessions.channels.telegram.servers import Server, close_sessions, server_of
from sessions.channels.telegram.tokens import token_of
from sessions.models import ChannelAccount

if TYPE_CHECKING:
    from aiogram import Bot

_WIRE = "sessions.channels.telegram.wire"


class _Wire(Protocol):
    def open_bot(self, token: str, server: Server) -> "Bot": ...


def bot_of(account: ChannelAccount) -> "Bot":
    """Return an account's bot; call it on the loop that asks, after ``warm`` in a thread.

    It is light: all bots of a loop share one HTTP session a server. Its requests raise aiogram's
    errors, and ``wire.NotReached`` (nothing left) or ``wire.Unanswered`` (nobody knows).

    Raises:
        KeyMissing: The token cannot be had now.
        NotAToken: It has not the form of one.
        BadAddress: The address of its own Bot API server is none.
    """
    return opened(token_of(account), server_of(account))


def opened(token: str, server: Server) -> "Bot":
    """Return the bot of a token that has no row yet."""
    # Untyped, as every import by its name; the Protocol says what is used of it.
    wire = cast(_Wire, import_module(_WIRE))
    return wire.open_bot(token, server)


def warm() -> None:
    """Import aiogram, which takes seconds; in a thread, so that no loop waits for it."""
    import_module(_WIRE)


async def close_bots() -> None:
    """Close the connections that the running loop's bots have."""
    await close_sessions()
