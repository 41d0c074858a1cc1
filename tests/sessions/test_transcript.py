"""What people are shown of a turn."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from agents.core.messages import (
    AssistantMessage,
    Reply,
    TextBlock,
    ToolCall,
    Usage,
    dump_reply,
)
from memory import wal
from sessions import conversations, inbox, transcript
from sessions.models import ChannelAccount, ChatSession, Content, TranscriptEntry, Turn, TurnStep
from sessions.transcript import ShownText, ShownTool
from tests.sessions.channels.rest_rows import make_client

pytestmark = pytest.mark.django_db


@pytest.fixture
def session() -> ChatSession:
    someone = make_client()
    return conversations.open_direct(
        agent=someone.agent,
        account=conversations.channel_account(someone.team, ChannelAccount.Channel.WEBCHAT),
        person=someone.person,
        thread="t",
    )


def ask(session: ChatSession, text: str) -> Turn:
    assert session.person is not None
    inbound = inbox.Inbound(
        text=text,
        sender=f"person:{session.person.public_id}",
        external_id=uuid.uuid4().hex,
        person=session.person,
    )
    return inbox.accept(inbound, session=session).turn


def write(turn: Turn, role: str, text: str, **columns: object) -> TranscriptEntry:
    content = Content.objects.create(team_id=turn.session.team_id, text=text)
    return TranscriptEntry.objects.create(
        generation=turn.generation,
        turn=turn,
        role=role,
        content=content,
        created_at=timezone.now(),
        **columns,
    )


def reply(*blocks: TextBlock | ToolCall) -> str:
    return dump_reply(Reply(AssistantMessage(blocks), "end", Usage(), "fake-1"))


def end(turn: Turn, state: str = Turn.State.ANSWERED, **columns: object) -> transcript.ShownTurn:
    Turn.objects.filter(pk=turn.pk).update(state=state, committed_at=timezone.now(), **columns)
    (shown,) = transcript.shown([Turn.objects.get(pk=turn.pk)])
    return shown


def test_unfinished_turn_shows_its_messages_though_the_transcript_has_none(
    session: ChatSession,
) -> None:
    turn = ask(session, "My name is Sardor")
    (shown,) = transcript.shown([turn])
    assert [message.text for message in shown.messages] == ["My name is Sardor"]
    assert shown.messages[0].noted
    assert not shown.is_over
    assert shown.parts == ()


def test_sentence_noted_for_two_reasons_is_shown_once(session: ChatSession) -> None:
    turn = ask(session, "My name is Sardor and I prefer short answers.")
    (shown,) = transcript.shown([turn])
    assert len(shown.messages[0].noted) == len(set(shown.messages[0].noted))


def test_what_was_taken_back_says_so(session: ChatSession) -> None:
    turn = ask(session, "My name is Sardor")
    wal.retract(turn.messages.get().ref, "My name is Sardor", turn.viewer)
    (shown,) = transcript.shown([turn])
    (noted,) = shown.messages[0].noted
    assert noted.is_undone
    assert noted.words == "forgotten: My name is Sardor"


@pytest.mark.parametrize(
    ("state", "can_retry"),
    [("answered", False), ("stopped", False), ("ended", True), ("failed", True)],
)
def test_only_what_went_wrong_can_be_tried_again(
    session: ChatSession, state: str, can_retry: bool
) -> None:
    assert end(ask(session, "Hi"), state).can_retry is can_retry


def test_answer_keeps_the_order_of_text_and_tools(session: ChatSession) -> None:
    turn = ask(session, "When?")
    call = ToolCall("c1", "current_time")
    write(turn, "user", "When?")
    write(turn, "assistant", reply(TextBlock("Let me look."), call))
    write(turn, "tool", "12:00", tool_call_id="c1", tool_name="current_time")
    write(turn, "assistant", reply(TextBlock("At **noon**.")))
    started = timezone.now()
    TurnStep.objects.create(
        turn=turn,
        number=1,
        kind=TurnStep.Kind.TOOL,
        name="current_time",
        call_id="c1",
        attempt=1,
        started_at=started,
        finished_at=started + timedelta(seconds=1.5),
    )
    shown = end(turn)
    assert shown.parts == (
        ShownText(html="<p>Let me look.</p>\n", is_partial=False),
        ShownTool(call="c1", name="current_time", state="done", seconds=1.5),
        ShownText(html="<p>At <strong>noon</strong>.</p>\n", is_partial=False),
    )


def test_reply_of_calls_alone_shows_no_empty_text(session: ChatSession) -> None:
    turn = ask(session, "When?")
    write(turn, "assistant", reply(ToolCall("c1", "current_time")))
    write(turn, "tool", "no", tool_call_id="c1", tool_name="current_time", is_error=True)
    (part,) = end(turn).parts
    assert part == ShownTool(call="c1", name="current_time", state="error", seconds=None)


def test_stopped_answer_is_marked(session: ChatSession) -> None:
    turn = ask(session, "Count")
    write(turn, "assistant", reply(TextBlock("one, tw")), is_partial=True)
    shown = end(turn, Turn.State.STOPPED)
    assert shown.state == "stopped"
    assert shown.parts == (ShownText(html="<p>one, tw</p>\n", is_partial=True),)


def test_failed_turn_says_why_in_the_platforms_words(session: ChatSession) -> None:
    shown = end(
        ask(session, "Hi"), Turn.State.FAILED, notice={"v": 1, "code": "rate_limit", "values": {}}
    )
    assert shown.notice is not None
    assert "limit" in shown.notice


def test_failed_turn_without_a_reason_says_something_all_the_same(session: ChatSession) -> None:
    assert end(ask(session, "Hi"), Turn.State.FAILED).notice


def test_earlier_generations_are_shown_too_and_other_sessions_are_not(
    session: ChatSession,
) -> None:
    first = ask(session, "one")
    generation = first.generation
    generation.closed_at = timezone.now()
    generation.save()
    session.generations.create(number=2)
    second = ask(session, "two")
    other = conversations.open_direct(
        agent=session.agent,
        account=session.account,
        person=session.person,  # type: ignore[arg-type]  # the fixture gives one
        thread="other",
    )
    ask(other, "elsewhere")
    page = transcript.page(session)
    assert [turn.id for turn in page.turns] == [first.public_id, second.public_id]
    assert not page.has_earlier


def test_a_page_costs_the_same_however_many_turns_it_has(
    session: ChatSession, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        turn = ask(session, f"My name is Sardor {number}")
        write(turn, "assistant", reply(TextBlock("Hello")))
        Turn.objects.filter(pk=turn.pk).update(state=Turn.State.ANSWERED)
    with django_assert_max_num_queries(7):
        assert len(transcript.page(session).turns) == 5
