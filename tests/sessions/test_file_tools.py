"""What an agent does with files: reading what came, and sending what it made."""

import asyncio

import pytest

from agents.core.tooling import ToolContext, ToolRefused
from agents.models import File
from agents.services import files
from agents.tools import registry
from sessions.inbox import viewer_of
from sessions.models import Attachment, ChannelAccount, ChatSession, Outgoing
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session() -> ChatSession:
    """A conversation in a bot's private chat."""
    account = factories.telegram_account()
    person = factories.person(team=account.team)
    return factories.chat_session(
        agent=account.agent, account=account, person=person, peer="4711", thread=""
    )


def brought(session: ChatSession, name: str, content: bytes, media_type: str = "") -> File:
    """Keep a file that came in a conversation."""
    message = factories.inbound_message(session=session)
    file = files.store(
        content,
        name=name,
        media_type=media_type,
        team_id=session.team_id,
        person_id=session.person_id,
        origin=message.ref,
    )
    factories.attachment(message=message, file=file, kind=Attachment.Kind.DOCUMENT)
    return file


def call(session: ChatSession, tool: str, call_id: str = "c1", **arguments: object) -> str:
    """Let the model call a tool in a conversation's turn 81."""
    found = registry.get(tool)
    assert found is not None
    context = ToolContext(
        viewer=viewer_of(session),
        agent=f"agent:{session.agent_id}",
        session=f"session:{session.pk}",
        turn="turn:81",
        call_id=call_id,
        time_zone="UTC",
        timeout_s=5,
    )

    async def run() -> str:
        return await found.run(found.arguments.model_validate(arguments), context)

    return asyncio.run(run())


def test_files_are_listed_read_by_number_and_name_and_a_part_at_a_time(
    session: ChatSession,
) -> None:
    assert call(session, "read_file") == "No file came in this conversation."
    brought(session, "plan.md", b"# Plan\n", "text/markdown")
    brought(session, "long.txt", "ў".encode() * 20_000)
    assert call(session, "read_file").splitlines() == [
        "1. plan.md (text/markdown, 7 bytes)",
        "2. long.txt (application/octet-stream, 40000 bytes)",
    ]
    assert call(session, "read_file", file="1").endswith("\n\n# Plan\n")
    assert call(session, "read_file", file="PLAN.md").endswith("# Plan\n")
    head, _, shown = call(session, "read_file", file="long.txt", offset=15_000).partition("\n\n")
    assert '"of": 20000' in head
    assert shown == "ў" * 5_000


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "Қаноат".encode("utf-16"), "Қаноат"),
        ("b.csv", "имя;город".encode("cp1251"), "имя;город"),
        ("c.json", b"\xef\xbb\xbf{}", "{}"),
    ],
)
def test_common_encodings_are_read(
    session: ChatSession, name: str, content: bytes, expected: str
) -> None:
    brought(session, name, content)
    assert call(session, "read_file", file=name).endswith(f"\n\n{expected}")


@pytest.mark.parametrize(("name", "content"), [("a.pdf", b"%PDF"), ("b.txt", b"\x00\x01")])
def test_what_is_no_text_is_refused(session: ChatSession, name: str, content: bytes) -> None:
    brought(session, name, content)
    with pytest.raises(ToolRefused):
        call(session, "read_file", file=name)


def test_files_of_another_conversation_do_not_exist(session: ChatSession) -> None:
    other = factories.chat_session(agent=session.agent, account=session.account, peer="9")
    brought(other, "secret.txt", b"secret", "text/plain")
    for wanted in ("secret.txt", "1"):
        with pytest.raises(ToolRefused, match="No file"):
            call(session, "read_file", file=wanted)


def test_a_file_is_made_and_sent_once_however_often_the_call_is_repeated(
    session: ChatSession,
) -> None:
    for _ in range(2):
        call(session, "send_file", name="report.csv", text="a,b", caption="Here")
    outgoing = Outgoing.objects.get()
    assert (outgoing.kind, outgoing.state) == (Outgoing.Kind.FILE, Outgoing.State.QUEUED)
    assert (outgoing.peer, outgoing.account) == ("4711", session.account)
    assert outgoing.content is not None
    assert outgoing.content.text == "Here"
    file = File.objects.get()
    assert outgoing.file == file
    assert (file.name, file.media_type, files.read(file)) == ("report.csv", "text/csv", b"a,b")
    call(session, "send_file", "c2", name="report.csv", text="c,d")
    assert Outgoing.objects.count() == 2


def test_a_file_that_came_is_sent_back(session: ChatSession) -> None:
    file = brought(session, "plan.md", b"# Plan\n", "text/markdown")
    call(session, "send_file", name="plan.md")
    assert Outgoing.objects.get().file == file


def test_in_a_chat_that_people_read_themselves_it_is_there_at_once(session: ChatSession) -> None:
    ChannelAccount.objects.filter(pk=session.account_id).update(channel="webchat")
    call(session, "send_file", name="report.csv", text="a,b")
    sent = Outgoing.objects.get()
    assert sent.state == Outgoing.State.SENT
    assert sent.sent_at is not None
