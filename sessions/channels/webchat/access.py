"""What a logged-in user may reach in the web chat: their own, in their own teams."""

from importlib import import_module
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user
from django.db.models import Exists, F, OuterRef, QuerySet
from django.http import HttpRequest

from agents import sql
from agents.models import Agent, ChainLink, Membership, Person, User
from agents.services import people
from agents.services.access import EDITORS
from agents.sql import Columns
from sessions.models import ChannelAccount, ChatSession, InboundMessage, Turn

# `conversations_of`, by hand: every message and every look at a turn asks for one.
_SESSION = Columns(ChatSession, "s")
_AGENT = Columns(Agent, "a")
_ACCOUNT = Columns(ChannelAccount, "c")
_PERSON = Columns(Person, "p")
_OWN_WHERE = f"""
    SELECT {_SESSION.text}, {_AGENT.text}, {_ACCOUNT.text}, {_PERSON.text},
        EXISTS (SELECT 1 FROM bot_sessions_turn t
            WHERE t.session_id = s.id AND t.state IN ('queued', 'running'))
    FROM bot_sessions_chatsession s
    JOIN agents_agent a ON a.id = s.agent_id
    JOIN bot_sessions_channelaccount c ON c.id = s.account_id AND c.channel = 'webchat'
    JOIN agents_person p ON p.id = s.person_id
    JOIN agents_team m ON m.id = s.team_id AND m.archived_at IS NULL
    WHERE s.kind = 'direct' AND p.user_id = %s AND (%s OR EXISTS (
        SELECT 1 FROM agents_membership b WHERE b.team_id = s.team_id AND b.user_id = %s))
        AND s."""  # noqa: S608 — constants only
_CONVERSATION = f"{_OWN_WHERE}public_id = %s"
_CONVERSATION_OF_TURN = f"{_OWN_WHERE}id = %s"


def user_of(session_key: str) -> User | None:
    """Return the active user of a login session; None once they logged out or were locked out.

    A socket outlives a logout, so it asks again and again. Django's own check also sees a
    changed password.
    """
    request = HttpRequest()
    session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    # After the secret key was replaced, a page gives the browser another one; a socket cannot.
    session.keeps_key = True
    request.session = session
    user = get_user(request)
    return user if isinstance(user, User) else None


def agents_of(user: User) -> QuerySet[Agent]:
    """Return the agents that a user may talk to, team by team, each with ``has_model``."""
    links = ChainLink.objects.filter(agent=OuterRef("pk"))
    return (
        Agent.objects.filter(team__in=people.teams_of(user), archived_at=None)
        .select_related("team")
        .annotate(has_model=Exists(links))
        .order_by("team__name", "team_id", "name", "id")
    )


def edited_teams(user: User) -> set[int]:
    """Return the teams whose models a user may connect."""
    teams = people.teams_of(user)
    if not user.is_superuser:
        editors = Membership.objects.filter(user=user, role__in=EDITORS)
        teams = teams.filter(pk__in=editors.values("team"))
    return set(teams.values_list("pk", flat=True))


def agent(user: User, public_id: UUID) -> Agent | None:
    """Return an agent that the user may talk to; None for any other."""
    return agents_of(user).filter(public_id=public_id).first()


def conversations_of(user: User) -> QuerySet[ChatSession]:
    """Return a user's own web conversations, newest first, each with ``is_running``.

    Archived ones are among them: they are put away, not gone.
    """
    running = Turn.objects.unfinished().filter(session=OuterRef("pk"))
    return (
        ChatSession.objects.filter(
            person__user=user,
            kind=ChatSession.Kind.DIRECT,
            account__channel=ChannelAccount.Channel.WEBCHAT,
            team__in=people.teams_of(user),
        )
        .select_related("agent", "account", "person")
        .annotate(is_running=Exists(running))
        .order_by(F("last_interaction_at").desc(nulls_last=True), "-id")
    )


def own_sessions(user: User) -> QuerySet[ChatSession]:
    """Return a user's own conversations on any channel, as far as they are in the team still."""
    return ChatSession.objects.filter(
        person__user=user, kind=ChatSession.Kind.DIRECT, team__in=people.teams_of(user)
    )


def conversation(user: User, public_id: UUID) -> ChatSession | None:
    """Return one of the user's own conversations, with ``is_running``; None for any other."""
    return _conversation(_CONVERSATION, public_id, user)


def turn(user: User, public_id: UUID) -> Turn | None:
    """Return a turn of one of the user's own conversations; None for any other."""
    found = Turn.objects.filter(public_id=public_id).first()
    if found is None:
        return None
    session = _conversation(_CONVERSATION_OF_TURN, found.session_id, user)
    if session is None:
        return None
    found.session = session
    return found


def message(user: User, public_id: UUID) -> tuple[InboundMessage, ChatSession] | None:
    """Return a message in one of the user's own conversations; None for any other."""
    found = InboundMessage.objects.select_related("turn").filter(public_id=public_id).first()
    if found is None:
        return None
    session = _conversation(_CONVERSATION_OF_TURN, found.session_id, user)
    return (found, session) if session is not None else None


def _conversation(statement: str, key: object, user: User) -> ChatSession | None:
    rows = sql.fetch(statement, [user.pk, user.is_superuser, user.pk, key])
    if not rows:
        return None
    session, rest = _SESSION.take(rows[0])
    agent, rest = _AGENT.take(rest)
    account, rest = _ACCOUNT.take(rest)
    person, (is_running,) = _PERSON.take(rest)
    if session is None or agent is None or account is None:
        raise AssertionError("inner joins find their rows")
    session.agent, session.account, session.person = agent, account, person
    # As the annotation of `conversations_of` gives it.
    vars(session)["is_running"] = is_running
    return session
