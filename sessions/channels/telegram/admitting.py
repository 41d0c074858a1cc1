"""Letting people in or not, and what those are told who must wait or may not."""

from datetime import datetime
from typing import Final

import structlog
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext

from agents.models import Chat
from sessions import outbox
from sessions.channels.telegram import pairing, who
from sessions.channels.telegram.places import Place
from sessions.channels.telegram.updates import ChatMemberUpdated, Message
from sessions.models import ChannelAccount, ChannelContact, PairingRequest

_log = structlog.get_logger(__name__)

# How Telegram says that the bot is in a chat no more: blocked, or removed.
_GONE: Final = frozenset({"kicked", "left"})
_START: Final = "/start "


def admit(
    contact: ChannelContact, message: Message, place: Place, *, key: str, is_counted: bool = True
) -> bool:
    """Return whether a message is to be answered; say why not, as seldom as is polite.

    A private ``/start`` with the secret of a pairing link connects whoever sent it, and is no
    message.

    Args:
        key: The update's, so that nothing is said twice.
        is_counted: Whether it counts against what a person may send in a minute.
    """
    token = _token_of(message) if place.is_private else ""
    if token and _opens_link(contact, token, place, key=key):
        return False
    standing = who.standing_of(contact)
    if standing == "blocked":
        return False
    if standing == "stranger":
        _refuse(contact, place, message, key=f"refused:{key}")
        return False
    if not is_counted:
        return True
    reply_to = _reply_to(message, place)
    return is_slow_enough(contact, place, message.sent_at, key=key, reply_to=reply_to)


def is_slow_enough(
    contact: ChannelContact, place: Place, at: datetime, *, key: str, reply_to: str = ""
) -> bool:
    """Count something that a person sent or pressed; say once when it becomes too much."""
    pace, seconds = who.pace_of(contact, at)
    if pace == "too_fast":
        with _language(contact):
            text = ngettext(
                "You write faster than I can read. Give me %(n)s second, then send me what came "
                "after your last answered message.",
                "You write faster than I can read. Give me %(n)s seconds, then send me what came "
                "after your last answered message.",
                seconds,
            ) % {"n": seconds}
        _say(contact, place, text, key=f"pause:{key}", reply_to=reply_to)
    return pace == "fine"


def note_membership(update: ChatMemberUpdated, account: ChannelAccount) -> None:
    """Note that the bot was blocked or removed, or let in again."""
    is_here = update.new_chat_member.status not in _GONE
    _log.info("bot.let_in" if is_here else "bot.removed", account=account.pk, chat=update.chat.id)
    if update.chat.type == "private":
        who.note_presence(who.contact_of(who.of_user(update.from_user), account), is_here=is_here)
        return
    chats = Chat.objects.filter(
        team_id=account.team_id, channel=account.channel, external_id=str(update.chat.id)
    )
    chats.update(archived_at=None if is_here else timezone.now())


def _token_of(message: Message) -> str:
    """Return what stands after ``/start``, as links of bots put it there.

    What somebody else wrote is no wish of who forwards it.
    """
    words = "" if message.forward_origin is not None else message.words.strip()
    return words[len(_START) :].strip() if words.startswith(_START) else ""


def _opens_link(contact: ChannelContact, token: str, place: Place, *, key: str) -> bool:
    """Return whether a pairing link was opened; whoever opened it is told what came of it.

    One that is over, or was none, is as if nothing stood after ``/start``.
    """
    opened = pairing.open_link(contact.account, token, contact)
    outcome, named = opened.outcome, {"name": opened.person}
    if outcome in ("over", "blocked"):
        return False
    with _language(contact):
        if outcome == "connected":
            text = gettext("Done: you are %(name)s here now. Just write to me.") % named
        elif outcome == "confirm":
            text = gettext(
                "This link makes you %(name)s: who logs in with that name can then read your "
                "conversations with me. Is that you? Then open the link once more."
            )
            text %= named
        else:
            text = gettext(
                "This Telegram account belongs to somebody else who logs in here, so the link was "
                "not used."
            )
    outbox.queue_notice(contact.account, place.peer, text, key=f"link:{key}")
    return True


def _refuse(contact: ChannelContact, place: Place, message: Message, *, key: str) -> None:
    """Say one polite line to somebody who may not talk with the bot, once an hour.

    Whoever was told in a group to write in private gets their code there at once.
    """
    by_pairing = contact.account.access == ChannelAccount.Access.PAIRING
    was_told = not who.may_be_told(contact)
    if was_told and not (by_pairing and place.is_private and not _has_code(contact)):
        return
    with _language(contact):
        request = pairing.ask(contact) if by_pairing and place.is_private else None
        if request is not None:
            text = _with_code(request)
        elif was_told:
            return
        elif by_pairing and not place.is_private:
            text = gettext(
                "We do not know each other yet. Write to me in a private chat, and I tell you how "
                "to be let in."
            )
        else:
            text = gettext("Sorry, I only talk with people whom my owners let in.")
    _say(contact, place, text, key=key, reply_to=_reply_to(message, place))


def _has_code(contact: ChannelContact) -> bool:
    """Return whether somebody was told a code within the hour."""
    since = timezone.now() - who.REFUSED_EVERY
    return PairingRequest.objects.filter(contact=contact, created_at__gt=since).exists()


def _with_code(request: PairingRequest) -> str:
    left = request.expires_at - timezone.now()
    minutes = max(1, round(left.total_seconds() / 60))
    return ngettext(
        "Hello! I only talk with people whom my owners let in. Tell them this code: %(code)s (it "
        "is good for %(n)s minute).",
        "Hello! I only talk with people whom my owners let in. Tell them this code: %(code)s (it "
        "is good for %(n)s minutes).",
        minutes,
    ) % {"code": request.code, "n": minutes}


def _say(contact: ChannelContact, place: Place, text: str, *, key: str, reply_to: str) -> None:
    outbox.queue_notice(
        contact.account, place.peer, text, key=key, thread=place.thread, reply_to=reply_to
    )


def _reply_to(message: Message, place: Place) -> str:
    """Return which message is replied to: none where only two talk."""
    return "" if place.is_private else str(message.message_id)


def _language(contact: ChannelContact) -> translation.override:
    return translation.override(who.language_of(contact, contact.account))
