"""Files in the web chat and over REST: brought once, sent once, fetched by nobody else."""

import io
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import PIL.Image
import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as HttpClient
from django.urls import reverse
from django.utils import timezone

from agents.models import AuditEvent, File, Membership, Person
from agents.services import files, people
from sessions import attachments as fetching
from sessions import conversations, file_words, sent_files, tidying, uploads
from sessions.models import Attachment, ChannelAccount, ChatSession, Outgoing, Turn, TurnStep
from tests import factories
from tests.sessions.channels import rest_rows
from tests.sessions.channels.rest_rows import Client
from tests.sessions.channels.webchat_rows import Someone, Tab, make_someone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def someone() -> Someone:
    return make_someone()


@pytest.fixture
def program() -> Client:
    return rest_rows.make_client()


def picture() -> bytes:
    written = io.BytesIO()
    PIL.Image.new("RGB", (8, 8), "teal").save(written, "PNG")
    return written.getvalue()


def bring(
    someone: Someone,
    name: str = "notes.txt",
    content: bytes = b"hello",
    declared: str = "text/plain",
) -> Any:
    """Upload a file as the page does."""
    form = {
        "agent": str(someone.agent.public_id),
        "file": SimpleUploadedFile(name, content, declared),
    }
    return someone.client.post("/chat/files/", form)


def body_of(answer: Any) -> bytes:
    """Return the bytes of an answer that comes piece by piece."""

    async def collect() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(collect)()


async def say(someone: Someone, *ids: str, text: str = "Read it", key: str = "k1") -> Any:
    """Send a message with files, and return what the socket says."""
    async with Tab(someone.cookie) as tab:
        await tab.say(
            type="send",
            key=key,
            text=text,
            files=list(ids),
            agent=someone.agent.public_id,
            thread="0190a0a0-0000-7000-8000-000000000000",
        )
        return await tab.hear("accepted", "refused")


def sent(someone: Someone, *ids: str, **words: str) -> Any:
    return async_to_sync(say)(someone, *ids, **words)


# --- bringing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "declared", "kind", "media_type"),
    [
        ("a.bin", picture(), "application/x-anything", "photo", "image/png"),
        ("a.png", b"<script>", "image/png", "document", "application/octet-stream"),
        ("a.MD", b"# Hi", "", "document", "text/markdown"),
        ("a.ogg", b"OggS", "audio/ogg; codecs=opus", "audio", "audio/ogg"),
        ("a.mp4", b"....", "video/mp4", "video", "video/mp4"),
        ("a.pdf", b"%PDF", "application/pdf", "document", "application/pdf"),
        ("a.zip", b"PK", "nonsense\n", "document", "application/octet-stream"),
    ],
)
def test_a_file_is_known_by_its_beginning_and_ending_before_its_word(
    someone: Someone, name: str, content: bytes, declared: str, kind: str, media_type: str
) -> None:
    answer = bring(someone, name, content, declared)
    assert answer.status_code == 201
    assert answer.json()["kind"] == kind
    file = File.objects.get(public_id=answer.json()["id"])
    person = people.person_of(someone.user, someone.team)
    assert (file.media_type, file.person, file.origin) == (
        media_type,
        person,
        f"upload:person:{person.pk}",
    )
    assert files.read(file) == content


def test_a_name_is_cleaned_and_a_large_file_is_kept_whole(someone: Someone) -> None:
    # Beyond what Django keeps in memory: it comes by a file on disk.
    content = bytes(range(256)) * 12_000
    answer = bring(someone, "..\\a\u202eb.bin", content, "application/x-b")
    assert answer.json()["name"] == "ab.bin"
    file = File.objects.get()
    assert files.read(file) == content
    assert file.size_bytes == len(content)
    assert file.sha256.startswith(file.content.name.rpartition("/")[2][:16])


