"""Bots in words: what stands in a bot's way, and how one stands."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, assert_never

from django.utils.translation import gettext as _

from agents.admin.connect_words import missing_key
from sessions.channels.telegram import standing
from sessions.channels.telegram.setup import Found, SetupTrouble
from sessions.channels.telegram.standing import Trouble
from sessions.models import ChannelAccount

State = Literal["live", "starting", "troubled", "off"]

# A poller looks for new bots every few seconds; who waits longer has none.
PATIENCE: Final = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Words:
    """What is wrong, and what helps."""

    title: str
    advice: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How a bot stands: its state, in a word or two, and more where there is more to say."""

    state: State
    label: str
    text: str = ""
    said: str = ""


def trouble(error: SetupTrouble, *, has_own_address: bool) -> Words:
    """Return why a bot cannot be connected, and what to do about it."""
    match error.reason:
        case "no_token":
            return Words(
                _("This does not look like a bot's token."),
                _("@BotFather shows it as 123456789:AA… — copy it whole."),
            )
        case "token_refused":
            return Words(
                _("Telegram does not know this token."),
                _("Copy it again from @BotFather, whole. It may also have been revoked."),
            )
        case "key_missing":
            return Words(
                _("The token cannot be had."),
                missing_key(error.missing) if error.missing is not None else "",
            )
        case "no_address":
            return Words(
                _("This is no address of a Bot API server."),
                _("Write it like https://bots.example.org"),
            )
        case "address_private":
            return Words(
                _("This address may not be asked: it is private."),
                _("A superuser may connect it, or list it in QANOT_PRIVATE_HOSTS."),
            )
        case "unreachable":
            return Words(_("Nobody answers there."), _unreachable(has_own_address))
        case "not_the_api":
            return Words(
                _("Something answers there, but not as Telegram's Bot API does."),
                _("Check the address."),
            )
        case "here_already":
            return Words(
                _("This bot is connected here already."),
                _("One bot has one agent. Make another bot with @BotFather, or archive that one."),
            )
        case "another_bot":
            return Words(
                _("This token is another bot's: @%(name)s.") % {"name": error.username},
                _("Connect that one as a bot of its own."),
            )
    assert_never(error.reason)


def notes(found: Found) -> list[str]:
    """Return what to know of a bot before it is connected."""
    said = []
    if found.webhook_host:
        said.append(
            _(
                "Another program has its messages brought to %(host)s. Connecting it here ends "
                "that; if that program asks again, the two disturb each other."
            )
            % {"host": found.webhook_host}
        )
    if not found.reads_all_group_messages:
        said.append(
            _(
                "In groups it sees only what is said to it: its privacy mode is on. That is fine "
                "for most."
            )
        )
    return said


def standing_of(bot: ChannelAccount, *, now: datetime) -> Standing:
    """Return how a bot stands right now."""
    if bot.archived_at is not None:
        return Standing("off", _("archived"))
    if bot.switched_off_at is not None:
        return Standing(
            "off",
            _("switched off"),
            _("It hears nothing. Telegram keeps its messages for a day."),
        )
    if bot.agent is None or bot.agent.archived_at is not None:
        return Standing("troubled", _("no agent"), _("Choose an agent that answers for it."))
    if bot.last_error_code:
        return _troubled(bot)
    is_tended = bot.leased_until is not None and bot.leased_until > now
    if is_tended or bot.receives == ChannelAccount.Receives.WEBHOOK:
        return Standing("live", _("live"), _("It hears and answers."))
    return Standing("starting", _("starting…"), _starting(bot, now=now))


def _troubled(bot: ChannelAccount) -> Standing:
    code = bot.last_error_code
    known = code in Trouble.values
    label = str(Trouble(code).label) if known else code
    return Standing("troubled", label, standing.sentence_of(code), bot.last_error)


def _starting(bot: ChannelAccount, *, now: datetime) -> str:
    if now - bot.created_at > PATIENCE:
        return _(
            "No process asks for its messages: start “manage.py poller”; “manage.py up” does it "
            "by itself."
        )
    return _("This takes a few seconds.")


def _unreachable(has_own_address: bool) -> str:
    if has_own_address:
        return _("Does the server run, and is the address right?")
    return _("This server cannot reach api.telegram.org. Check its way to the internet.")
