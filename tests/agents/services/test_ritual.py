"""BOOTSTRAP.md is followed by one conversation, once, and not for ever."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, transaction

from agents.models import Agent, AgentDocument, BootstrapRitual
from agents.services import persona, ritual
from tests import factories
from tests.factories import NOON


@pytest.fixture
def agent(db: None) -> Agent:
    made = factories.agent()
    factories.agent_document(agent=made, name="BOOTSTRAP.md", text="Ask their name.")
    return made


def follows(agent: Agent, session: str, *, days: int = 0) -> bool:
    """Ask as the turn of a conversation would."""
    row = BootstrapRitual.objects.filter(agent=agent).first()
    person_id = row.person_id if row else factories.person(team=agent.team).pk
    at = NOON + timedelta(days=days)
    return ritual.follow(agent.pk, session=session, person_id=person_id or 0, now=at)


def is_archived(agent: Agent) -> bool:
    return AgentDocument.objects.get(agent=agent, name="BOOTSTRAP.md").archived_at is not None


def test_first_conversation_has_it_and_no_other(agent: Agent) -> None:
    assert follows(agent, "session:1")
    assert not follows(agent, "session:2")
    assert follows(agent, "session:1")
    row = BootstrapRitual.objects.get(agent=agent)
    assert (row.session, row.turns, row.started_at) == ("session:1", 2, NOON)
    assert not is_archived(agent)


def test_after_ten_turns_the_document_is_archived(agent: Agent) -> None:
    assert [follows(agent, "session:1") for _ in range(11)] == [True] * 10 + [False]
    assert is_archived(agent)
    assert BootstrapRitual.objects.get(agent=agent).turns == 10


def test_conversation_that_was_left_alone_for_a_week_does_not_hold_it_for_ever(
    agent: Agent,
) -> None:
    follows(agent, "session:1")
    assert not follows(agent, "session:2", days=6)
    assert not is_archived(agent)
    assert not follows(agent, "session:2", days=8)
    assert is_archived(agent)


def test_only_its_own_conversation_finishes_it_and_may_do_so_twice(agent: Agent) -> None:
    assert not ritual.finish(agent.pk, session="session:1")
    follows(agent, "session:1")
    assert not ritual.finish(agent.pk, session="session:2")
    assert not is_archived(agent)
    assert ritual.finish(agent.pk, session="session:1")
    first = AgentDocument.objects.get(agent=agent, name="BOOTSTRAP.md").archived_at
    assert ritual.finish(agent.pk, session="session:1")
    assert AgentDocument.objects.get(agent=agent, name="BOOTSTRAP.md").archived_at == first


def test_no_prompt_shows_an_archived_document(agent: Agent) -> None:
    factories.agent_document(agent=agent, name="SOUL.md", text="Be kind.")
    assert {s.name for s in persona.documents(agent.pk, person_id=None)} == {
        "SOUL.md",
        "BOOTSTRAP.md",
    }
    follows(agent, "session:1")
    ritual.finish(agent.pk, session="session:1")
    assert [s.name for s in persona.documents(agent.pk, person_id=None)] == ["SOUL.md"]


@pytest.mark.django_db(transaction=True)
def test_of_two_conversations_that_begin_at_once_one_has_it() -> None:
    agent = factories.agent()
    person = factories.person(team=agent.team)
    has_begun, waits = threading.Event(), threading.Event()
    said: dict[str, bool] = {}

    def in_own_transaction(session: str, before_commit: Callable[[], None]) -> None:
        try:
            with transaction.atomic():
                said[session] = ritual.follow(
                    agent.pk, session=session, person_id=person.pk, now=NOON
                )
                before_commit()
        finally:
            connection.close()

    def hold() -> None:
        has_begun.set()
        assert waits.wait(30)

    first = threading.Thread(target=in_own_transaction, args=("session:1", hold))
    second = threading.Thread(target=in_own_transaction, args=("session:2", lambda: None))
    first.start()
    assert has_begun.wait(30)
    # The second sees no row yet, and its insert waits for the first one's commit.
    second.start()
    waits.set()
    first.join()
    second.join()
    assert said == {"session:1": True, "session:2": False}
    assert BootstrapRitual.objects.get().session == "session:1"
