"""A new version of the index is built beside the one in use, and takes its place."""

import pytest

from agents.core.viewer import Viewer
from memory import documents
from memory.index import exchanges, facts, postings, rebuilding, scopes, writing
from memory.index.documents import Piece, replace
from memory.models import (
    FreshTerms,
    IndexVersion,
    MemoryDocument,
    MemorySettings,
    MemoryThread,
    Origin,
    Passage,
    Posting,
)
from tests import factories
from tests.memory.index.conftest import NOON, Corner

pytestmark = pytest.mark.django_db

LONG = "A sentence about the garden and its gate. " * 30


@pytest.fixture
def words_only(corner: Corner) -> MemorySettings:
    """Let nobody embed."""
    return factories.memory_settings(team=corner.person.team, embedder=MemorySettings.Embedder.NONE)


def _build(corner: Corner) -> None:
    for _ in range(200):
        corner.settle()
        if not rebuilding.advance():
            break


def test_other_pieces_are_cut_in_the_background_and_swapped_in(
    corner: Corner, words_only: MemorySettings
) -> None:
    corner.say("What about the garden?")
    corner.say("And the house?")
    corner.say(LONG)
    _build(corner)
    before = scopes.visible(corner.viewer).version_id
    words_only.chunk_characters = 200
    words_only.save()
    assert rebuilding.advance()
    assert scopes.visible(corner.viewer).version_id == before
    # What is said and hidden meanwhile is said and hidden in both.
    corner.say("Said while it was built")
    writing.hide(["turn:2"], home=corner.home)
    _build(corner)
    assert scopes.visible(corner.viewer).version_id != before
    rows = list(Passage.objects.filter(hidden_at=None).order_by("id"))
    assert max(len(row.text) for row in rows) <= 200
    assert "".join(row.text for row in rows if "sentence" in row.text) == LONG
    assert [row.text for row in rows if "sentence" not in row.text] == [
        "What about the garden?",
        "Said while it was built",
    ]
    assert not corner.exact("house")
    assert corner.exact("Said while")


@pytest.mark.parametrize("in_blocks", [False, True])
def test_what_was_replaced_is_removed(
    corner: Corner, words_only: MemorySettings, monkeypatch: pytest.MonkeyPatch, in_blocks: bool
) -> None:
    if in_blocks:
        monkeypatch.setattr(postings, "FEW", 1)
    corner.say("The gate is green")
    _build(corner)
    rebuilding.rebuild(corner.person.team_id)
    _build(corner)
    assert IndexVersion.objects.count() == 1
    assert MemoryThread.objects.count() == 1
    assert Passage.objects.count() == 1
    kept = set(scopes.visible(corner.viewer).scope_ids)
    of_terms = Posting if in_blocks else FreshTerms
    assert set(of_terms.objects.values_list("scope_id", flat=True)) == kept
    assert corner.exact("gate")


def test_settings_changed_back_keep_the_index_in_use(
    corner: Corner, words_only: MemorySettings
) -> None:
    corner.say("The gate is green")
    _build(corner)
    before = scopes.visible(corner.viewer).version_id
    words_only.chunk_characters = 200
    words_only.save()
    rebuilding.advance()
    words_only.chunk_characters = 900
    words_only.save()
    _build(corner)
    assert scopes.visible(corner.viewer).version_id == before
    assert IndexVersion.objects.count() == 1


def test_what_was_kept_before_there_was_an_index_is_found(
    corner: Corner, words_only: MemorySettings
) -> None:
    factories.wal_entry(
        agent=corner.agent, person=corner.person, text="I am allergic to nuts", is_durable=False
    )
    factories.memory_document(
        agent=corner.agent,
        person=corner.person,
        text="# MEMORY.md\n\n- [2026-01-05] Tea, not coffee\n",
    )
    corner.say("Something new")
    _build(corner)
    assert corner.exact("allergic")
    assert corner.exact("not coffee")
    assert IndexVersion.objects.get().is_filled


def test_exchange_is_found_in_full_by_whoever_had_it(
    corner: Corner, words_only: MemorySettings
) -> None:
    for _ in range(2):
        exchanges.add(
            viewer=corner.viewer,
            said=f"{LONG} My password is Zq7Canary01 and my dog is Rex.",
            answer="Rex is a fine name.",
            at=NOON,
            time_zone="UTC",
            source="turn:1",
            thread="session:1/1",
        )
    corner.settle()
    assert [row.origin for row in Passage.objects.order_by("id")] == ["person", "person", "agent"]
    assert {row.author_name for row in Passage.objects.filter(origin="person")} == {"Bobur"}
    assert not corner.exact("Zq7Canary01")
    assert len(corner.exact("Rex")) == 2
    stranger = factories.person(team=corner.person.team)
    unknown = Viewer(corner.agent.team_id, corner.agent.pk, None)
    assert scopes.visible(unknown).passages == 0
    assert not Corner(corner.agent, stranger).candidates("Rex")


def test_line_that_leaves_a_memory_document_is_found_no_more(
    corner: Corner, words_only: MemorySettings
) -> None:
    documents.append_facts(["I like tea", "I like chess"], home=corner.home, source="x", at=NOON)
    corner.settle()
    kept = Passage.objects.get(text__contains="chess")
    document = MemoryDocument.objects.get()
    documents.replace(
        document.pk,
        text=document.text.replace("- [2026-03-02] I like tea\n", ""),
        source="user:1",
    )
    assert not corner.exact("tea")
    assert corner.exact("chess")
    kept_line, kept_id = kept.line, kept.pk
    kept.refresh_from_db()
    assert (kept.pk, kept.line) == (kept_id, kept_line - 1 if kept_line else None)


def test_fact_that_is_taken_back_is_found_no_more(
    corner: Corner, words_only: MemorySettings
) -> None:
    fact = factories.wal_entry(agent=corner.agent, person=corner.person, text="I have two cats")
    outside = factories.wal_entry(
        agent=corner.agent, person=corner.person, text="I have no cats", origin=Origin.UNTRUSTED
    )
    facts.add([fact, outside])
    corner.settle()
    assert corner.exact("cats") == {"I have two cats"}
    facts.hide([fact])
    assert not corner.exact("cats")


def test_document_that_changed_keeps_what_did_not(
    corner: Corner, words_only: MemorySettings
) -> None:
    def put(*pieces: str) -> None:
        replace(
            "document:7",
            home=corner.home,
            file="menu.pdf",
            pieces=[Piece(text, line) for line, text in enumerate(pieces, start=1)],
            at=NOON,
        )
        corner.settle()

    put("Soup", "Plov", "Plov")
    first = set(Passage.objects.filter(hidden_at=None).values_list("pk", flat=True))
    put("Plov", "Plov", "Tea")
    second = set(Passage.objects.filter(hidden_at=None).values_list("pk", flat=True))
    assert len(first & second) == 2
    assert not corner.exact("Soup")
    assert corner.exact("Tea")
    put()
    assert not corner.exact("Tea")