@pytest.mark.parametrize(
    ("content", "limit", "status", "code"),
    [(b"", 10, 422, "empty"), (b"x" * 11, 10, 413, "too_large")],
)
def test_what_is_empty_or_too_large_is_refused_in_words(
    someone: Someone,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    limit: int,
    status: int,
    code: str,
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", limit)
    answer = bring(someone, "a.bin", content)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["text"].endswith(".")
    assert not File.objects.exists()


def test_whoever_uploads_without_sending_is_held_up(
    someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_WAITING", 1)
    assert bring(someone).status_code == 201
    assert (bring(someone).status_code, File.objects.count()) == (429, 1)


def test_only_who_may_talk_to_the_agent_uploads_from_our_page(someone: Someone) -> None:
    stranger = make_someone("stranger")
    form = {"agent": str(someone.agent.public_id), "file": SimpleUploadedFile("a", b"x")}
    assert stranger.client.post("/chat/files/", form).status_code == 404
    assert HttpClient().post("/chat/files/", form).status_code == 302
    strict = HttpClient(enforce_csrf_checks=True)
    strict.force_login(someone.user)
    form["file"] = SimpleUploadedFile("a", b"x")
    assert strict.post("/chat/files/", form).status_code == 403
    assert someone.client.post("/chat/files/", {"agent": "x"}).status_code == 404
    assert someone.client.post("/chat/files/", {"agent": form["agent"]}).status_code == 422
    assert not File.objects.exists()


# --- sending -------------------------------------------------------------------------------------


def test_a_message_has_its_files_in_order_and_they_wait_for_the_worker(someone: Someone) -> None:
    first, second = bring(someone).json()["id"], bring(someone, "a.png", picture()).json()["id"]
    accepted = sent(someone, second, first)
    rows = list(Attachment.objects.order_by("number"))
    assert [(row.kind, row.state) for row in rows] == [
        ("photo", "waiting"),
        ("document", "waiting"),
    ]
    assert [str(row.file.public_id) for row in rows if row.file] == [second, first]
    assert {row.file.origin for row in rows if row.file} == {rows[0].message.ref}
    shown = accepted["attachments"]
    assert [each["id"] for each in shown] == [second, first]
    assert (shown[0]["preview"], shown[1]["preview"]) == (second, None)


def test_files_alone_are_a_message_and_none_is_a_command(someone: Someone) -> None:
    assert sent(someone, bring(someone).json()["id"], text="")["type"] == "accepted"
    with_command = sent(someone, bring(someone).json()["id"], text="/new", key="k2")
    assert with_command["is_over"] is False
    assert sent(someone, text=" ", key="k3")["code"] == "empty"


def test_a_message_that_is_sent_again_is_the_same_one(someone: Someone) -> None:
    brought = bring(someone).json()["id"]
    first, again = sent(someone, brought), sent(someone, brought)
    assert first["message"] == again["message"]
    assert again["attachments"] == first["attachments"]
    assert sent(someone)["code"] == "key_reused"


def test_a_file_is_sent_once_by_its_uploader_only(someone: Someone) -> None:
    colleague = make_someone("colleague", team=someone.team)
    brought = bring(someone).json()["id"]
    assert sent(colleague, brought)["code"] == "files_gone"
    assert sent(someone, str(uuid4()), key="k2")["code"] == "files_gone"
    assert sent(someone, brought, key="k3")["type"] == "accepted"
    assert sent(someone, brought, key="k4")["code"] == "files_gone"
    assert Turn.objects.count() == 1
    assert ChatSession.objects.count() == 1


def test_more_than_ten_files_are_no_message(someone: Someone) -> None:
    brought = [str(uuid4()) for _ in range(11)]
    assert sent(someone, *brought)["code"] == "malformed"


def test_what_nobody_sent_is_forgotten_after_a_day(someone: Someone) -> None:
    old, kept, new = (bring(someone).json()["id"] for _ in range(3))
    sent(someone, kept)
    long_ago = timezone.now() - timedelta(days=1, minutes=1)
    File.objects.exclude(public_id=new).update(created_at=long_ago)
    content = File.objects.get(public_id=old).content
    tidying.forget_old()
    assert set(map(str, File.objects.values_list("public_id", flat=True))) == {kept, new}
    assert not content.storage.exists(content.name)


# --- fetching ------------------------------------------------------------------------------------


def test_a_file_is_saved_and_a_picture_may_be_shown(someone: Someone) -> None:
    text = bring(someone, "Ҳисобот.html", b"<script>", "text/html").json()["id"]
    shown = bring(someone, "a.png", picture()).json()["id"]
    sent(someone, text, shown)
    answer = someone.client.get(f"/chat/files/{text}/?inline")
    disposition = "attachment; filename*=utf-8''%D2%B2%D0%B8%D1%81%D0%BE%D0%B1%D0%BE%D1%82.html"
    assert answer["Content-Disposition"] == disposition
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert "no-store" in answer["Cache-Control"]
    assert (body_of(answer), answer["Content-Length"]) == (b"<script>", "8")
    inline = someone.client.get(f"/chat/files/{shown}/?inline")
    assert inline["Content-Disposition"].startswith("inline")
    assert (inline["Content-Type"], body_of(inline)) == ("image/png", picture())
    saved = someone.client.get(f"/chat/files/{shown}/")
    assert saved["Content-Disposition"].startswith("attachment")
    body_of(saved)


def test_nobody_else_fetches_it_and_what_waits_is_nobodys(someone: Someone) -> None:
    colleague = make_someone("colleague", team=someone.team)
    brought = bring(someone).json()["id"]
    address = f"/chat/files/{brought}/"
    assert someone.client.get(address).status_code == 404
    sent(someone, brought)
    assert colleague.client.get(address).status_code == 404
    assert HttpClient().get(address).status_code == 302
    assert someone.client.get(f"/chat/files/{uuid4()}/").status_code == 404
    body_of(someone.client.get(address))
    content = File.objects.get().content
    content.storage.delete(content.name)
    assert someone.client.get(address).status_code == 404


def answered_with_file(person: Person, agent: Any, channel: str) -> tuple[Turn, File]:
    """Make a turn whose answer sent a file."""
    session = conversations.open_direct(
        agent=agent,
        account=conversations.channel_account(agent.team, ChannelAccount.Channel(channel)),
        person=person,
        thread="files",
    )
    turn = factories.turn(session=session, state=Turn.State.ANSWERED)
    for number, attempt in ((1, 1), (2, 2)):
        factories.turn_step(
            turn=turn,
            number=number,
            attempt=attempt,
            kind=TurnStep.Kind.TOOL,
            name="send_file",
            call_id="c1",
        )
    file = sent_files.make(session, "report.csv", "a,b", turn=turn.ref, call_id="c1")
    sent_files.send(session, file, caption="Here", turn=turn.ref, call_id="c1")
    return turn, file


def test_what_an_answer_sent_is_shown_with_it_and_fetched(someone: Someone) -> None:
    person = people.person_of(someone.user, someone.team)
    turn, file = answered_with_file(person, someone.agent, "webchat")

    async def opened() -> Any:
        async with Tab(someone.cookie) as tab:
            await tab.say(type="open", conversation=turn.session.public_id)
            return await tab.hear("opened")

    [shown] = async_to_sync(opened)()["turns"][-1]["files"]
    assert (shown["id"], shown["name"], shown["size_bytes"], shown["caption"]) == (
        str(file.public_id),
        "report.csv",
        3,
        "Here",
    )
    assert body_of(someone.client.get(f"/chat/files/{shown['id']}/")) == b"a,b"


def test_every_reason_has_its_words() -> None:
    codes = {
        *(fetching.TOO_LARGE, fetching.UNREACHABLE, fetching.NO_HEARING),
        *(fetching.NOT_HEARD, fetching.CAP),
    }
    assert codes == set(file_words.TROUBLES)


# --- over REST -----------------------------------------------------------------------------------


def upload(client: HttpClient, program: Client, content: bytes = b"hello", **form: Any) -> Any:
    form = form or {"file": SimpleUploadedFile("notes.txt", content, "text/plain")}
    return client.post("/api/v1/files", form, headers=program.headers)


def post(client: HttpClient, program: Client, **message: Any) -> Any:
    return client.post(
        f"/api/v1/agents/{program.agent.public_id}/messages",
        json.dumps(message),
        content_type="application/json",
        headers=program.headers,
    )


def test_a_program_brings_a_file_says_it_and_reads_it_back(
    client: HttpClient, program: Client
) -> None:
    brought = upload(client, program)
    assert brought.status_code == 201
    file_id = brought.json()["id"]
    assert client.get(f"/api/v1/files/{file_id}", headers=program.headers).status_code == 404
    posted = post(client, program, text="", files=[file_id])
    assert posted.status_code == 202
    conversation = posted.json()["turn"]["conversation"]
    page = client.get(f"/api/v1/conversations/{conversation}/transcript", headers=program.headers)
    [attachment] = page.json()["items"][0]["attachments"]
    assert attachment["id"] == file_id
    assert (attachment["kind"], attachment["name"]) == ("document", "notes.txt")
    assert (attachment["state"], attachment["error"]) == ("waiting", "")
    answer = client.get(f"/api/v1/files/{file_id}", headers=program.headers)
    assert answer["Content-Disposition"] == 'attachment; filename="notes.txt"'
    assert body_of(answer) == b"hello"
    again = post(client, program, text="Again", files=[file_id])
    assert (again.status_code, again.json()["code"]) == (422, "files_gone")


def test_what_an_agent_sent_is_named_by_turn_and_transcript(
    client: HttpClient, program: Client
) -> None:
    turn, file = answered_with_file(program.person, program.agent, "rest")
    content = factories.content(team=program.team, text="sent")
    factories.transcript_entry(
        generation=turn.generation,
        turn=turn,
        role="tool",
        tool_call_id="c1",
        tool_name="send_file",
        content=content,
    )
    read = client.get(f"/api/v1/turns/{turn.public_id}", headers=program.headers).json()
    assert [each["id"] for each in read["files"]] == [str(file.public_id)]
    page = client.get(
        f"/api/v1/conversations/{turn.session.public_id}/transcript", headers=program.headers
    ).json()
    assert page["items"][-1]["files"] == read["files"]
    answer = client.get(f"/api/v1/files/{file.public_id}", headers=program.headers)
    assert body_of(answer) == b"a,b"
    assert Outgoing.objects.get().state == Outgoing.State.SENT


def test_problems_with_files_are_problems(
    client: HttpClient, program: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert upload(client, program, file="text").json()["code"] == "invalid"
    assert upload(client, program, b"").json()["code"] == "file_refused"
    monkeypatch.setattr(uploads, "MOST_WAITING", 0)
    assert upload(client, program).status_code == 429
    monkeypatch.setattr(files, "MAX_BYTES", 3)
    assert upload(client, program).json()["code"] == "body_too_large"
    assert client.post("/api/v1/files").status_code == 401
    broken = client.post(
        "/api/v1/files",
        b"--x\r\nnothing",
        content_type="multipart/form-data; boundary=",
        headers=program.headers,
    )
    assert (broken.status_code, broken.json()["code"]) == (400, "malformed_body")


def test_a_foreign_file_is_missing_and_asking_is_written_down(
    client: HttpClient, program: Client
) -> None:
    stranger = rest_rows.make_client("Stranger")
    file_id = upload(client, program).json()["id"]
    post(client, program, text="Read", files=[file_id])
    answer = client.get(f"/api/v1/files/{file_id}", headers=stranger.headers)
    assert answer.status_code == 404
    assert AuditEvent.objects.get(action="api.foreign_id").subject == f"file:{file_id}"
    taken = post(client, stranger, text="Mine", files=[file_id])
    assert taken.json()["code"] == "files_gone"


# --- in the admin --------------------------------------------------------------------------------


def test_names_and_words_of_files_are_as_private_as_the_message(someone: Someone) -> None:
    sent(someone, bring(someone, "diagnosis.ogg", b"OggS", "audio/ogg").json()["id"])
    row = Attachment.objects.get()
    row.transcript = factories.content(team=someone.team, text="It is measles")
    row.state, row.error = Attachment.State.FAILED, "not_heard"
    row.save()
    page = reverse("admin:bot_sessions_inboundmessage_change", args=[row.message_id])
    owner = make_someone("boss", team=someone.team)
    for user, is_shown in ((owner, False), (someone, True)):
        Membership.objects.filter(user=user.user).update(role=Membership.Role.OWNER)
        answer = user.client.get(page)
        content = answer.content.decode()
        assert answer.status_code == 200
        assert ("diagnosis.ogg" in content, "measles" in content) == (is_shown, is_shown)
        assert "It could not be turned into text." in content
