"""The conversation before a turn: a question that was asked again stands there once."""

import uuid

import pytest

from agents.core.messages import AssistantMessage, UserMessage
from sessions import conversations, inbox
from sessions.models import ChannelAccount, ChatSession, Turn
from sessions.turns import history
from tests.sessions.channels.rest_rows import end, make_client

pytestmark = pytest.mark.django_db
FAILED = Turn.State.FAILED


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
    inbound = inbox.Inbound(
        text=text, sender="person:1", external_id=uuid.uuid4().hex, person=session.person
    )
    return inbox.accept(inbound, session=session).turn


def before(turn: Turn) -> list[str]:
    """Return what the model is shown of the time before a turn; the same at each attempt."""
    own = history.of_turn(turn)
    chosen = history.chosen(turn, own, window_tokens=32_000)
    if chosen.first_id is not None:
        assert history.since(turn, own, first_id=chosen.first_id) == chosen.messages
    return [
        message.text
        for message in chosen.messages
        if isinstance(message, UserMessage | AssistantMessage)
    ]


def test_failed_question_asked_again_is_shown_once(session: ChatSession) -> None:
    end(ask(session, "Hello"), "Hi.")
    end(ask(session, "What time is it?"), state=FAILED)
    assert before(ask(session, "What time is it?")) == ["Hello", "Hi."]


def test_it_may_fail_more_than_once(session: ChatSession) -> None:
    end(ask(session, "What time is it?"), state=FAILED)
    end(ask(session, "What time is it?"), state=Turn.State.STOPPED)
    assert before(ask(session, "What time is it?")) == []


def test_it_stays_out_later_too(session: ChatSession) -> None:
    end(ask(session, "What time is it?"), state=FAILED)
    end(ask(session, "What time is it?"), "Noon.")
    assert before(ask(session, "Thanks")) == ["What time is it?", "Noon."]


def test_failed_question_that_is_not_asked_again_stays(session: ChatSession) -> None:
    end(ask(session, "What time is it?"), state=FAILED)
    assert before(ask(session, "Never mind")) == ["What time is it?"]


def test_answered_question_asked_again_stays(session: ChatSession) -> None:
    end(ask(session, "A joke, please"), "Knock knock.")
    assert before(ask(session, "A joke, please")) == ["A joke, please", "Knock knock."]


def test_half_an_answer_is_not_left_out(session: ChatSession) -> None:
    end(ask(session, "A poem, please"), "Roses are", state=Turn.State.ENDED)
    assert before(ask(session, "A poem, please")) == ["A poem, please", "Roses are"]
