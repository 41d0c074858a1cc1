"""Two people and a group around one agent."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from agents.core.viewer import Viewer
from agents.models import Agent, Team
from memory.index import postings
from memory.search import Found, search
from tests import factories


@dataclass(frozen=True, slots=True)
class Scene:
    """Viewers of one agent, as sessions would make them."""

    team: Team
    agent: Agent
    anna: Viewer
    bobur: Viewer
    group: Viewer
    unknown: Viewer
    other_agent: Viewer
    other_team: Viewer


@pytest.fixture
def noon() -> datetime:
    return datetime(2025, 1, 15, 12, 0, tzinfo=UTC)


def look(query: str, viewer: Viewer, now: datetime) -> list[Found]:
    """Search when everything is indexed by its words."""
    while postings.index_waiting():
        pass
    return search(viewer, query, now=now).found


def make_scene() -> Scene:
    """Make the scene; for tests that end their own transactions."""
    team = factories.team()
    agent, second = factories.agent(team=team), factories.agent(team=team)
    anna, bobur = factories.person(team=team), factories.person(team=team)
    chat = factories.chat(team=team)
    theirs = factories.agent()
    stranger = factories.person(team=theirs.team)
    return Scene(
        team=team,
        agent=agent,
        anna=Viewer(team.pk, agent.pk, person_id=anna.pk, is_private=True),
        bobur=Viewer(team.pk, agent.pk, person_id=bobur.pk, is_private=True),
        group=Viewer(team.pk, agent.pk, person_id=anna.pk, chat_id=chat.pk),
        unknown=Viewer(team.pk, agent.pk, is_private=True),
        other_agent=Viewer(team.pk, second.pk, person_id=anna.pk, is_private=True),
        other_team=Viewer(theirs.team_id, theirs.pk, person_id=stranger.pk, is_private=True),
    )


@pytest.fixture
def scene(db: None) -> Scene:
    return make_scene()
