"""Versions of memory documents, their length, and proposals for them."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.core.tokens import estimate
from agents.db import in_db
from memory import consolidating, documents, files, notes, proposals
from memory.errors import DocumentChanged, DocumentTooLong
from memory.models import MemoryDocument, MemoryProposal, Passage, scope_of
from tests import factories

from .conftest import Scene, make_scene

AT = datetime(2025, 1, 15, 12, tzinfo=UTC)


def test_case_memory_capture_6_the_result_is_measured_and_not_the_sum(scene: Scene) -> None:
    eighty, ninety = "word " * 63, "wort " * 71
    assert (estimate(eighty), estimate(ninety)) == (79, 89)
    document = documents.save(scope_of(scene.anna), "MEMORY.md", eighty, source="x")
    assert documents.replace(document.pk, text=ninety, source="y", most_tokens=100)
    with pytest.raises(DocumentTooLong):
        documents.replace(document.pk, text=ninety * 2, source="y", most_tokens=100)


def test_earlier_text_is_brought_back_as_a_new_version(scene: Scene) -> None:
    user = factories.user()
    document = documents.save(scope_of(scene.anna), "MEMORY.md", "one", source="x")
    documents.replace(document.pk, text="two", source="x", author=user, reason="because")
    assert documents.restore(document.versions.get(number=1), author=user)
    document.refresh_from_db()
    assert (document.text, document.version_number) == ("one", 3)
    newest = document.versions.get(number=3)
    assert (newest.author, newest.reason) == (user, "Restored version 1")


def test_text_based_on_an_old_version_is_refused(scene: Scene) -> None:
    document = documents.save(scope_of(scene.anna), "MEMORY.md", "one", source="x")
    documents.replace(document.pk, text="two", source="x")
    with pytest.raises(DocumentChanged):
        documents.replace(document.pk, text="three", source="x", seen_version=1)


@pytest.mark.parametrize(("decide", "text"), [("accept", "new"), ("refuse", "old")])
def test_proposal_is_decided_once(scene: Scene, decide: str, text: str) -> None:
    user = factories.user()
    document = documents.save(scope_of(scene.anna), "MEMORY.md", "old", source="x")
    proposal = proposals.propose(document, "new", reason="", source="consolidation:1")
    act = getattr(proposals, decide)
    assert (act(proposal, by=user), act(proposal, by=user)) == ("done", "decided_before")
    document.refresh_from_db()
    assert document.text == text


def test_proposal_for_a_text_that_moved_on_changes_nothing(scene: Scene) -> None:
    document = documents.save(scope_of(scene.anna), "MEMORY.md", "old", source="x")
    proposal = proposals.propose(document, "new", reason="", source="consolidation:1")
    documents.replace(document.pk, text="other", source="x")
    assert proposals.accept(proposal, by=factories.user()) == "document_changed"


@pytest.mark.django_db(transaction=True)
async def test_week_becomes_a_proposal_and_nothing_else() -> None:
    viewer = (await in_db(make_scene)).anna
    asked: list[str] = []

    async def ask(instructions: str, material: str) -> str:
        asked.append(material)
        return "```markdown\n# MEMORY.md\n\n- [2025-01-15] Likes FastAPI\n```"

    home = scope_of(viewer)
    assert await consolidating.consolidate(home, until=AT, ask=ask) is None
    await in_db(
        notes.add_exchange,
        viewer=viewer,
        question="Tell me about FastAPI",
        answer="A framework",
        at=AT,
        time_zone="UTC",
        source="turn:1",
    )
    proposal = await consolidating.consolidate(home, until=AT, ask=ask)
    assert proposal is not None
    assert "Tell me about FastAPI" in asked[0]
    assert proposal.text == "# MEMORY.md\n\n- [2025-01-15] Likes FastAPI\n"
    assert (await MemoryDocument.objects.aget()).text == ""
    await consolidating.consolidate(home, until=AT, ask=ask)
    assert await MemoryProposal.objects.acount() == 1


def test_what_a_fact_costs_does_not_grow_with_what_is_known(scene: Scene) -> None:
    home = scope_of(scene.anna)
    lines = "\n".join(f"- [2025-01-01] The number of house {n} is {n}" for n in range(30))
    document = documents.save(home, "MEMORY.md", f"{files.MEMORY_HEADING}\n\n{lines}\n", source="x")
    passages = Passage.objects.filter(source=f"memory:{document.pk}", hidden_at=None)
    before = set(passages.values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as asked:
        assert documents.append_fact("Tea, please", viewer=scene.anna, source="m:1", at=AT)
    assert not [each for each in asked if 'FROM "memory_passage"' in each["sql"]]
    added = passages.exclude(pk__in=before).values_list("line", "text")
    assert list(added) == [(33, "- [2025-01-15] Tea, please")]
    assert passages.filter(pk__in=before).count() == len(before) == 30


def test_fact_whose_words_stand_in_several_lines_is_new(scene: Scene) -> None:
    for fact in ("My dog is Rex", "The cat is Tom"):
        documents.append_fact(fact, viewer=scene.anna, source="m:1", at=AT)
    assert documents.append_fact("The dog is Tom", viewer=scene.anna, source="m:2", at=AT)
    assert not documents.append_fact("the DOG is tom!", viewer=scene.anna, source="m:3", at=AT)
