"""Documents: taken in, read, found with their place, cut anew, and taken out."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.core.viewer import Viewer
from agents.models import AuditEvent, File
from memory import merging, recall, uploads
from memory.errors import UploadRefused
from memory.index import facts, postings, rebuilding
from memory.index.scopes import Shelves
from memory.index.work import finish
from memory.models import (
    MemorySettings,
    Passage,
    Scope,
    UploadedDocument,
    WalEntry,
    scope_of,
)
from memory.reading.errors import Unreadable
from memory.search import Found, search
from tests import factories
from tests.memory.conftest import Scene
from tests.memory.conftest import scene as scene
from tests.memory.reading import made

State = UploadedDocument.State
LEAVE = b"# Leave\nEverybody has 25 days of leave.\n\n# Travel\nTrains are paid by code ZQ-77.\n"


@pytest.fixture(autouse=True)
def words_only(scene: Scene) -> None:
    for team in (scene.team, factories.team()):
        MemorySettings.objects.create(team=team, embedder=MemorySettings.Embedder.NONE)


def bring(viewer: Viewer, content: bytes = LEAVE, name: str = "handbook.md") -> UploadedDocument:
    document, _ = uploads.add(content, name=name, home=scope_of(viewer), source="user:1")
    uploads.read_one(document.pk)
    document.refresh_from_db()
    while postings.index_waiting():
        pass
    return document


def find(viewer: Viewer, query: str) -> list[Found]:
    kinds = [Passage.Kind.DOCUMENT]
    return search(viewer, query, now=timezone.now(), kinds=kinds, shelves=Shelves.LIBRARY).found


def test_a_document_is_found_with_its_place_by_those_whose_it_is(scene: Scene) -> None:
    document = bring(scene.anna, made.pdf("First page", "Trains need the code ZQ-77"), "rules.pdf")
    assert (document.state, document.pieces) == (State.READY, 2)
    found = find(scene.anna, "ZQ-77")[0]
    assert (found.file, found.line, found.source) == ("rules.pdf#page=2", 1, document.ref)
    for other in (scene.bobur, scene.group, scene.unknown, scene.other_agent, scene.other_team):
        assert find(other, "ZQ-77") == []


def test_a_heading_is_a_place_and_lines_are_the_files(scene: Scene) -> None:
    MemorySettings.objects.update(chunk_characters=100, chunk_overlap=10)
    bring(scene.group, b"Preface. " * 20 + b"\n" + LEAVE, "handbook.md")
    found = find(scene.group, "ZQ-77")[0]
    assert found.file == "handbook.md#Leave"
    assert found.line == 2


def test_documents_are_neither_recalled_nor_found_by_who_does_not_ask(scene: Scene) -> None:
    bring(scene.anna)
    now = timezone.now()
    asked = recall.recall(
        recall.look(scene.anna, "code for trains ZQ-77?"), now=now, shown=(), is_first=True
    )
    assert asked.text == ""
    assert search(scene.anna, "ZQ-77", now=now).found == []
    assert search(scene.anna, "ZQ-77", now=now, kinds=[Passage.Kind.FACT]).found == []
    for wanted in ({"kinds": [Passage.Kind.DOCUMENT]}, {"with_untrusted": True}):
        assert len(search(scene.anna, "ZQ-77", now=now, **wanted).found) == 1


def test_secrets_in_documents_are_masked(scene: Scene) -> None:
    secret = "sk-ant-api03-abcdefghijklmnopqrst"
    document = bring(scene.anna, f"The deploy key is {secret}".encode(), "keys.txt")
    assert secret not in json.dumps(document.parts)
    assert not Passage.objects.filter(text__contains=secret).exists()


def test_the_same_file_is_one_document_in_a_scope_and_another_elsewhere(scene: Scene) -> None:
    first = bring(scene.anna)
    again, is_new = uploads.add(LEAVE, name="b.md", home=scope_of(scene.anna), source="user:1")
    assert (again.pk, is_new) == (first.pk, False)
    assert File.objects.count() == 1
    assert bring(scene.bobur).pk != first.pk


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "a.txt", "empty"),
        (b"x", "a.zip", "unknown_kind"),
        (bytes(20 * 2**20 + 1), "a.txt", "too_large"),
    ],
)
def test_what_is_not_taken_leaves_nothing(
    scene: Scene, content: bytes, name: str, code: str
) -> None:
    with pytest.raises(UploadRefused) as refused:
        uploads.add(content, name=name, home=scope_of(scene.anna), source="user:1")
    assert refused.value.code == code
    assert not File.objects.exists()
    assert not UploadedDocument.objects.exists()


def test_a_scope_holds_so_many(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_DOCUMENTS", 1)
    bring(scene.anna)
    with pytest.raises(UploadRefused, match="too_many"):
        uploads.add(b"more", name="b.txt", home=scope_of(scene.anna), source="user:1")


def test_a_broken_file_leaves_no_piece_and_may_be_tried_again(scene: Scene) -> None:
    document = bring(scene.anna, b"%PDF-1.4 broken", "a.pdf")
    assert (document.state, document.error, document.parts) == (State.FAILED, "broken", None)
    assert not Passage.objects.exists()
    again, is_new = uploads.add(
        b"%PDF-1.4 broken", name="a.pdf", home=scope_of(scene.anna), source="user:1"
    )
    assert (again.pk, again.state, is_new) == (document.pk, State.WAITING, False)


def test_what_fails_while_it_is_indexed_is_not_found_in_part(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, _ = uploads.add(LEAVE, name="a.md", home=scope_of(scene.anna), source="user:1")
    held = uploads.claim(document.pk)
    assert held is not None
    monkeypatch.setattr("memory.index.documents.add_uploaded", lambda _document: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        uploads.settle(held, uploads.read(held))
    document.refresh_from_db()
    assert (document.state, document.parts) == (State.READING, None)
    assert not Passage.objects.exists()


def test_who_dies_reading_is_followed_by_another_and_may_say_nothing_any_more(
    scene: Scene,
) -> None:
    document, _ = uploads.add(LEAVE, name="a.md", home=scope_of(scene.anna), source="user:1")
    first = uploads.claim()
    assert first is not None
    assert uploads.claim() is None
    long_ago = timezone.now() - uploads.STALE - timedelta(seconds=1)
    UploadedDocument.objects.update(claimed_at=long_ago)
    second = uploads.claim()
    assert second is not None
    assert not uploads.settle(first, Unreadable("broken"))
    assert uploads.settle(second, uploads.read(second))
    UploadedDocument.objects.update(state=State.READING, claimed_at=long_ago, attempts=3)
    assert uploads.claim() is None
    document.refresh_from_db()
    assert (document.state, document.error) == (State.FAILED, "broken")


@pytest.mark.django_db(transaction=True)
def test_what_is_forgotten_is_gone_everywhere() -> None:
    person = factories.person()
    agent = factories.agent(team=person.team)
    MemorySettings.objects.create(team=person.team, embedder=MemorySettings.Embedder.NONE)
    viewer = Viewer(person.team_id, agent.pk, person_id=person.pk, is_private=True)
    document = bring(viewer)
    name = document.file.content.name
    assert name is not None
    assert default_storage.exists(name)
    assert uploads.forget(document, actor="person:1")
    assert find(viewer, "ZQ-77") == []
    while postings.remove_hidden():
        pass
    assert not Passage.objects.exists()
    assert not File.objects.exists()
    assert not default_storage.exists(name)
    assert not uploads.forget(document, actor="person:1")
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["upload.added", "upload.forgotten"]


def test_another_length_of_pieces_cuts_documents_anew(scene: Scene) -> None:
    said = "\n".join(f"Line {number} of the long story" for number in range(1, 60))
    document = bring(scene.anna, said.encode(), "story.txt")
    before = document.pieces
    MemorySettings.objects.filter(team=scene.team).update(chunk_characters=200, chunk_overlap=20)
    while rebuilding.advance():
        finish()
    (known,) = uploads.progress([document]).values()
    assert known.pieces > 2 * before
    assert (known.by_words, known.by_meaning, known.percent) == (known.pieces, None, 100)
    found = find(scene.anna, "Line 57 of the long story")[0]
    assert found.line is not None
    assert 50 < found.line <= 57


def test_a_thick_document_does_not_crowd_out_what_was_noted(scene: Scene) -> None:
    rows = "\n".join(f"The invoice {number} was paid by Zorbax" for number in range(2_000))
    MemorySettings.objects.update(chunk_characters=100, chunk_overlap=0)
    bring(scene.anna, rows.encode(), "ledger.txt")
    factories.wal_entry(
        team=scene.team, agent=scene.agent, scope=Scope.AGENT, text="Zorbax pays each invoice late"
    )
    facts.add(list(WalEntry.objects.all()))
    while postings.index_waiting():
        pass
    found = search(scene.anna, "Zorbax invoice", now=timezone.now()).found
    assert [hit.kind for hit in found] == ["fact"]


def test_documents_of_two_who_are_one_are_found_as_one_persons(scene: Scene) -> None:
    anna, bobur = scene.anna.person_id, scene.bobur.person_id
    assert anna is not None
    assert bobur is not None
    both, other = b"Both have the code ZQ-77", b"Only Anna has the code XY-88"
    for viewer, content in ((scene.anna, both), (scene.anna, other), (scene.bobur, both)):
        bring(viewer, content, "a.txt")
    merging.move(anna, into_id=bobur)
    assert UploadedDocument.objects.filter(person_id=bobur).count() == 2
    assert not UploadedDocument.objects.filter(person_id=anna).exists()
    assert set(File.objects.values_list("person_id", flat=True)) == {bobur}
    assert len([hit for hit in find(scene.bobur, "ZQ-77") if "ZQ-77" in hit.content]) == 1
    assert "XY-88" in find(scene.bobur, "XY-88")[0].content
    assert find(scene.anna, "XY-88") == []


def run(*arguments: str) -> str:
    said = io.StringIO()
    call_command("memory", "documents", *arguments, stdout=said)
    return said.getvalue()


def test_command_adds_lists_and_forgets(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_bytes(LEAVE)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    whose = ["--agent", scene.agent.slug, "--team", scene.team.slug]
    with pytest.raises(CommandError, match="1 of 2 files"):
        run("add", str(tmp_path), *whose)
    (found,) = find(scene.bobur, "ZQ-77")
    (listed,) = json.loads(run("list", *whose, "--json"))
    assert (listed["state"], listed["found_percent"]) == ("ready", 100)
    assert json.loads(run("list", *whose, "--for-team", "--json")) == []
    assert "taken out" in run("forget", listed["document"], *whose)
    assert find(scene.bobur, "ZQ-77") == []
    with pytest.raises(CommandError, match="no document"):
        run("forget", listed["document"], *whose)
    assert datetime.now(UTC) - found.at < timedelta(minutes=5)
