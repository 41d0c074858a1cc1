"""Where a message stands: a private chat, a group, one of its topics, or a channel.

A conversation's peer is Telegram's number of the chat and its thread that of the topic, so an
answer finds its way from the conversation's row alone.
"""

from dataclasses import dataclass

import structlog
from django.db import transaction
from django.db.models import Q

from agents.models import Agent, Person
from agents.models import Chat as ChatRow
from sessions import conversations, marks, overheard
from sessions.channels.telegram.updates import Chat, Message
from sessions.models import ChannelAccount, ChatSession, InboundMessage, Outgoing, Turn

_log = structlog.get_logger(__name__)

TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Place:
    """One conversation's place.

    Args:
        thread: Empty for a private chat, a group without topics and the general one.
    """

    peer: str
    thread: str
    title: str
    is_private: bool


def place_of(message: Message) -> Place:
    """Return where a message stands."""
    return of_chat(message.chat, message.topic)


def of_chat(chat: Chat, topic: str = "") -> Place:
    """Return the place of a chat, or of one of its topics."""
    return Place(str(chat.id), topic, marks.clean_name(chat.name), chat.type == "private")


def found(place: Place, account: ChannelAccount) -> ChatSession | None:
    """Return the conversation that a place has already."""
    if account.agent_id is None:
        return None
    return (
        ChatSession.objects.select_related("agent", "account", "person")
        .filter(
            agent_id=account.agent_id,
            account=account,
            kind=_kind(place),
            peer=place.peer,
            thread=place.thread,
        )
        .first()
    )


def opened(
    place: Place, account: ChannelAccount, agent: Agent, person: Person | None
) -> ChatSession:
    """Return a place's conversation, made if it is new."""
    if place.is_private and person is not None:
        return conversations.open_private(
            agent=agent, account=account, person=person, peer=place.peer
        )
    group = group_of(place, account)
    if place.thread:
        topic_of(place, group)
    return conversations.open_group(agent=agent, account=account, chat=group, thread=place.thread)


def group_of(place: Place, account: ChannelAccount) -> ChatRow:
    """Return the row of a group, whose memory all its topics share; its title is kept current."""
    group, _ = ChatRow.objects.get_or_create(
        team_id=account.team_id,
        channel=account.channel,
        external_id=place.peer,
        defaults={"title": place.title},
    )
    if place.title and (group.title != place.title or group.archived_at is not None):
        group.title, group.archived_at = place.title, None
        group.save(update_fields=["title", "archived_at"])
    return group


def topic_of(place: Place, group: ChatRow) -> ChatRow:
    """Return the row of a group's topic; the group's own outside of topics."""
    if not place.thread:
        return group
    topic, _ = ChatRow.objects.get_or_create(
        team_id=group.team_id,
        channel=group.channel,
        external_id=overheard.topic_id(place.peer, place.thread),
        defaults={"parent": group},
    )
    return topic


@transaction.atomic
def move(old: str, new: str, account: ChannelAccount) -> None:
    """Follow a group that became a supergroup, and so got another number; again is harmless.

    Both chats tell of it, in any order, and so does Telegram where something is sent to the old
    one. What was begun in the new one meanwhile stays there. Messages have other numbers there, so
    nothing that is still to come replies to one of the old chat or goes on in it.
    """
    chats = ChatRow.objects.filter(team_id=account.team_id, channel=account.channel)
    if not chats.filter(external_id=new).exists():
        chats.filter(external_id=old).update(external_id=new)
    sessions = ChatSession.objects.filter(account=account, kind=ChatSession.Kind.GROUP)
    if not sessions.filter(peer=new, thread="").exists():
        sessions.filter(peer=old, thread="").update(peer=new)
    unsent = [Outgoing.State.QUEUED, Outgoing.State.SENDING]
    rows = Outgoing.objects.filter(account=account, peer=old, state__in=unsent)
    turns = Turn.objects.filter(session__account=account, session__peer__in=(old, new))
    is_unfinished = Q(state__in=(Turn.State.QUEUED, Turn.State.RUNNING))
    coming = turns.filter(is_unfinished | Q(pk__in=rows.values("turn_id")))
    ids = list(coming.values_list("pk", flat=True))
    asked = InboundMessage.objects.filter(turn__in=ids, external_id__startswith=f"{old}:")
    asked.update(channel_message_id="")
    Turn.objects.filter(pk__in=ids).update(shown_in="")
    rows.update(peer=new, reply_to="")
    _log.info("chat.moved", account=account.pk, old=old, new=new)


def _kind(place: Place) -> ChatSession.Kind:
    return ChatSession.Kind.DIRECT if place.is_private else ChatSession.Kind.GROUP
