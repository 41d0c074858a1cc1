"""Buttons under messages: made for one person, and pressed by them alone."""

import structlog
from django.utils import timezone

from agents.models import Person
from sessions import commands, outbox
from sessions.channels.telegram import admitting, buttons, places, who
from sessions.channels.telegram.places import Place
from sessions.channels.telegram.updates import CallbackQuery, GenerationStopped, Message
from sessions.commands import Choice, Reply
from sessions.models import ChannelAccount, ChatSession, Turn
from sessions.outbox import Button
from sessions.turns import stopping

_log = structlog.get_logger(__name__)


def press(query: CallbackQuery, update_id: int, account: ChannelAccount) -> None:
    """Do what a button says, if it was made for whoever pressed it; otherwise nothing."""
    if query.message is None or query.from_user.is_bot:
        return
    contact = who.contact_of(who.of_user(query.from_user), account)
    if who.standing_of(contact) != "allowed":
        return
    person = who.person_of(contact)
    pressed = buttons.verify(query.data, account=account, person_id=person.pk)
    if pressed is None:
        _log.warning("button.refused", account=account.pk, person=person.pk)
        return
    if pressed.action == buttons.STOP:
        _stop(pressed.subject, str(query.message.chat.id), account)
    elif pressed.action == buttons.COMMAND:
        place = places.of_chat(query.message.chat, query.message.topic)
        key = f"{account.pk}:{update_id}"
        session = places.found(place, account)
        invocation = commands.find(f"/{pressed.subject}", channel=account.channel)
        if session is None or invocation is None:
            return
        # What is said again and again would stand before the answers of the chat.
        if not admitting.is_slow_enough(contact, place, timezone.now(), key=key):
            return
        reply = commands.run(
            invocation,
            session=session,
            person=person,
            account=account,
            language=who.language_of(contact, account),
        )
        say(reply, place, session, person, key=key)


def stop_generation(stopped: GenerationStopped, account: ChannelAccount) -> None:
    """Stop the answer whose draft a person stopped with Telegram's own button.

    Drafts have their turn's number and exist in private chats only.
    """
    session = places.found(places.of_chat(stopped.chat), account)
    if session is None or session.kind != ChatSession.Kind.DIRECT:
        return
    for turn in Turn.objects.unfinished().filter(session=session, pk=stopped.draft_id):
        stopping.request(turn)


def say(
    reply: Reply,
    place: Place,
    session: ChatSession,
    person: Person,
    *,
    key: str,
    message: Message | None = None,
) -> None:
    """Send what a command says; its choices become buttons for this person.

    Args:
        message: The command itself; in a group it is replied to.
    """
    is_reply = message is not None and not place.is_private
    outbox.queue_notice(
        session.account,
        place.peer,
        reply.text,
        key=f"command:{key}",
        thread=place.thread,
        reply_to=str(message.message_id) if message is not None and is_reply else "",
        buttons=_keyboard(reply, session.account, person),
        session=session,
    )


def _stop(subject: str, peer: str, account: ChannelAccount) -> None:
    turns = Turn.objects.filter(session__account=account, session__peer=peer)
    # Signed by us, so it is a number.
    turn = turns.filter(pk=int(subject)).first()
    if turn is not None:
        stopping.request(turn)


def _keyboard(reply: Reply, account: ChannelAccount, person: Person) -> list[list[Button]]:
    rows = [
        [
            Button(choice.label, _data(choice, account, person))
            for choice in row
            if buttons.fits(buttons.COMMAND, _subject(choice))
        ]
        for row in reply.choices
    ]
    return [row for row in rows if row]


def _data(choice: Choice, account: ChannelAccount, person: Person) -> str:
    return buttons.sign(buttons.COMMAND, _subject(choice), account=account, person_id=person.pk)


def _subject(choice: Choice) -> str:
    return f"{choice.command} {choice.argument}".strip()
