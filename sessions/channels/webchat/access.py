"""What a logged-in user may reach in the web chat: their own, in their own teams."""

from importlib import import_module
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.db.models import Exists, F, OuterRef, QuerySet
from django.http import HttpRequest

from agents.models import Agent, User
from agents.services import people
from sessions.models import ChannelAccount, ChatSession, Turn


def user_of(session_key: str) -> User | None:
    """Return the active user of a login session; None once they logged out or were locked out.

    A socket outlives a logout, so it asks again and again. Django's own check also sees a
    changed password.
    """
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) else None


def agents_of(user: User) -> QuerySet[Agent]:
    """Return the agents that a user may talk to, team by team."""
    return (
        Agent.objects.filter(team__in=people.teams_of(user), archived_at=None)
        .select_related("team")
        .order_by("team__name", "team_id", "name", "id")
    )


def agent(user: User, public_id: UUID) -> Agent | None:
    """Return an agent that the user may talk to; None for any other."""
    return agents_of(user).filter(public_id=public_id).first()


def conversations_of(user: User) -> QuerySet[ChatSession]:
    """Return a user's own web conversations, newest first, each with ``is_running``."""
    running = Turn.objects.unfinished().filter(session=OuterRef("pk"))
    return (
        ChatSession.objects.filter(
            person__user=user,
            kind=ChatSession.Kind.DIRECT,
            account__channel=ChannelAccount.Channel.WEBCHAT,
            archived_at=None,
            team__in=people.teams_of(user),
        )
        .select_related("agent", "account", "person")
        .annotate(is_running=Exists(running))
        .order_by(F("last_interaction_at").desc(nulls_last=True), "-id")
    )


def conversation(user: User, public_id: UUID) -> ChatSession | None:
    """Return one of the user's own conversations; None for any other."""
    return conversations_of(user).filter(public_id=public_id).first()


def turn(user: User, public_id: UUID) -> Turn | None:
    """Return a turn of one of the user's own conversations; None for any other."""
    return (
        Turn.objects.select_related("session")
        .filter(public_id=public_id, session__in=conversations_of(user).order_by().values("pk"))
        .first()
    )
