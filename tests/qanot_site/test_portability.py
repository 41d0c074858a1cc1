"""All of one person's data: handed over, and gone from every table, search and prompt."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.models import Sum

from agents.models import AuditEvent, File, Identity, Person, UsageRecord
from agents.services import portability
from memory import exports
from memory.models import MemoryDocument, MemoryScope, Passage, Posting, WalEntry
from memory.prompt import memory_parts
from memory.search import search
from sessions.events import wire
from sessions.events.redis_client import blocking_client
from sessions.models import ChannelContact, InboundMessage, Turn
from tests import factories
from tests.qanot_site import person_scene
from tests.qanot_site.person_scene import CANARY, NOON, OTHERS, build, fill, text_columns

pytestmark = pytest.mark.django_db
OURS = ("agents", "memory", "bot_sessions")


@pytest.fixture(autouse=True)
def _stored_below_the_test(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def places_of(word: str) -> dict[str, int]:
    """Return in which columns of which tables a word stands, in any case."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND (data_type IN ('text', 'character varying',"
            " 'json', 'jsonb', 'ARRAY', 'bytea'))"
        )
        for table, column in cursor.fetchall():
            cursor.execute(
                f'SELECT count(*) FROM "{table}" WHERE "{column}"::text ILIKE %s',  # noqa: S608
                [f"%{word}%"],
            )
            (count,) = cursor.fetchone()
            if count:
                found[f"{table}.{column}"] = count
    return found


def stored_with(word: str) -> list[str]:
    root = Path(settings.MEDIA_ROOT)
    return [
        path.name
        for path in root.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes()
    ]


# --- the registry ---------------------------------------------------------------------------------


def test_every_model_is_registered_or_said_to_hold_nothing_of_people() -> None:
    known = [table.model for table in portability.tables()]
    nothing = portability.without_people()
    ours = {model for label in OURS for model in apps.get_app_config(label).get_models()}
    assert not ours - {*known, *nothing}, "register it in its app's portability module"
    assert not set(known) & set(nothing)
    assert len(known) == len(set(known))
    assert all(nothing.values())


@pytest.mark.parametrize(
    "table",
    [table for table in portability.tables() if table.blanks is not None],
    ids=lambda table: table.model.__name__,
)
def test_every_text_column_of_a_row_that_stays_is_emptied_or_said_to_say_nothing(
    table: portability.Table,
) -> None:
    assert table.blanks is not None
    columns = {column.name for column in text_columns(table.model)}
    assert columns <= {*table.blanks, *table.keeps}
    people = {
        column.name
        for column in table.model._meta.concrete_fields
        if column.related_model in (Person, File) and column.name not in table.blanks
    }
    # They lead to the person's row, which has no name any more.
    assert people <= {"person", "merged_into"}


def test_a_model_that_says_it_holds_nothing_leads_to_no_person() -> None:
    for model in portability.without_people():
        related = {column.related_model for column in model._meta.concrete_fields}
        assert Person not in related, model


# --- erasing --------------------------------------------------------------------------------------


def test_erased_person_is_in_no_table_file_search_prompt_or_export(
    django_capture_on_commit_callbacks: Any,
) -> None:
    scene = build(with_vectors=True)
    subject = portability.subject_of(scene.person, by="test")
    assert [table.model for table in portability.tables() if not table.rows(subject).exists()] == []
    assert fill(scene.person)
    assert len(places_of(CANARY)) > 40
    assert stored_with(CANARY)

    with django_capture_on_commit_callbacks(execute=True):
        report = portability.erase(scene.person, by="command:test")

    assert report.total > 30
    assert places_of(CANARY) == {}
    assert stored_with(CANARY) == []
    assert File.objects.filter(pk__in=[pk for pk in _files_of(scene.person)]).count() == 0
    for viewer in (scene.viewer(scene.person), scene.viewer(scene.other), scene.in_group):
        found = search(viewer, f"{CANARY} tea", now=NOON).found
        assert not any(CANARY in hit.content.lower() for hit in found)
        assert CANARY not in str(exports.export(viewer)).lower()
        assert CANARY not in str(memory_parts(viewer, thread="session:1/1", now=NOON)).lower()


