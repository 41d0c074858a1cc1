"""A person, their scope and an index, and a quick way to say something."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from agents.core.viewer import Viewer
from agents.models import Agent, Person
from memory.index import legs, postings, scopes, terms, vectors, writing
from memory.index.legs import Row
from memory.index.writing import Text
from memory.models import Origin, Passage, scope_of
from tests import factories

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass
class Corner:
    """One person with one agent, in private."""

    agent: Agent
    person: Person
    said: int = field(default=0)

    @property
    def viewer(self) -> Viewer:
        return Viewer(self.agent.team_id, self.agent.pk, self.person.pk, is_private=True)

    @property
    def home(self) -> dict[str, object]:
        return scope_of(self.viewer)

    def say(self, *said: str, thread: str = "session:1/1", name: str = "") -> str:
        """Write and index passages of one source; return it."""
        self.said += 1
        source = f"turn:{self.said}"
        writing.add(
            [
                Text(text, NOON + timedelta(minutes=self.said), Origin.PERSON, None, name)
                for text in said
            ],
            home=self.home,
            kind=Passage.Kind.EXCHANGE,
            source=source,
            thread=thread,
        )
        self.settle()
        return source

    def settle(self) -> None:
        while postings.index_waiting():
            pass

    def embed(self) -> None:
        while vectors.embed_waiting().done:
            pass

    def candidates(self, query: str) -> dict[int, Row]:
        """Return the passages that the words of a query bring."""
        visible = scopes.visible(self.viewer)
        found = legs.keyword(visible, terms.of_query(query))
        return legs.passages(visible, [scores.id for scores in found])

    def exact(self, query: str) -> set[str]:
        """Return the texts that count as containing the query."""
        visible = scopes.visible(self.viewer)
        found = legs.keyword(visible, terms.of_query(query))
        rows = legs.passages(visible, [scores.id for scores in found if scores.is_exact])
        return {row.text for row in rows.values()}


@pytest.fixture
def corner(db: None) -> Corner:
    person = factories.person(display_name="Bobur")
    return Corner(factories.agent(team=person.team), person)
