"""Whole turns on Telegram, as the Bot API sees them: which calls, in which order, with what."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count, pairwise

import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.core.tooling import ToolContext
from agents.models import ToolGrant
from agents.tools import registry
from sessions.channels.telegram import buttons, limits, outlet, sending, showing, tokens
from sessions.inbox import Inbound, accept
from sessions.models import (
    ChannelAccount,
    ChatSession,
    Generation,
    InboundMessage,
    Outgoing,
    OutgoingPart,
    Turn,
)
from sessions.turns import stopping
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import CallTool, Say, SendError, Silence, answer
from tests.fakes.telegram import TOKEN, Call, FakeTelegram, Fault, too_many
from tests.sessions.channels.telegram.incoming import Wire, user
from tests.sessions.conftest import Scene, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PRIVATE = 7
GROUP = -1_000_000_000_007
_keys = count(1)
# As they are outside of tests.
REAL_EDIT_S, REAL_TYPING_S = showing.EDIT_S, showing.TYPING_S


@dataclass(slots=True)
class Talk:
    """One bot on the fake server, and a way to ask it something."""

    scene: Scene
    server: FakeTelegram
    account: ChannelAccount

    def session(self, chat: int, thread: str = "") -> ChatSession:
        kind = ChatSession.Kind.DIRECT if chat > 0 else ChatSession.Kind.GROUP
        session, is_new = ChatSession.objects.get_or_create(
            agent=self.scene.agent,
            account=self.account,
            kind=kind,
            peer=str(chat),
            thread=thread,
            defaults={
                "team": self.account.team,
                "person": self.scene.person if chat > 0 else None,
                "chat": None if chat > 0 else factories.chat(team=self.account.team),
            },
        )
        if is_new:
            Generation.objects.create(session=session)
        return session

    def ask(self, chat: int, text: str = "Hello", *, thread: str = "", message: str = "") -> Turn:
        inbound = Inbound(
            text=text,
            sender=f"telegram:{chat}",
            external_id=str(next(_keys)),
            person=self.scene.person,
            channel_message_id=message,
        )
        return accept(inbound, session=self.session(chat, thread)).turn

    def wait_for(self, turn: Turn, state: str = Outgoing.State.SENT) -> Outgoing:
        wait_until(lambda: Outgoing.objects.filter(turn=turn, state=state).exists(), timeout_s=20)
        return Outgoing.objects.get(turn=turn)

    def calls(self, chat: int, *, typing: bool = False) -> list[Call]:
        return [
            call
            for call in self.server.called(chat=chat)
            if typing or call.method != "sendChatAction"
        ]

    def course(self, chat: int) -> list[tuple[str, object]]:
        """Return what a chat saw: methods with their texts."""
        return [(call.method, call.params.get("text")) for call in self.calls(chat)]


@pytest.fixture
def talk(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    # A worker does so when it starts; here a turn might be over first.
    outlet.warm()
    # Looking through its thousands of classes after every test takes a second.
    gc.freeze()
    monkeypatch.setattr(showing, "DRAFT_S", 0.05)
    monkeypatch.setattr(showing, "EDIT_S", 0.05)
    monkeypatch.setattr(showing, "STOP_AFTER_S", 60.0)
    monkeypatch.setattr(showing, "_without_drafts", {})
    monkeypatch.setattr(sending, "_without_rich", {})
    monkeypatch.setattr(limits.PACER, "_silent_until", {})
    monkeypatch.setattr(limits.PACER, "_chats", {})
    with FakeTelegram() as server:
        account = factories.telegram_account(
            team=scene.agent.team,
            agent=scene.agent,
            base_url=server.base_url,
            may_reach_private=True,
            sealed_token=tokens.seal_token(TOKEN),
        )
        yield Talk(scene, server, account)
        server.assert_done()


def growing(text: str, pieces: int, interval_s: float = 0.08) -> Say:
    return Say(text, chunks=pieces, interval_s=interval_s)


def test_golden_stream_drafts_grow_under_one_number_and_the_answer_is_a_message(
    talk: Talk, worker: Worker
) -> None:
    # The model thinks before it writes.
    talk.scene.fake.play(answer(Silence(0.5), growing("Some **bold** words for you.", 4)))
    turn = talk.ask(PRIVATE)
    row = talk.wait_for(turn)
    assert talk.calls(PRIVATE, typing=True)[0].method == "sendChatAction"
    *drafts, final = talk.calls(PRIVATE)
    assert len(drafts) >= 2
    assert {call.method for call in drafts} == {"sendMessageDraft"}
    assert {call.params["draft_id"] for call in drafts} == {turn.pk}
    assert all(call.params["can_stop"] for call in drafts)
    shown = [call.params["text"] for call in drafts]
    assert shown == sorted(shown, key=len)
    assert final.method == "sendMessage"
    assert final.params["text"] == "Some bold words for you."
    assert final.params["entities"] == [{"type": "bold", "offset": 5, "length": 4}]
    assert final.params["link_preview_options"] == {"is_disabled": True}
    assert "reply_parameters" not in final.params
    part = OutgoingPart.objects.get(outgoing=row)
    assert part.external_id == str(final.result)
    turn.refresh_from_db()
    assert turn.delivered_at is not None


def test_golden_partial_one_message_that_is_edited_and_replies_to_the_question(
    talk: Talk, worker: Worker
) -> None:
    talk.scene.fake.play(answer(growing("Some **bold** words for you.", 4)))
    turn = talk.ask(GROUP, message="77")
    talk.wait_for(turn)
    first, *edits = talk.calls(GROUP)
    assert first.method == "sendMessage"
    assert first.params["reply_parameters"] == {
        "message_id": 77,
        "allow_sending_without_reply": True,
    }
    assert {call.method for call in edits} == {"editMessageText"}
    assert {call.params["message_id"] for call in edits} == {first.result}
    assert edits[-1].params["text"] == "Some bold words for you."
    assert talk.server.texts(GROUP) == ["Some bold words for you."]


def test_golden_blocked_typing_then_one_message(talk: Talk, worker: Worker) -> None:
    ChannelAccount.objects.filter(pk=talk.account.pk).update(answer_mode="blocked")
    talk.scene.fake.play(answer(growing("All at once.", 3)))
    talk.wait_for(talk.ask(PRIVATE))
    assert talk.course(PRIVATE) == [("sendMessage", "All at once.")]
    assert [call.method for call in talk.calls(PRIVATE, typing=True)] == [
        "sendChatAction",
        "sendMessage",
    ]


def test_drafts_rest_while_a_tool_runs_and_go_on_under_the_same_number(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The next change of the draft is due while the tool runs.
    monkeypatch.setattr(showing, "DRAFT_S", 0.6)
    ran_ns: list[int] = []

    async def slow(arguments: object, context: ToolContext) -> str:
        ran_ns.append(time.monotonic_ns())
        await asyncio.sleep(0.5)
        ran_ns.append(time.monotonic_ns())
        return "12:00"

    clock = registry.get("current_time")
    assert clock is not None
    monkeypatch.setitem(registry._tools, clock.name, replace(clock, run=slow))
    ToolGrant.objects.get_or_create(agent=talk.scene.agent, tool=clock.name)
    talk.scene.fake.play(
        answer("Let me", Silence(0.4), " look.", CallTool(clock.name, {})),
        answer(growing("It is noon.", 4, 0.3)),
    )
    turn = talk.ask(PRIVATE)
    talk.wait_for(turn)
    course = talk.course(PRIVATE)
    assert course[-1] == ("sendMessage", "Let me look.\n\nIt is noon.")
    assert {method for method, _ in course[:-1]} == {"sendMessageDraft"}
    drafts = talk.server.called("sendMessageDraft", chat=PRIVATE)
    assert {call.params["draft_id"] for call in drafts} == {turn.pk}
    began, ended = ran_ns
    assert [call.at_ns < began for call in drafts].count(True) == 1
    assert [call.at_ns > ended for call in drafts].count(True) == len(drafts) - 1 >= 1


def test_edits_are_a_step_apart(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert REAL_EDIT_S >= 1
    monkeypatch.setattr(showing, "EDIT_S", 0.4)
    talk.scene.fake.play(answer(growing("word " * 16, 16, 0.08)))
    talk.wait_for(talk.ask(GROUP))
    # The last one is the answer itself.
    *changes, _ = talk.calls(GROUP)
    gaps = [(b.at_ns - a.at_ns) / 1e9 for a, b in pairwise(changes)]
    assert len(gaps) >= 2
    # The way to the fake is not always as long.
    assert min(gaps) >= 0.3


def test_typing_is_shown_on_and_on_until_there_is_text(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 4 <= REAL_TYPING_S <= 5
    monkeypatch.setattr(showing, "TYPING_S", 0.2)
    talk.scene.fake.play(answer(Silence(1.0), "At last."))
    talk.wait_for(talk.ask(PRIVATE))
    signs = talk.server.called("sendChatAction", chat=PRIVATE)
    gaps = [(b.at_ns - a.at_ns) / 1e9 for a, b in pairwise(signs)]
    assert len(gaps) >= 2
    assert min(gaps) >= 0.1


def test_draft_is_not_refreshed_while_telegram_wants_to_hear_nothing(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "REFRESH_S", 0.3)
    limit = too_many(1, chat_id=PRIVATE, method="sendMessageDraft")
    talk.server.fail(replace(limit, skip=2))
    talk.scene.fake.play(answer(growing("word " * 20, 20, 0.1)))
    talk.wait_for(talk.ask(PRIVATE))
    drafts = talk.server.called("sendMessageDraft", chat=PRIVATE)
    after = drafts[2:]
    assert [call.status for call in after[:2]] == [429, 200]
    assert after[1].at_ns - after[0].at_ns >= 0.9e9


def test_case_queue_2_a_running_worker_leaves_a_turn_alone_for_its_pause(
    talk: Talk, worker: Worker
) -> None:
    pause_s = 0.6
    ChannelAccount.objects.filter(pk=talk.account.pk).update(pause_s=pause_s)
    talk.account.refresh_from_db()
    bot = Wire(talk.account)
    talk.scene.fake.play("All three.")
    for text in "abc":
        bot.say(text, who=user(PRIVATE))
    said_at = timezone.now()
    turn = Turn.objects.get()
    talk.wait_for(turn)
    turn.refresh_from_db()
    assert InboundMessage.objects.filter(turn=turn).count() == 3
    assert turn.claimed_at is not None
    # Counted from the last message, which was a moment before.
    assert turn.claimed_at - said_at > timedelta(seconds=pause_s - 0.2)


def test_case_telegram_stream_1_streaming_into_a_topic_makes_one_message(
    talk: Talk, worker: Worker
) -> None:
    talk.server.api.topics[GROUP] = {5}
    talk.scene.fake.play(answer(growing("One two three four.", 4)))
    talk.wait_for(talk.ask(GROUP, thread="5"))
    calls = talk.calls(GROUP)
    sent = [call for call in calls if call.method == "sendMessage"]
    assert len(sent) == 1
    assert sent[0].params["message_thread_id"] == 5
    assert {c.params["message_id"] for c in calls if c is not sent[0]} == {sent[0].result}


def test_case_telegram_stream_3_a_text_that_outgrows_a_message_is_shown_by_its_end(
    talk: Talk, worker: Worker
) -> None:
    text = "".join(f"Sentence number {n}. " for n in range(260))
    assert len(text) > 5_000
    talk.scene.fake.play(answer(growing(text, 6)))
    talk.wait_for(talk.ask(GROUP))
    edits = talk.server.called("editMessageText", chat=GROUP)
    cut = [call for call in edits if call.params["text"].startswith("…")]
    assert cut
    assert all(len(call.params["text"]) <= 4_096 for call in edits)
    first, second = talk.server.texts(GROUP)
    assert (first + second).split() == text.split()


def test_case_telegram_stream_4_a_limited_chat_waits_and_keeps_its_message(
    talk: Talk, worker: Worker
) -> None:
    # The real one asks for 3 s; less is the same to us.
    talk.server.fail(
        too_many(1, chat_id=GROUP, method="editMessageText"),
        Fault(
            method="editMessageText",
            chat_id=GROUP,
            status=400,
            description="Bad Request: message is not modified",
        ),
    )
    # There is more to show after the limit and after the edit that is said to change nothing.
    talk.scene.fake.play(answer(growing("One two three four.", 6, 0.4)))
    talk.wait_for(talk.ask(GROUP))
    assert talk.server.texts(GROUP) == ["One two three four."]
    sent = talk.server.called("sendMessage", chat=GROUP)
    assert len(sent) == 1
    edits = talk.server.called("editMessageText", chat=GROUP)
    assert {call.params["message_id"] for call in edits} == {sent[0].result}
    limited = next(call for call in edits if call.status == 429)
    after = edits[edits.index(limited) + 1]
    assert after.at_ns - limited.at_ns >= 0.9e9


def test_case_telegram_stream_5_a_thousand_pieces_become_a_few_drafts(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(showing, "DRAFT_S", 0.4)
    text = "word " * 1_000
    talk.scene.fake.play(answer(Say(text, chunks=1_000, interval_s=0.001)))
    turn = talk.ask(PRIVATE)
    talk.wait_for(turn)
    drafts = talk.server.called("sendMessageDraft", chat=PRIVATE)
    gaps = [b.at_ns - a.at_ns for a, b in pairwise(drafts)]
    assert all(gap >= 0.35e9 for gap in gaps)
    assert len(drafts) <= 25
    assert " ".join(talk.server.texts(PRIVATE)).split() == text.split()


def test_case_telegram_topic_3_a_lost_topic_is_answered_in_the_chat(
    talk: Talk, worker: Worker
) -> None:
    talk.server.api.topics[GROUP] = {6}
    ChannelAccount.objects.filter(pk=talk.account.pk).update(answer_mode="blocked")
    talk.scene.fake.play("In vain", "Plain")
    talk.wait_for(talk.ask(GROUP, thread="5"))
    talk.wait_for(talk.ask(GROUP))
    sent = talk.server.called("sendMessage", chat=GROUP)
    assert [(c.params.get("message_thread_id"), c.status) for c in sent] == [
        (5, 400),
        (None, 200),
        (None, 200),
    ]


def test_failed_drafts_cost_nothing_and_are_not_tried_on(talk: Talk, worker: Worker) -> None:
    talk.server.fail(Fault(method="sendMessageDraft", status=404, description="Not Found", times=1))
    talk.scene.fake.play(answer(growing("One two three four.", 4)), answer("Again."))
    talk.wait_for(talk.ask(PRIVATE))
    assert talk.server.texts(PRIVATE) == ["One two three four."]
    assert len(talk.server.called("sendMessageDraft")) == 1
    assert talk.server.called("editMessageText")
    talk.wait_for(talk.ask(PRIVATE))
    assert talk.server.texts(PRIVATE) == ["One two three four.", "Again."]
    assert len(talk.server.called("sendMessageDraft")) == 1


def test_presenter_that_breaks_breaks_no_turn(
    talk: Talk, worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(showing, "progress_of", broken)
    talk.scene.fake.play(answer(growing("Whole.", 2)))
    talk.wait_for(talk.ask(PRIVATE))
    assert talk.course(PRIVATE) == [("sendMessage", "Whole.")]


def test_restarted_answer_is_shown_anew(talk: Talk, worker: Worker) -> None:
    talk.scene.fake.play(
        answer(growing("Wrong begin", 2), Silence(0.1), SendError("overloaded_error")),
        answer(growing("Right words.", 3)),
    )
    talk.wait_for(talk.ask(PRIVATE))
    course = talk.course(PRIVATE)
    assert course[-1] == ("sendMessage", "Right words.")
    assert len([method for method, _ in course if method == "sendMessage"]) == 1


@pytest.mark.parametrize("mode", ["stream", "partial", "blocked"])
def test_long_turn_can_be_stopped_by_a_button(
    talk: Talk, worker: Worker, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(showing, "STOP_AFTER_S", 0.05)
    ChannelAccount.objects.filter(pk=talk.account.pk).update(answer_mode=mode)
    talk.scene.fake.play(answer(Silence(0.4), Say("Never mind.", chunks=2, interval_s=30)))
    turn = talk.ask(PRIVATE)
    if mode == "stream":
        # Telegram's own button, under a draft without text yet.
        talk.server.wait_until(lambda: bool(talk.server.called("sendMessageDraft")))
        assert talk.server.called("sendMessageDraft")[0].params.get("text", "") == ""
    else:
        talk.server.wait_until(lambda: bool(talk.server.called("sendMessage")))
        offer = talk.server.called("sendMessage")[0]
        ((button,),) = offer.params["reply_markup"]["inline_keyboard"]
        pressed = buttons.verify(
            button["callback_data"], account=talk.account, person_id=talk.scene.person.pk
        )
        assert pressed is not None
        assert (pressed.action, pressed.subject) == (buttons.STOP, str(turn.pk))
    wait_until(lambda: Turn.objects.get(pk=turn.pk).state == Turn.State.RUNNING)
    stopping.request(Turn.objects.get(pk=turn.pk))
    talk.wait_for(turn)
    assert len(talk.server.texts(PRIVATE)) == 1
    assert "Stopped." in talk.server.texts(PRIVATE)[0]
    assert not any(m.markup for m in talk.server.api.messages.values())


def test_the_next_answers_draft_waits_for_the_answer_before_it(
    talk: Talk, start_worker: Callable[[], Worker]
) -> None:
    talk.server.fail(too_many(1, chat_id=PRIVATE, method="sendMessage"))
    talk.scene.fake.play("First.", answer(growing("Second one here.", 3)))
    start_worker()
    first = talk.ask(PRIVATE)
    wait_until(lambda: Turn.objects.get(pk=first.pk).is_over)
    talk.wait_for(talk.ask(PRIVATE))
    course = [entry for entry in talk.course(PRIVATE) if entry[0] != "sendMessageDraft"]
    assert [text for _, text in course] == ["First.", "First.", "Second one here."]
    drafts = talk.server.called("sendMessageDraft", chat=PRIVATE)
    done = next(c for c in talk.server.called("sendMessage", chat=PRIVATE) if c.status == 200)
    of_second = [call for call in drafts if call.params["draft_id"] != first.pk]
    assert all(call.at_ns > done.at_ns for call in of_second)
