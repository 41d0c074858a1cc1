"""Rows that the tests of the REST channel need."""

import uuid
from dataclasses import dataclass

from django.utils import timezone

from agents.core.messages import AssistantMessage, Reply, TextBlock, Usage, dump_reply
from agents.models import Agent, ApiToken, Person, Team, UsageRecord
from agents.services import tokens
from sessions.models import ChatSession, Content, TranscriptEntry, Turn


@dataclass(frozen=True, slots=True)
class Client:
    """A program with a token: who it acts for, and what it sends."""

    team: Team
    agent: Agent
    person: Person
    token: ApiToken
    headers: dict[str, str]


def make_client(name: str = "Sardor", team: Team | None = None) -> Client:
    """Make a person with a token, in a team of their own unless one is given."""
    team = team or Team.objects.create(name=name, slug=f"team-{uuid.uuid4().hex[:8]}")
    agent = team.agents.first() or Agent.objects.create(team=team, name="Bot", slug="bot")
    person = Person.objects.create(team=team, display_name=name)
    token, secret = tokens.issue(
        team=team, person=person, name="test", scopes=[ApiToken.Scope.CHAT]
    )
    return Client(team, agent, person, token, {"Authorization": f"Bearer {secret}"})


def start(turn_id: str) -> Turn:
    """Let a turn look as one that a worker runs."""
    Turn.objects.filter(public_id=turn_id).update(
        state=Turn.State.RUNNING, attempt=1, claimed_at=timezone.now()
    )
    return Turn.objects.select_related("session", "generation").get(public_id=turn_id)


def end(
    turn: Turn,
    *texts: str,
    state: str = Turn.State.ANSWERED,
    notice: dict[str, object] | None = None,
    is_partial: bool = False,
) -> None:
    """End a turn as a worker does: transcript, usage, state."""
    now = timezone.now()
    for message in turn.messages.select_related("content"):
        _entry(turn, TranscriptEntry.Role.USER, message.content, message=message)
    for text in texts:
        reply = Reply(AssistantMessage((TextBlock(text),)), "end", Usage(), "fake-1")
        content = Content.objects.create(team_id=turn.session.team_id, text=dump_reply(reply))
        _entry(turn, TranscriptEntry.Role.ASSISTANT, content, is_partial=is_partial)
    UsageRecord.objects.create(
        origin=turn.ref,
        team_id=turn.session.team_id,
        model="fake-1",
        input_tokens=10,
        output_tokens=5,
        cost_usd="0.00012",
    )
    Turn.objects.filter(pk=turn.pk).update(state=state, notice=notice, committed_at=now)
    ChatSession.objects.filter(pk=turn.session_id).update(lease_token=None)


def _entry(turn: Turn, role: str, content: Content, **columns: object) -> None:
    TranscriptEntry.objects.create(
        generation=turn.generation,
        turn=turn,
        role=role,
        content=content,
        created_at=timezone.now(),
        **columns,
    )
