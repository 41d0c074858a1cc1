"""An agent that is thrown away, and what it is told: stored and indexed as everything is."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from agents.core.viewer import Viewer
from agents.models import Agent, Chat, Person, Team
from memory.index import postings, vectors, writing
from memory.index.writing import Text
from memory.models import Passage, scope_of
from qanot_site.bench import report

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the agent is told.

    Args:
        id: Found by: the source of its passage.
        thread: What stands together in order.
        speaker: Empty for a noted fact, which says itself whom it is about.
    """

    id: str
    text: str
    thread: str
    at: datetime
    speaker: str = ""


class Scratch:
    """A team with one agent."""

    def __init__(self) -> None:
        self._team = Team.objects.create(name="Evaluation", slug="evaluation")
        self._agent = Agent.objects.create(team=self._team, name="Qanot", slug="qanot")

    def group(self) -> Viewer:
        """Make a group chat with the agent, and return who reads along."""
        chat = Chat.objects.create(
            team=self._team, channel="evaluation", external_id=str(next(_numbers))
        )
        return Viewer(self._team.pk, self._agent.pk, chat_id=chat.pk)

    def person(self) -> Viewer:
        """Make a person who talks with the agent in private."""
        person = Person.objects.create(team=self._team, display_name="")
        return Viewer(self._team.pk, self._agent.pk, person_id=person.pk, is_private=True)

    def tell(self, viewer: Viewer, said: Iterable[Said], kind: Passage.Kind) -> None:
        """Store what is said, each thing as one passage."""
        speakers: dict[str, int] = {}
        for one in said:
            if one.speaker and one.speaker not in speakers:
                person = Person.objects.create(team=self._team, display_name=one.speaker)
                speakers[one.speaker] = person.pk
            writing.add(
                [
                    Text(
                        text=one.text,
                        occurred_at=one.at,
                        author_id=speakers.get(one.speaker),
                        author_name=one.speaker,
                    )
                ],
                home=scope_of(viewer),
                kind=kind,
                source=one.id,
                thread=one.thread,
                step=1 if kind == Passage.Kind.EXCHANGE else writing.APART,
            )


def index_all(what: str) -> None:
    """Index everything that waits, and show how far it is.

    Raises:
        ValueError: A text got no vector.
    """
    while postings.index_waiting():
        pass
    waiting = Passage.objects.filter(wants_vector=True).count()
    with report.bar(f"Embedding {what}", waiting) as count:
        while (step := vectors.embed_waiting()).done or step.failed:
            if step.failed:
                raise ValueError("the built-in embedding model does not work on this machine")
            for _ in range(step.done):
                count()
