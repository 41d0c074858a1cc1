"""Conversations: found by their route, made at the first message."""

from django.db import transaction
from django.db.models import QuerySet

from agents.models import Agent, Person, Team
from sessions.models import ChannelAccount, ChatSession, Generation


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


def of_person(person: Person) -> QuerySet[ChatSession]:
    """Return a person's own direct conversations, the newest first."""
    return ChatSession.objects.filter(
        person=person, kind=ChatSession.Kind.DIRECT, archived_at=None
    ).select_related("agent", "account")
