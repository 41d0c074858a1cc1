"""What is remembered of two people who turn out to be one."""

from dataclasses import replace
from datetime import datetime

import pytest
from django.db.models import Sum

from agents.core.viewer import Viewer
from memory import documents, merging, notes, wal
from memory.index import exchanges, postings
from memory.index.work import finish
from memory.models import (
    FreshTerms,
    MemoryDocument,
    MemoryScope,
    Passage,
    PassageVector,
    Posting,
    Scope,
    WalEntry,
    scope_of,
)
from tests.memory.conftest import Scene, look

SAID = "My name is Aziza and I prefer green tea with lemon."


def told(owner: Viewer, text: str, number: int, at: datetime) -> None:

    source, thread = f"turn:{number}", f"session:{number}/1"
    wal.append(
        text,
        viewer=owner,
        source=f"message:{number}",
        thread=thread,
        author_id=owner.person_id,
        at=at,
    )
    exchanges.add(
        viewer=owner,
        said=text,
        answer="Noted.",
        at=at,
        time_zone="UTC",
        source=source,
        thread=thread,
    )
    notes.add_exchange(
        viewer=owner, question=text, answer="Noted.", at=at, time_zone="UTC", source=source
    )


@pytest.mark.parametrize("both_spoke", [False, True])
def test_what_one_person_said_is_found_by_whom_they_were_merged_into(
    scene: Scene, noon: datetime, both_spoke: bool
) -> None:
    told(scene.anna, SAID, 1, noon)
    if both_spoke:
        told(scene.bobur, "My name is Bobur, I like the northern hills.", 2, noon)
    finish()
    postings.join_fresh(1)
    vectors, terms = PassageVector.objects.count(), Posting.objects.count()
    assert vectors
    assert look("green tea", scene.anna, noon)
    assert not look("green tea", scene.bobur, noon)

    assert scene.anna.person_id
    assert scene.bobur.person_id
    merging.move(scene.anna.person_id, into_id=scene.bobur.person_id)

    found = look("green tea with lemon", scene.bobur, noon)
    assert any("green tea" in hit.content for hit in found)
    if both_spoke:
        assert any("hills" in hit.content for hit in look("northern hills", scene.bobur, noon))
    assert not look("green tea", scene.anna, noon)
    assert not look("green tea", replace(scene.bobur, agent_id=scene.other_agent.agent_id), noon)
    scope = MemoryScope.objects.get(person_id=scene.bobur.person_id)
    assert not MemoryScope.objects.filter(person_id=scene.anna.person_id).exists()
    while postings.remove_hidden():
        pass
    scope.refresh_from_db()
    rows = Passage.objects.filter(scope=scope)
    assert scope.passages == rows.count()
    assert scope.fresh == FreshTerms.objects.filter(scope=scope).count()
    assert scope.fresh == FreshTerms.objects.count()
    assert scope.vectors == PassageVector.objects.filter(scope=scope).count()
    assert scope.words == rows.aggregate(words=Sum("words"))["words"]
    # Nothing was embedded again.
    assert PassageVector.objects.count() <= vectors
    assert Posting.objects.filter(scope=scope).count() == Posting.objects.count() <= terms + 200


def move(one: Viewer, other: Viewer) -> None:
    assert one.person_id
    assert other.person_id
    merging.move(one.person_id, into_id=other.person_id)


def test_documents_of_one_name_are_both_kept(scene: Scene, noon: datetime) -> None:
    for viewer, words in ((scene.anna, "Aziza plants roses"), (scene.bobur, "Bobur builds a shed")):
        documents.save(scope_of(viewer), "memory/plan.md", f"# Plan\n\n{words}\n", source="x")
    documents.save(scope_of(scene.bobur), "memory/plan-2.md", "Older plans\n", source="x")
    move(scene.anna, scene.bobur)
    names = MemoryDocument.objects.visible_to(scene.bobur).values_list("name", "text")
    assert {name: text.split("\n")[-2] for name, text in names} == {
        "memory/plan.md": "Bobur builds a shed",
        "memory/plan-2.md": "Older plans",
        "memory/plan-3.md": "Aziza plants roses",
    }
    found, *_ = look("plants roses", scene.bobur, noon)
    assert (found.content, found.file) == ("Aziza plants roses", "memory/plan-3.md")
    assert look("plants roses", scene.anna, noon) == []


def test_what_one_said_is_the_others_to_take_back_and_to_forget(
    scene: Scene, noon: datetime
) -> None:
    told(scene.anna, "I like green tea", 1, noon)
    in_group = replace(scene.group, person_id=scene.anna.person_id)
    told(in_group, "I like the northern hills", 2, noon)
    move(scene.anna, scene.bobur)
    assert wal.retract("message:1", "I like green tea", scene.bobur)
    in_group = replace(scene.group, person_id=scene.bobur.person_id)
    told(in_group, "I like the northern hills", 3, noon)
    said = WalEntry.objects.get(scope=Scope.CHAT)
    assert (said.mentions, said.author_id) == (2, scene.bobur.person_id)
    told(in_group, "Forget that I like the northern hills", 4, noon)
    said.refresh_from_db()
    assert said.retracted_at is not None
