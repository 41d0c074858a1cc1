"""A message in, an answer out, over the real SDK, PostgreSQL and Valkey."""

from collections.abc import Callable
from functools import partial

import pytest

from agents.models import ChainLink, ProviderAccount, UsageRecord
from memory.models import DailyNote, MemoryDocument, Passage, WalEntry
from sessions.models import InboundMessage, Outgoing, TranscriptEntry, Turn, TurnFreeze, TurnStep
from sessions.turns import stopping
from sessions.turns.worker import Worker
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.script import CallTool, Refusal, Reset, Say, Silence, Tokens, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def roles(turn: Turn) -> list[str]:
    return [entry.role for entry in turn.entries.order_by("id")]


def user_texts(fake: FakeAnthropic) -> list[str]:
    """Return what persons said in the last request, oldest first."""
    texts = []
    for message in fake.last.body["messages"]:
        content = message["content"]
        if message["role"] == "user" and isinstance(content, str):
            texts.append(content)
        elif message["role"] == "user":
            texts += [block["text"] for block in content if block["type"] == "text"]
    return texts


def test_message_is_answered_once_and_everything_about_it_is_kept(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(answer("Hello ", "Bobur", tokens=Tokens(input=100, output=7)))
    turn = scene.say("My name is Bobur").turn
    wait_until(lambda: ended(turn))

    assert turn.state == Turn.State.ANSWERED
    assert roles(turn) == ["user", "assistant"]
    moments = [turn.accepted_at, turn.request_sent_at, turn.first_token_at, turn.committed_at]
    times = [moment for moment in moments if moment is not None]
    assert len(times) == len(moments)
    assert times == sorted(times)
    usage = UsageRecord.objects.get(origin=turn.ref)
    assert (usage.input_tokens, usage.output_tokens, usage.is_estimate) == (100, 7, False)
    assert usage.cost_usd is not None
    assert DailyNote.objects.get(source=turn.ref).answer == "Hello Bobur"
    assert not TurnFreeze.objects.exists()
    turn.generation.refresh_from_db()
    assert turn.generation.context_tokens == 107
    wait_until(lambda: Outgoing.objects.get(turn=turn).state == Outgoing.State.SENT)
    scene.session.refresh_from_db()
    assert scene.session.lease_token is None


def test_fact_is_in_the_row_before_the_answer_and_in_the_next_prompt(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    turn = scene.say("My name is Bobur").turn
    assert WalEntry.objects.get(source=turn.messages.get().ref).category == "proper_noun"
    assert "Bobur" in MemoryDocument.objects.get(person=scene.person).text

    scene.fake.play("Hi", "You are Bobur")
    start_worker()
    wait_until(lambda: ended(turn))
    second = scene.say("Who am I?").turn
    wait_until(lambda: ended(second))
    system = str(scene.fake.last.body["system"])
    assert "SESSION-STATE.md" in system
    assert "Your Long-Term Memory" in system
    assert user_texts(scene.fake) == ["My name is Bobur", "Who am I?"]


def test_tool_call_runs_and_its_result_goes_back_to_the_model(scene: Scene, worker: Worker) -> None:
    scene.fake.play(
        answer("Noting.", CallTool("remember_fact", {"fact": "Bobur likes green tea"})),
        "Noted.",
    )
    turn = scene.say("Please note what I drink: green tea").turn
    wait_until(lambda: ended(turn))

    assert roles(turn) == ["user", "assistant", "tool", "assistant"]
    assert [step.kind for step in turn.steps.order_by("number")] == ["model", "tool", "model"]
    assert "green tea" in MemoryDocument.objects.get(person=scene.person).text
    assert UsageRecord.objects.filter(origin=turn.ref).count() == 2


def test_turn_whose_worker_closes_is_handed_back_and_answered_by_the_next(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    scene.fake.play(answer(Say("a" * 50, chunks=50, interval_s=0.1)), "Whole answer")
    first = start_worker()
    turn = scene.say("Hello").turn
    wait_until(lambda: bool(scene.fake.requests) and scene.fake.last.first_sent_at_ns is not None)
    first.close()

    turn.refresh_from_db()
    assert (turn.state, turn.orphaned) == (Turn.State.QUEUED, 0)
    start_worker()
    wait_until(lambda: ended(turn))
    assert (turn.state, turn.attempt, turn.orphaned) == (Turn.State.ANSWERED, 2, 0)
    assert roles(turn) == ["user", "assistant"]
    assert DailyNote.objects.get(source=turn.ref).answer == "Whole answer"


def test_stopped_turn_keeps_its_partial_text_and_the_next_message_is_answered(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(answer(Say("word " * 100, chunks=100, interval_s=0.05)), "Second answer")
    turn = scene.say("Tell me a long story").turn
    wait_until(lambda: bool(scene.fake.requests) and scene.fake.last.first_sent_at_ns is not None)
    stopping.request(turn)
    wait_until(lambda: ended(turn))

    assert turn.state == Turn.State.STOPPED
    entry = turn.entries.get(role=TranscriptEntry.Role.ASSISTANT)
    assert entry.is_partial
    scene.fake.wait_until(lambda: scene.fake.requests[0].closed_at_ns is not None)
    scene.session.refresh_from_db()
    assert scene.session.lease_token is None
    second = scene.say("And now?").turn
    wait_until(lambda: ended(second))
    assert second.state == Turn.State.ANSWERED


def test_turn_stopped_while_it_waits_asks_no_model(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    turn = scene.say("Never mind").turn
    stopping.request(turn)
    start_worker()
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.STOPPED
    assert roles(turn) == ["user"]
    assert scene.fake.requests == []


def test_messages_during_a_turn_are_stored_at_once_and_answered_in_order(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(answer(Silence(0.5), "one"), *(answer(f"answer {n}") for n in range(2, 5)))
    turns = [scene.say(f"message {n}").turn for n in range(1, 5)]
    assert InboundMessage.objects.count() == 4
    wait_until(lambda: all(ended(turn) for turn in turns))
    assert [turn.committed_at for turn in turns] == sorted(
        t.committed_at for t in turns if t.committed_at
    )
    assert user_texts(scene.fake) == [f"message {n}" for n in range(1, 5)]


def test_sessions_run_beside_each_other(scene: Scene, worker: Worker) -> None:
    scene.fake.rule = lambda request: answer(Silence(0.5), "done")
    turns = [scene.say("go", session=scene.conversation(f"t{n}")).turn for n in range(6)]
    wait_until(lambda: all(ended(turn) for turn in turns), timeout_s=2.5)
    assert {turn.state for turn in turns} == {Turn.State.ANSWERED}


def test_failing_account_hands_over_to_the_next_and_is_shown_as_cooling(
    scene: Scene, worker: Worker
) -> None:
    second = ProviderAccount.objects.create(
        team=scene.agent.team,
        name="Second",
        kind=ProviderAccount.Kind.ANTHROPIC,
        base_url=scene.fake.base_url,
        may_reach_private=True,
        key_reference="env:FAKE_KEY",
    )
    ChainLink.objects.create(agent=scene.agent, account=second, model="claude-opus-5-5", position=1)
    scene.fake.play(Refusal(429, {"error": {"type": "rate_limit_error", "message": "slow"}}), "Hi")
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.ANSWERED
    scene.account.refresh_from_db()
    assert (scene.account.failures, scene.account.last_error_code) == (1, "rate_limit")
    assert scene.account.cool_until is not None


def test_refused_key_switches_the_account_off_and_the_turn_says_so(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(Refusal(401, {"error": {"type": "authentication_error", "message": "bad key"}}))
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.FAILED
    assert turn.notice is not None
    assert turn.notice["code"] == "auth"
    scene.account.refresh_from_db()
    assert scene.account.switched_off_at is not None
    second = scene.say("And now?").turn
    wait_until(lambda: ended(second))
    assert second.notice is not None
    assert second.notice["code"] == "no_provider"


def test_without_a_model_the_offline_provider_says_so_and_shows_what_it_noted(
    scene: Scene, worker: Worker
) -> None:
    ChainLink.objects.all().delete()
    turn = scene.say("My name is Bobur").turn
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.ANSWERED
    stored = turn.entries.get(role=TranscriptEntry.Role.ASSISTANT).content.text
    assert "No model is set up" in stored
    assert "My name is Bobur" in stored
    assert not UsageRecord.objects.exists()


def test_history_holds_the_newest_whole_exchanges_within_its_limit(
    scene: Scene, worker: Worker
) -> None:
    ChainLink.objects.update(window_tokens=8_000, max_output_tokens=500)
    scene.fake.rule = lambda request: answer("x" * 4_000)
    for n in range(8):
        turn = scene.say(f"message {n} " + "y" * 2_000).turn
        wait_until(partial(ended, turn))
    texts = user_texts(scene.fake)
    assert texts[-1].startswith("message 7")
    assert len(texts) < 8
    assert turn.manifest is not None
    history = next(p for p in turn.manifest["parts"] if p["part"] == "history")
    assert history["cut"] is True
    assert history["messages"] == 2 * (len(texts) - 1)


def test_key_that_a_provider_echoes_reaches_no_row_and_no_log(
    scene: Scene, worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    said = "Incorrect API key provided: sk-fake."
    scene.fake.play(Refusal(401, {"error": {"type": "authentication_error", "message": said}}))
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn))
    scene.account.refresh_from_db()
    step = TurnStep.objects.get(turn=turn)
    assert "Incorrect API key" in step.error
    assert "Incorrect API key" in scene.account.last_error
    told = [step.error, scene.account.last_error, str(turn.notice), caplog.text]
    assert not any("sk-fake" in text for text in told)


def test_step_rows_of_a_broken_call_say_what_happened(scene: Scene, worker: Worker) -> None:
    scene.fake.play(Refusal(400, {"error": {"type": "invalid_request_error", "message": "no"}}))
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.FAILED
    step = TurnStep.objects.get(turn=turn)
    assert step.finished_at is None
    assert step.error.startswith("request_refused")
    scene.account.refresh_from_db()
    assert scene.account.cool_until is None


def test_case_restart_2_only_the_call_whose_connection_was_reset_is_made_again(
    scene: Scene, worker: Worker
) -> None:
    facts = ["the office opens at 9", "Bobur likes green tea", "the code word is melon"]
    calls = [answer(CallTool("remember_fact", {"fact": fact})) for fact in facts]
    scene.fake.play(*calls, answer(Reset()), "All noted")
    turn = scene.say("Note three things").turn
    wait_until(lambda: ended(turn))

    assert turn.state == Turn.State.ANSWERED
    assert roles(turn) == ["user", *["assistant", "tool"] * 3, "assistant"]
    assert len(scene.fake.requests) == 5
    again = [request.body["messages"] for request in scene.fake.requests[3:]]
    assert again[0] == again[1]
    memory = MemoryDocument.objects.get(person=scene.person).text
    assert [memory.count(fact) for fact in facts] == [1, 1, 1]


def test_case_session_store_1_what_comes_during_a_call_is_kept_in_order_and_seen_by_the_next_turn(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(answer(Silence(0.5), "First answer"), "Second answer")
    first = scene.say("A slow question").turn
    wait_until(lambda: bool(scene.fake.requests))
    second = scene.say("A result that comes meanwhile").turn
    assert not ended(first)
    wait_until(lambda: ended(first) and ended(second))

    assert (first.state, second.state) == (Turn.State.ANSWERED, Turn.State.ANSWERED)
    entries = TranscriptEntry.objects.filter(generation=first.generation).order_by("id")
    assert [(entry.turn_id, entry.role) for entry in entries] == [
        (first.pk, "user"),
        (first.pk, "assistant"),
        (second.pk, "user"),
        (second.pk, "assistant"),
    ]
    assert user_texts(scene.fake) == ["A slow question", "A result that comes meanwhile"]


def test_offline_answer_tells_a_remembered_fact_once_and_without_the_logs_stamps(
    scene: Scene, worker: Worker
) -> None:
    ChainLink.objects.all().delete()
    first = scene.say("My name is Bobur").turn
    wait_until(partial(ended, first))
    turn = scene.say("what is my name?", session=scene.conversation("later")).turn
    wait_until(partial(ended, turn))
    said = turn.entries.get(role=TranscriptEntry.Role.ASSISTANT).content.text
    assert "MEMORY.md" in said
    assert "SESSION-STATE.md" not in said


def test_offline_answer_tells_what_holds_and_not_the_question_asked_before(
    scene: Scene, worker: Worker
) -> None:
    ChainLink.objects.all().delete()
    for text in (
        "My name is Bobur",
        "What is my name?",
        "Actually, my name is Sardor, not Bobur",
        "what is my name?",
    ):
        turn = scene.say(text).turn
        wait_until(partial(ended, turn))
    said = turn.entries.get(role=TranscriptEntry.Role.ASSISTANT).content.text
    assert "my name is Sardor" in said
    assert "My name is Bobur" not in said
    assert "what is my name?" not in said.lower()


def test_exchange_that_asks_to_forget_is_itself_not_remembered(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play("Noted.", "Your number +998 90 123 45 67 is forgotten.", "Hello")
    first = scene.say("My phone number is +998 90 123 45 67").turn
    wait_until(lambda: ended(first))
    assert DailyNote.objects.filter(source=first.ref).exists()
    wish = scene.say("Forget my phone number").turn
    wait_until(lambda: ended(wish))
    last = scene.say("Good evening").turn
    wait_until(lambda: ended(last))

    assert list(DailyNote.objects.values_list("source", flat=True)) == [last.ref]
    found = Passage.objects.filter(hidden_at=None, kind=Passage.Kind.EXCHANGE)
    assert set(found.values_list("source", flat=True)) == {last.ref}
