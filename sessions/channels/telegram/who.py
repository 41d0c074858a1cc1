"""Who writes to a bot: its contacts, the people behind them, and whether they may talk with it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final, Literal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.models import Person
from agents.services import people
from sessions import marks
from sessions.channels.telegram.updates import Chat, Message, User
from sessions.models import ChannelAccount, ChannelContact

REFUSED_EVERY: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)

Standing = Literal["allowed", "stranger", "blocked"]
Pace = Literal["fine", "too_fast", "paused"]


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote, as Telegram says; names are cleaned.

    Args:
        external_id: A user's number, or a chat's where a chat itself writes.
        language: One of ours, or empty.
    """

    external_id: str
    name: str
    username: str = ""
    language: str = ""

    @property
    def key(self) -> str:
        """Return the sender as part of a message's identity."""
        return f"telegram:{self.external_id}"


def sender_of(message: Message) -> Sender | None:
    """Return who wrote a message; None for other bots, and for copies that nobody wrote here.

    Administrators may write in a group's name, and people in that of a channel.
    """
    if message.is_automatic_forward:
        return None
    if message.sender_chat is not None:
        return of_chat(message.sender_chat)
    if message.from_user is None or message.from_user.is_bot:
        return None
    return of_user(message.from_user)


def of_user(user: User) -> Sender:
    """Return a user as a sender."""
    return Sender(
        external_id=str(user.id),
        name=marks.clean_name(user.name) or marks.clean_name(user.username) or str(user.id),
        username=user.username[:64],
        language=people.language_of_code(user.language_code),
    )


def of_chat(chat: Chat) -> Sender:
    """Return a chat that writes in its own name as a sender."""
    return Sender(str(chat.id), marks.clean_name(chat.name) or str(chat.id), chat.username[:64])


def contact_of(sender: Sender, account: ChannelAccount) -> ChannelContact:
    """Return the bot's contact, its row locked: what one person sends comes one by one."""
    contact = _locked(sender, account)
    if contact is None:
        try:
            with transaction.atomic():
                contact = ChannelContact.objects.create(
                    account=account,
                    external_id=sender.external_id,
                    username=sender.username,
                    display_name=sender.name,
                    language=sender.language,
                )
        except IntegrityError:
            # Their first two messages came at once.
            contact = _locked(sender, account)
            if contact is None:
                raise
    contact.account = account
    _rename(contact, sender)
    return contact


def person_of(contact: ChannelContact) -> Person:
    """Return who a contact is; somebody new at their first allowed message."""
    if contact.person is None:
        person = people.person_of_identity(
            contact.account.team,
            contact.account.channel,
            contact.external_id,
            name=contact.display_name,
            language=contact.language,
        )
    else:
        person = people.as_merged(contact.person)
    if contact.person_id != person.pk:
        contact.person = person
        contact.save(update_fields=["person"])
    return person


def standing_of(contact: ChannelContact) -> Standing:
    """Return whether a contact may talk with the bot: what an admin decided, else its rule."""
    if contact.access == ChannelContact.Access.BLOCKED:
        return "blocked"
    if contact.access == ChannelContact.Access.ALLOWED:
        return "allowed"
    return "allowed" if contact.account.access == ChannelAccount.Access.OPEN else "stranger"


def may_be_told(contact: ChannelContact) -> bool:
    """Return whether a stranger is told that they may not, which is done once an hour."""
    now = timezone.now()
    if contact.refused_at is not None and now - contact.refused_at < REFUSED_EVERY:
        return False
    contact.refused_at = now
    contact.save(update_fields=["refused_at"])
    return True


def pace_of(contact: ChannelContact, said_at: datetime) -> tuple[Pace, int]:
    """Count a message against what a person may send in a minute.

    By Telegram's clock: what was sent over hours while we were down does not count as a flood.

    Returns:
        How it is, and for how many seconds a pause lasts that begins with this message.
    """
    if contact.paused_until is not None and said_at < contact.paused_until:
        return "paused", 0
    limit = contact.account.messages_per_minute
    recent = sorted(at for at in contact.recent_at if said_at - at < MINUTE)[-limit:]
    if len(recent) < limit:
        contact.recent_at = [*recent, said_at]
        contact.save(update_fields=["recent_at"])
        return "fine", 0
    contact.paused_until = recent[0] + MINUTE
    contact.save(update_fields=["paused_until"])
    return "too_fast", max(1, ceil((contact.paused_until - said_at).total_seconds()))


def language_of(contact: ChannelContact, account: ChannelAccount) -> str:
    """Return the language in which the platform speaks to a contact."""
    spoken = contact.person.language if contact.person is not None else ""
    fallback = account.agent.language if account.agent is not None else settings.LANGUAGE_CODE
    return spoken or people.language_of_code(contact.language) or fallback


def note_presence(contact: ChannelContact, *, is_here: bool) -> None:
    """Note that somebody blocked the bot, or came back."""
    left_at = None if is_here else contact.left_at or timezone.now()
    if contact.left_at != left_at:
        contact.left_at = left_at
        contact.save(update_fields=["left_at"])


def _locked(sender: Sender, account: ChannelAccount) -> ChannelContact | None:
    return (
        ChannelContact.objects.select_for_update(of=("self",))
        .select_related("person")
        .filter(account=account, external_id=sender.external_id)
        .first()
    )


def _rename(contact: ChannelContact, sender: Sender) -> None:
    """Keep the names that Telegram shows now; the person's own stay as somebody wrote them."""
    given = {"username": sender.username, "display_name": sender.name, "language": sender.language}
    changed = [name for name, value in given.items() if getattr(contact, name) != value]
    if changed:
        for name in changed:
            setattr(contact, name, given[name])
        contact.save(update_fields=changed)
