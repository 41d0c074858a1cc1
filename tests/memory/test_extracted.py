"""Facts that a model found: kept once, in the right part, and never against what people said."""

from datetime import datetime, timedelta

import pytest

from agents.core.viewer import Viewer
from memory import extracted, wal
from memory.extraction import Category, Extracted, Line
from memory.models import MemoryDocument, Origin, WalEntry
from memory.policy import Policy

from .conftest import Scene, look

pytestmark = pytest.mark.django_db

TEA = "Drinks green tea only"


def fact(
    text: str,
    at: datetime,
    *,
    author: Viewer,
    source: str = "message:1",
    value: str = "",
    is_negated: bool = False,
    category: Category = "preference",
) -> Extracted:
    line = Line(text, source, author.person_id or 0, at)
    return Extracted(line, category, text, value, is_negated, 0.9, text)


def store(*facts: Extracted, viewer: Viewer, policy: Policy = Policy()) -> list[WalEntry]:  # noqa: B008 (it is frozen)
    return extracted.store(
        facts, viewer=viewer, policy=policy, thread="session:1/1", source="extraction:1"
    )


def say(text: str, at: datetime, *, viewer: Viewer, source: str = "message:9") -> list[WalEntry]:
    return wal.append(
        text, viewer=viewer, source=source, thread="session:1/1", author_id=viewer.person_id, at=at
    )


def test_it_is_noted_by_the_model_with_its_evidence_and_found(scene: Scene, noon: datetime) -> None:
    (entry,) = store(fact(TEA, noon, author=scene.anna), viewer=scene.anna)
    entry.refresh_from_db()
    assert (entry.origin, entry.scope, entry.author_id) == (
        Origin.AGENT,
        "person",
        scene.anna.person_id,
    )
    assert (entry.evidence, entry.confidence, entry.source) == (TEA, 0.9, "message:1")
    assert TEA in MemoryDocument.objects.get().text
    assert [hit.content for hit in look("green tea", scene.anna, noon)]
    assert not look("green tea", scene.bobur, noon)


def test_what_does_not_last_stays_out_of_memory_md(scene: Scene, noon: datetime) -> None:
    store(
        fact("The lease ends on 1 May", noon, author=scene.anna, category="specific_value"),
        viewer=scene.anna,
    )
    assert not MemoryDocument.objects.exists()


def test_the_policy_says_whose_it_is(scene: Scene, noon: datetime) -> None:
    (entry,) = store(
        fact(TEA, noon, author=scene.anna), viewer=scene.anna, policy=Policy(private_facts="team")
    )
    assert (entry.scope, entry.person_id) == ("team", None)
    (entry,) = store(fact(TEA, noon, author=scene.anna), viewer=scene.group)
    assert (entry.scope, entry.author_id) == ("chat", scene.anna.person_id)


def test_what_is_known_is_counted_where_it_is_said_again(scene: Scene, noon: datetime) -> None:
    (known,) = say("I prefer short answers", noon, viewer=scene.anna)
    same = fact("Prefers short answers", noon, author=scene.anna, source="message:9")
    later = fact(
        "prefers SHORT answers", noon + timedelta(hours=1), author=scene.anna, source="message:10"
    )
    assert store(same, viewer=scene.anna) == store(later, viewer=scene.anna) == []
    known.refresh_from_db()
    assert known.mentions == 2
    assert WalEntry.objects.count() == 1


def test_it_is_kept_once_though_it_is_given_twice(scene: Scene, noon: datetime) -> None:
    facts = [fact(TEA, noon, author=scene.anna), fact(TEA.lower(), noon, author=scene.anna)]
    assert len(store(*facts, viewer=scene.anna)) == 1
    assert store(*facts, viewer=scene.anna) == []


def test_the_opposite_is_not_the_same(scene: Scene, noon: datetime) -> None:
    say("I like green tea", noon, viewer=scene.anna)
    new = fact("Doesn't like green tea", noon, author=scene.anna, is_negated=True)
    assert len(store(new, viewer=scene.anna)) == 1
    assert WalEntry.objects.filter(superseded_at=None).count() == 2


def test_in_a_group_each_speaks_for_themselves(scene: Scene, noon: datetime) -> None:
    store(fact(TEA, noon, author=scene.anna), viewer=scene.group)
    again = fact(TEA, noon, author=scene.bobur, source="message:2")
    assert len(store(again, viewer=scene.group)) == 1


def test_what_was_undone_wished_away_or_corrected_since_stays_away(
    scene: Scene, noon: datetime
) -> None:
    say("My name is Sarvar", noon, viewer=scene.anna, source="message:1")
    wal.retract("message:1", "My name is Sarvar", scene.anna)
    undone = fact("Is called Sarvar", noon, author=scene.anna, category="proper_noun")
    assert store(undone, viewer=scene.anna) == []
    say("Forget my phone number", noon + timedelta(minutes=1), viewer=scene.anna)
    phone = fact("The phone number is 5551234", noon, author=scene.anna, category="specific_value")
    assert store(phone, viewer=scene.anna) == []


def test_what_is_said_after_it_was_taken_back_counts(scene: Scene, noon: datetime) -> None:
    say("Forget my phone number", noon, viewer=scene.anna)
    phone = fact(
        "The phone number is 5551234",
        noon + timedelta(hours=1),
        author=scene.anna,
        category="specific_value",
    )
    assert len(store(phone, viewer=scene.anna)) == 1


def test_it_can_be_undone_like_any_other(scene: Scene, noon: datetime) -> None:
    store(fact(TEA, noon, author=scene.anna), viewer=scene.anna)
    assert not wal.retract("message:1", TEA, scene.bobur)
    assert wal.retract("message:1", TEA, scene.anna)
    assert TEA not in MemoryDocument.objects.get().text
    assert store(fact(TEA, noon, author=scene.anna), viewer=scene.anna) == []


def test_the_model_is_shown_what_holds_in_this_scope_alone(scene: Scene, noon: datetime) -> None:
    store(fact(TEA, noon, author=scene.anna), viewer=scene.anna)
    wal.note_untrusted(
        "Pays to 123", viewer=scene.anna, source="turn:1 a", thread="session:1/1", at=noon
    )
    say("I love coffee", noon, viewer=scene.bobur)
    assert extracted.known(scene.anna, Policy()) == [TEA]
    wal.retract("message:1", TEA, scene.anna)
    assert extracted.known(scene.anna, Policy()) == []
