"""Corrections, contradictions and wishes to forget close facts; the history stays."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from agents.core.viewer import Viewer
from agents.models import AuditEvent
from memory import documents, exports, notes, superseding, wal
from memory.index import exchanges
from memory.models import MemoryDocument, MemoryDocumentVersion, WalEntry, scope_of
from memory.prompt import memory_parts
from tests import factories

from .conftest import Scene, look


@pytest.fixture
def numbers() -> Iterator[int]:
    return iter(range(1, 100))


@pytest.fixture
def say(scene: Scene, noon: datetime, numbers: Iterator[int]):  # type: ignore[no-untyped-def]
    def said(text: str, viewer: Viewer = scene.anna) -> list[WalEntry]:
        number = next(numbers)
        return wal.append(
            text,
            viewer=viewer,
            source=f"message:{number}",
            thread="session:1/1",
            author_id=viewer.person_id,
            at=noon + timedelta(minutes=number),
        )

    return said


def told(viewer: Viewer, now: datetime) -> str:
    parts = memory_parts(viewer, thread="session:1/1", now=now)
    return f"{parts.session_state}\n{parts.long_term}"


def test_case_memory_capture_4_only_the_corrected_name_holds(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (old,) = say("My name is Sarvar")
    say("Actually, my name is Sardor, not Sarvar")
    old.refresh_from_db()
    assert old.superseded_by is not None
    assert old.superseded_at == noon + timedelta(minutes=2)
    assert "My name is Sarvar" not in told(scene.anna, noon)
    document = MemoryDocument.objects.get()
    assert "Sardor" in document.text
    assert "name is Sarvar" not in document.text
    assert "name is Sarvar" in MemoryDocumentVersion.objects.order_by("number")[0].text


def test_case_memory_capture_5_paraphrases_of_the_old_name_are_not_found(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    for text in ("My name is Sarvar", "I'm Sarvar", "Call me Sarvar", "You can call me Sarvar"):
        say(text)
    say("Actually, my name is Sardor, not Sarvar")
    found = look("name", scene.anna, now=noon)
    assert found
    assert all("Sardor" in hit.content for hit in found)


def test_opposite_replaces_what_it_denies(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (old,) = say("I like green tea")
    say("I don't like green tea")
    old.refresh_from_db()
    assert old.superseded_at is not None
    assert "I like green tea" not in MemoryDocument.objects.get().text


def test_forgotten_fact_is_told_nowhere_and_stays_in_the_history(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (old,) = say("My phone number is +998 90 123 45 67")
    (wish,) = say("Forget my phone number")
    old.refresh_from_db()
    assert wish.category == "forget"
    assert (old.retracted_at, old.superseded_by) == (noon + timedelta(minutes=2), wish)
    assert told(scene.anna, noon).strip() == ""
    assert look("phone number", scene.anna, now=noon) == []
    assert WalEntry.objects.count() == 2


def test_undone_wish_brings_back_what_it_took(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (old,) = say("I like green tea")
    (wish,) = say("Forget that I like green tea")
    assert wal.retract(wish.source, wish.text, scene.anna)
    old.refresh_from_db()
    assert (old.retracted_at, old.superseded_by) == (None, None)
    assert "green tea" in MemoryDocument.objects.get().text


def test_nobody_forgets_for_others_in_a_group(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (kept,) = say("I like green tea", scene.group)
    say("Forget that I like green tea", replace(scene.group, person_id=scene.bobur.person_id))
    kept.refresh_from_db()
    assert kept.retracted_at is None


def test_case_isolation_3_each_prompt_shows_the_own_preference(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    say("I prefer tea", scene.anna)
    say("I prefer coffee", scene.bobur)
    assert "tea" in told(scene.anna, noon)
    assert "coffee" not in told(scene.anna, noon)
    assert "coffee" in told(scene.bobur, noon)
    assert "tea" not in told(scene.bobur, noon)


def test_somebody_of_the_team_replaces_and_forgets_with_a_trace(scene, noon) -> None:  # type: ignore[no-untyped-def]
    user = factories.user()
    wal.note("The gate is green", viewer=scene.anna, source="turn:1 a", thread="session:1", at=noon)
    entry = WalEntry.objects.get()
    new = superseding.replace(entry, "The gate is blue", by=user, at=noon)
    assert MemoryDocument.objects.get().text.endswith("- [2025-01-15] The gate is blue\n")
    assert superseding.forget(new, by=user, at=noon)
    assert not superseding.forget(new, by=user, at=noon)
    assert "gate" not in told(scene.anna, noon)
    actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["fact.replaced", "fact.forgotten"]


def test_corrected_name_leaves_what_was_said_beside_it(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    say("My name is Sarvar and I live in Samarkand")
    fixed = say("Actually, my name is Sardor, not Sarvar")
    shown = told(scene.anna, noon)
    assert "I live in Samarkand" in shown
    assert "Sardor" in shown
    assert "is Sarvar" not in shown
    assert [hit.content for hit in look("where do I live?", scene.anna, noon)]
    (name,) = (row for row in fixed if row.category == "proper_noun")
    assert wal.retract(name.source, name.text, scene.anna)
    lines = MemoryDocument.objects.get().text
    assert lines.count("Samarkand") == 1
    assert "My name is Sarvar and I live in Samarkand" in lines


@pytest.mark.parametrize(
    ("wish", "kept", "gone"),
    [
        ("Forget that I live in Samarkand", "My name is Sarvar", "Samarkand"),
        ("Forget my name", "I live in Samarkand", "Sarvar"),
    ],
)
def test_wish_to_forget_takes_only_what_it_names(scene, noon, say, wish, kept, gone) -> None:  # type: ignore[no-untyped-def]
    say("My name is Sarvar and I live in Samarkand")
    say(wish)
    shown = told(scene.anna, noon)
    assert kept in shown
    assert gone not in shown


def test_fact_written_anew_is_masked_compared_and_corrected_like_any(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (old,) = say("My name is Sarvar")
    user = factories.user()
    new = superseding.replace(old, "My name is\nSardor", by=user, at=noon + timedelta(hours=1))
    assert (new.text, new.value) == ("My name is Sardor", "Sardor")
    assert say("my name is sardor") == []
    new.refresh_from_db()
    assert new.mentions == 2
    say("Actually, my name is Sanjar, not Sardor")
    assert "Sardor" not in told(scene.anna, noon).replace("not Sardor", "")
    secret = superseding.replace(
        WalEntry.objects.get(category="proper_noun", superseded_at=None),
        "My password is hunter2secret",
        by=user,
        at=noon + timedelta(hours=2),
    )
    assert "hunter2secret" not in secret.text


def test_what_was_forgotten_is_found_in_no_conversation_and_no_note(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    say("My phone number is +998 90 123 45 67")
    for viewer in (scene.anna, scene.bobur):
        for number, said in enumerate(("My phone number is +998 90 123 45 67", "Hello there")):
            answer = "Noted: +998 90 123 45 67" if number == 0 else "Hello"
            source = f"turn:{viewer.person_id}{number}"
            exchanges.add(
                viewer=viewer,
                said=said,
                answer=answer,
                at=noon,
                time_zone="UTC",
                source=source,
                thread="session:1/1",
            )
            notes.add_exchange(
                viewer=viewer, question=said, answer=answer, at=noon, time_zone="UTC", source=source
            )
    assert look("phone number", scene.anna, noon)
    say("Forget my phone number")
    assert look("phone number", scene.anna, noon) == []
    assert look("+998 90 123 45 67", scene.anna, noon) == []
    assert look("Hello there", scene.anna, noon)
    exported = exports.export(scene.anna).values()
    assert not any("123 45" in text for text in exported)
    assert any("Hello there" in text for text in exported)
    assert look("phone number", scene.bobur, noon)


def test_conversation_that_tells_the_old_value_is_marked_and_below(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    for number, text in enumerate(("My name is Sarvar", "Actually, my name is Sardor, not Sarvar")):
        say(text)
        exchanges.add(
            viewer=scene.anna,
            said=text,
            answer="Hello",
            at=noon + timedelta(minutes=number),
            time_zone="UTC",
            source=f"turn:{number}",
            thread="session:1/1",
        )
    found = look("What is my name?", scene.anna, noon + timedelta(hours=1))
    (old,) = (hit for hit in found if hit.content == "My name is Sarvar")
    assert old.newer
    assert "Sardor" in found[0].content


def test_my_number_is_forgotten_only_where_there_is_one(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (order,) = say("My order number is 445566")
    (phone,) = say("My phone number is +998 90 123 45 67")
    say("Forget my number")
    order.refresh_from_db()
    assert order.retracted_at is None
    say("Forget my order number")
    say("Forget my number")
    phone.refresh_from_db()
    assert phone.retracted_at is not None


def test_less_telling_correction_closes_the_one_fact_that_fits(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    (first,) = say("The meeting with Anna is at 15:00")
    say("Actually the meeting is at 16:00")
    first.refresh_from_db()
    assert first.superseded_at is not None
    (one,) = say("The call with Max is at 9:00")
    (other,) = say("The call with Eva is at 10:00")
    say("Actually the call is at 11:00")
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.superseded_at, other.superseded_at) == (None, None)


def talk(viewer: Viewer, number: int, said: str, answer: str, at: datetime) -> None:
    """Keep an exchange and its note, as a turn does at its end."""
    source = f"turn:{number}"
    exchanges.add(
        viewer=viewer,
        said=said,
        answer=answer,
        at=at,
        time_zone="UTC",
        source=source,
        thread="session:1/1",
    )
    notes.add_exchange(
        viewer=viewer, question=said, answer=answer, at=at, time_zone="UTC", source=source
    )


@pytest.mark.parametrize(
    ("fact", "wish", "other"),
    [
        ("I like tea", "Forget that I like tea", "I like tea trees, they grow at the farm"),
        ("The old code is 2026", "Forget the old code", "The 2026 fair is in Vienna"),
        ("My number is 20262027", "Forget my number", "Order 920262027 came"),
    ],
)
def test_what_only_looks_like_the_forgotten_is_found_still(  # type: ignore[no-untyped-def]
    scene, noon, say, fact, wish, other
) -> None:
    talk(scene.anna, 1, other, "Nice", noon)
    talk(scene.anna, 2, fact, "Noted", noon)
    assert say(fact)
    say(wish)
    exported = "".join(exports.export(scene.anna).values())
    assert other in exported
    assert f"{fact}\n" not in exported
    assert [hit.content for hit in look(other, scene.anna, noon)][:1] == [other]


def test_nobodys_forgetting_takes_what_others_of_a_group_said(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    other = replace(scene.group, person_id=scene.bobur.person_id)
    text = "Remember that the gate is PINE-77"
    for number, viewer in enumerate((scene.group, other)):
        talk(viewer, number, text, "Noted", noon)
        say(text, viewer)
    say("Forget the gate", other)
    found = look("PINE-77", scene.group, noon)
    assert {hit.source for hit in found if hit.kind == "exchange"} == {"turn:0"}


def test_fact_of_a_model_goes_with_the_words_it_was_noted_from(scene, noon) -> None:  # type: ignore[no-untyped-def]
    said = "we moved to Berlin\nin March, can you suggest a dentist?"
    talk(scene.anna, 1, said, "Here is one", noon)
    wal.note(
        "They live in Berlin",
        viewer=scene.anna,
        source="extraction:1",
        thread="session:1/1",
        at=noon,
        evidence="moved to Berlin in March",
    )
    superseding.forget(WalEntry.objects.get(), by=None, actor="x", at=noon)
    assert look("Berlin", scene.anna, noon) == []


def test_lines_that_the_agent_wrote_go_with_what_they_tell(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    say("My phone number is +998 90 123 45 67, remember it")
    say("I like tea")
    home = scope_of(scene.anna)
    before = MemoryDocument.objects.get().text
    line = "- Anna's phone number: +998 90 123 45 67\n"
    documents.save(home, "MEMORY.md", before + line, source="turn:5 c1")
    documents.save(home, "memory/anna.md", f"# Anna\n{line}- Anna likes tea\n", source="turn:5 c2")
    say("Forget my phone number")
    texts = {row.name: row.text for row in MemoryDocument.objects.all()}
    assert "123 45 67" not in texts["MEMORY.md"]
    assert "I like tea" in texts["MEMORY.md"]
    assert texts["memory/anna.md"] == "# Anna\n- Anna likes tea\n"


def test_restored_document_has_nothing_that_was_forgotten(scene, noon, say) -> None:  # type: ignore[no-untyped-def]
    say("My phone number is +998 90 123 45 67, remember it")
    say("I like tea")
    document = MemoryDocument.objects.get()
    line = "- Anna's phone number: +998 90 123 45 67\n"
    documents.save(scope_of(scene.anna), "MEMORY.md", document.text + line, source="turn:5 c1")
    version = document.versions.order_by("-number")[0]
    MemoryDocumentVersion.objects.filter(pk=version.pk).update(created_at=noon)
    version.refresh_from_db()
    say("Forget my phone number")
    say("I like coffee")
    documents.restore(version, author=factories.user())
    document.refresh_from_db()
    assert "123 45 67" not in document.text
    assert "I like tea" in document.text
