"""An agent's proposals: kept once a turn, decided once by a person."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from agents.models import Agent, AgentDocument, AgentDocumentVersion, DocumentProposal
from agents.services import documents, proposals
from tests import factories

State = DocumentProposal.State


def propose(
    agent: Agent,
    text: str = "Name: Bee",
    *,
    name: str = "IDENTITY.md",
    reason: str = "A new name",
    source: str = "turn:81",
) -> DocumentProposal:
    return proposals.propose(agent_id=agent.pk, name=name, text=text, reason=reason, source=source)


@pytest.mark.django_db
def test_a_repeated_call_leaves_one_proposal_with_the_last_text() -> None:
    agent = factories.agent()
    first = propose(agent)
    again = propose(agent, "Name: Bumble")
    assert first.pk == again.pk
    kept = DocumentProposal.objects.get()
    assert (kept.text, kept.base_version, kept.state) == ("Name: Bumble", 0, State.OPEN)


@pytest.mark.django_db
def test_a_decided_proposal_is_not_written_over() -> None:
    agent = factories.agent()
    proposals.refuse(propose(agent), user=factories.user())
    assert propose(agent, "Name: Bumble").text == "Name: Bee"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("USER.md", "x"),
        ("../etc/passwd", "x"),
        ("SOUL.md\n", "x"),
        ("SOUL.md", " \n"),
        ("SOUL.md", "x" * (proposals.MOST_CHARACTERS + 1)),
    ],
)
def test_what_cannot_be_proposed(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"document|person|text"):
        propose(factories.agent(), text, name=name)
    assert not DocumentProposal.objects.exists()


@pytest.mark.django_db
def test_what_the_database_cannot_hold_is_left_out() -> None:
    made = propose(factories.agent(), "a\x00b\ud800", reason="why\x00\nso")
    made.refresh_from_db()
    assert (made.text, made.reason) == ("ab?", "why so")


@pytest.mark.django_db
def test_accepting_makes_a_version_of_who_accepted() -> None:
    agent, user = factories.agent(), factories.user()
    made = propose(agent)
    assert proposals.accept(made, user=user) == "done"
    document = AgentDocument.objects.get(agent=agent, name="IDENTITY.md")
    version = document.versions.get()
    assert (document.text, version.author) == ("Name: Bee", user)
    assert version.reason == "Proposal accepted: A new name"
    made.refresh_from_db()
    assert (made.state, made.decided_by) == (State.ACCEPTED, user)
    assert made.decided_at is not None


@pytest.mark.django_db
def test_refusing_leaves_the_document_alone() -> None:
    agent = factories.agent()
    made = propose(agent)
    assert proposals.refuse(made, user=factories.user()) == "done"
    assert proposals.accept(made, user=factories.user()) == "decided_before"
    assert not AgentDocument.objects.exists()


@pytest.mark.django_db
def test_a_document_that_changed_meanwhile_is_not_written_over() -> None:
    agent = factories.agent()
    document = factories.agent_document(agent=agent, name="IDENTITY.md")
    documents.save(document, text="Name: Ant", author=None, reason="")
    made = propose(agent)
    assert made.base_version == 1
    documents.save(document, text="Name: Wasp", author=None, reason="")
    user = factories.user()
    assert proposals.accept(made, user=user, seen_version=1) == "document_changed"
    made.refresh_from_db()
    assert made.state == State.OPEN
    assert proposals.accept(made, user=user, seen_version=2) == "done"


@pytest.mark.django_db(transaction=True)
def test_of_two_editors_at_once_one_decides() -> None:
    made = propose(factories.agent())
    one, other = factories.user(), factories.user()
    together = Barrier(2, timeout=10)

    def decide(act: Callable[[], str]) -> str:
        try:
            together.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        told = threads.map(
            decide,
            [
                lambda: proposals.accept(made, user=one),
                lambda: proposals.accept(made, user=other),
            ],
        )
        assert sorted(told) == ["decided_before", "done"]
    assert AgentDocumentVersion.objects.count() == 1