def _files_of(person: Person) -> list[int]:
    return list(File.objects.filter(person=person).values_list("pk", flat=True))


def test_what_others_said_and_figures_and_the_act_itself_stay() -> None:
    scene = build()
    spent = UsageRecord.objects.count()

    portability.erase(scene.person, by="command:test", reason="asked by letter")

    scene.other_said.refresh_from_db()
    assert scene.other_said.content.text == OTHERS
    # It quoted the erased person.
    assert scene.other_said.context is not None
    assert scene.other_said.context.text == ""
    assert WalEntry.objects.filter(author=scene.other).exists()
    shared = MemoryDocument.objects.get(name="memory/group.md")
    assert shared.text == f"{OTHERS}\n"
    assert any("coffee" in hit.content for hit in search(scene.in_group, "coffee", now=NOON).found)
    scope = MemoryScope.objects.get(chat=scene.chat)
    left = Passage.objects.filter(scope=scope)
    assert scope.passages == left.count() > 0
    assert scope.words == left.aggregate(words=Sum("words"))["words"]
    assert {
        entry >> 15
        for entries in Posting.objects.values_list("entries", flat=True)
        for entry in entries
    } <= set(Passage.objects.values_list("pk", flat=True))
    assert UsageRecord.objects.count() == spent
    scene.person.refresh_from_db()
    assert scene.person.display_name == f"person:{scene.person.pk}"
    assert scene.person.user is None
    assert not Identity.objects.filter(person=scene.person).exists()
    act = AuditEvent.objects.get(action="person.erased")
    assert (act.subject, act.reason, act.actor) == (
        f"person:{scene.person.pk}",
        "asked by letter",
        "command:test",
    )


def test_what_agents_repeated_to_others_goes_and_what_others_said_themselves_stays() -> None:
    scene = build()
    private = factories.chat_session(agent=scene.agent, person=scene.other)
    told = []
    for session in (scene.group, private):
        turn = factories.turn(session=session, viewer_person_id=scene.other.pk)
        same = factories.content(team=scene.agent.team, text=person_scene.SAID)
        message = factories.inbound_message(
            session=session, turn=turn, person=scene.other, content=same
        )
        answer = factories.content(
            team=scene.agent.team, text=factories.reply_text(f"She said: {person_scene.SAID}")
        )
        factories.turn_step(turn=turn, content=answer)
        told.append((message, answer))

    portability.erase(scene.person, by="command:test")

    for message, answer in told:
        message.refresh_from_db()
        answer.refresh_from_db()
        assert message.content.text == person_scene.SAID
        assert answer.text == ""


def test_what_was_streamed_leaves_redis(django_capture_on_commit_callbacks: Any) -> None:
    scene = build()
    turn = Turn.objects.filter(viewer_person_id=scene.person.pk).latest("pk")
    stream = wire.stream_of(turn.public_id)
    blocking_client().xadd(stream, {"frame": CANARY})
    with django_capture_on_commit_callbacks(execute=True):
        portability.erase(scene.person, by="command:test")
    assert not blocking_client().exists(stream)


def test_erasing_ends_what_is_still_to_be_answered_and_sent() -> None:
    scene = build()
    session = factories.chat_session(agent=scene.agent, person=scene.person)
    turn = factories.turn(session=session, state=Turn.State.RUNNING)
    factories.turn_freeze(turn=turn, prompt=f'{{"x": "{CANARY}"}}')
    waiting = factories.outgoing(turn=factories.turn(session=session), state="queued")

    portability.erase(scene.person, by="command:test")

    turn.refresh_from_db()
    waiting.refresh_from_db()
    session.refresh_from_db()
    assert turn.state == Turn.State.STOPPED
    assert session.lease_token is None
    assert waiting.state == "failed"


