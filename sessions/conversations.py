"""Conversations: found by their route, made at the first message."""

import unicodedata
from collections.abc import Iterable
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, Chat, Person, Team
from memory.detector import mask_secrets, straighten
from memory.files import one_line
from sessions.errors import EmptyTitle
from sessions.models import ChannelAccount, ChatSession, Generation

TITLE_CHARACTERS: Final = 200


def channel_account(team: Team, channel: ChannelAccount.Channel) -> ChannelAccount:
    """Return the team's own door on a channel, made at the first look."""
    account, _ = ChannelAccount.objects.get_or_create(team=team, channel=channel, name="default")
    return account


@transaction.atomic
def open_direct(
    *, agent: Agent, account: ChannelAccount, person: Person, thread: str
) -> ChatSession:
    """Return one person's conversation with an agent; made, with its first generation, if new.

    Args:
        thread: Tells the person's conversations with this agent apart; any short text.
    """
    session, is_new = ChatSession.objects.select_related("agent", "account").get_or_create(
        agent=agent,
        account=account,
        kind=ChatSession.Kind.DIRECT,
        peer=str(person.public_id),
        thread=thread,
        defaults={"team_id": agent.team_id, "person": person},
    )
    if is_new:
        Generation.objects.create(session=session)
    return session


@transaction.atomic
def open_private(
    *, agent: Agent, account: ChannelAccount, person: Person, peer: str
) -> ChatSession:
    """Return a person's one conversation with a bot; made, with its first generation, if new.

    A person who was found to be another one keeps the conversation under the new name.

    Args:
        peer: The private chat on the channel.
    """
    session = _open(
        agent=agent, account=account, kind=ChatSession.Kind.DIRECT, peer=peer, person=person
    )
    if session.person_id != person.pk:
        session.person = person
        session.save(update_fields=["person"])
    return session


def open_group(
    *, agent: Agent, account: ChannelAccount, chat: Chat, thread: str = ""
) -> ChatSession:
    """Return a group's conversation with a bot; made, with its first generation, if new.

    Args:
        chat: The group itself: its topics share its memory.
        thread: The topic; empty for a group without topics and for the general one.
    """
    return _open(
        agent=agent,
        account=account,
        kind=ChatSession.Kind.GROUP,
        peer=chat.external_id,
        thread=thread,
        chat=chat,
    )


def _open(
    *,
    agent: Agent,
    account: ChannelAccount,
    kind: ChatSession.Kind,
    peer: str,
    thread: str = "",
    person: Person | None = None,
    chat: Chat | None = None,
) -> ChatSession:
    route = {"agent": agent, "account": account, "kind": kind, "peer": peer, "thread": thread}
    session = ChatSession.objects.filter(**route).first()
    if session is None:
        with transaction.atomic():
            session, is_new = ChatSession.objects.get_or_create(
                **route,
                defaults={
                    "team_id": agent.team_id,
                    "person": person,
                    "chat": chat,
                    "title": chat.title if chat is not None else "",
                },
            )
            if is_new:
                Generation.objects.create(session=session)
    # Loaded already; nobody has to ask for them again.
    session.agent, session.account = agent, account
    return session


def of_person(person: Person) -> QuerySet[ChatSession]:
    """Return a person's own direct conversations, archived ones too, the newest first."""
    own = ChatSession.objects.filter(person=person, kind=ChatSession.Kind.DIRECT)
    return own.select_related("agent", "account")


def rename(session: ChatSession, title: str) -> None:
    """Give a conversation a title of its person's own, on one line, secrets masked.

    Raises:
        EmptyTitle: There is nothing but white space.
    """
    clean = mask_secrets(one_line(title))[:TITLE_CHARACTERS].strip()
    if not clean:
        raise EmptyTitle("nothing was said")
    session.title = clean
    session.save(update_fields=["title"])


def archive(session: ChatSession) -> None:
    """Put a conversation away; a new message brings it back."""
    if session.archived_at is None:
        session.archived_at = timezone.now()
        session.save(update_fields=["archived_at"])


def bring_back(session: ChatSession) -> None:
    """List an archived conversation with the others again."""
    session.archived_at = None
    session.save(update_fields=["archived_at"])


def with_title(sessions: QuerySet[ChatSession], query: str, *, limit: int) -> list[ChatSession]:
    """Return the conversations whose titles hold every word of a query, in their order.

    Case, accents and the kind of apostrophe do not matter. Titles are compared here: how a
    database folds letters depends on the locale with which it was made.
    """
    words = _folded(query).split()
    if not words:
        return []
    ids = [pk for pk, title in sessions.values_list("pk", "title") if _holds(title, words)][:limit]
    found = sessions.in_bulk(ids)
    return [found[pk] for pk in ids]


def _holds(title: str, words: Iterable[str]) -> bool:
    folded = _folded(title)
    return all(word in folded for word in words)


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKD", straighten(text).casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