def test_trial_tells_the_same_and_changes_nothing() -> None:
    scene = build()
    before = places_of(CANARY)

    trial = portability.erase(scene.person, by="command:test", is_trial=True)

    assert places_of(CANARY) == before
    assert not AuditEvent.objects.filter(action="person.erased").exists()
    assert portability.erase(scene.person, by="command:test").counts == trial.counts


def test_erasing_again_finds_no_text_any_more() -> None:
    scene = build()
    portability.erase(scene.person, by="command:test")

    again = portability.erase(scene.person, by="command:test")

    assert not {count.model for count in again.counts} & {
        WalEntry,
        Passage,
        ChannelContact,
        Identity,
    }
    assert places_of(CANARY) == {}


def test_whoever_was_erased_is_a_new_person_when_they_write_again() -> None:
    scene = build()
    message = InboundMessage.objects.filter(person=scene.person).first()
    assert message is not None

    portability.erase(scene.person, by="command:test")

    again = factories.chat_session(
        agent=scene.agent, account=message.account, peer=message.session.peer
    )
    assert again.person != scene.person


# --- handing over ---------------------------------------------------------------------------------


def unzipped(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_export_has_everything_of_the_person_and_nothing_of_others(tmp_path: Path) -> None:
    scene = build()
    path = tmp_path / "aziza.zip"

    call_command("person", "export", str(scene.person.public_id), str(path), stdout=io.StringIO())

    found = unzipped(path)
    assert path.stat().st_mode & 0o077 == 0
    said = json.loads(found["data/bot_sessions.inboundmessage.json"])
    assert {row["content"] for row in said} == {person_scene.SAID}
    for name in ("agents.person", "memory.walentry", "memory.dailynote", "bot_sessions.turnstep"):
        assert CANARY in found[f"data/{name}.json"].lower(), name
    assert any(name.startswith("files/") for name in found)
    assert "coffee" not in str(found)
    assert "digest" not in str(found)
    assert AuditEvent.objects.get(action="person.exported").subject == f"person:{scene.person.pk}"


def test_command_erases_when_its_person_is_named_again(tmp_path: Path) -> None:
    scene = build()
    said = io.StringIO()
    name = str(scene.person.public_id)
    call_command("person", "erase", name, "--dry-run", stdout=said)
    assert "Nothing was changed" in said.getvalue()
    with pytest.raises(CommandError, match="--yes"):
        call_command("person", "erase", name, stdout=said)
    assert places_of(CANARY)

    call_command("person", "erase", name, "--yes", stdout=said)

    assert "noted facts" in said.getvalue()
    assert places_of(CANARY) == {}


def test_command_knows_no_person_of_that_name() -> None:
    with pytest.raises(CommandError, match="There is no person"):
        call_command("person", "erase", "Nobody", "--yes")
    factories.person(display_name="Two")
    factories.person(display_name="Two")
    with pytest.raises(CommandError, match="Several people"):
        call_command("person", "erase", "Two", "--yes")


def test_bytes_that_the_storage_does_not_give_up_keep_their_row(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = factories.person()
    file = factories.file(team=person.team, person=person)

    def refuse(name: str) -> None:
        raise OSError("read-only")

    with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(default_storage, "delete", refuse)
        portability.erase(person, by="command:test")
    assert File.objects.filter(pk=file.pk).exists()

    with django_capture_on_commit_callbacks(execute=True):
        portability.erase(person, by="command:test")
    assert not File.objects.filter(pk=file.pk).exists()


def test_nobody_else_is_touched() -> None:
    scene = build()
    before = InboundMessage.objects.filter(person=scene.other).values().get()

    portability.erase(scene.person, by="command:test")

    assert InboundMessage.objects.filter(person=scene.other).values().get() == before
