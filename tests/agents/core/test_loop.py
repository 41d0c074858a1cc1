"""Ask, run tools, ask again: what a turn does, in one attempt and over several."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest

from agents.core.errors import (
    AuthenticationFailed,
    LeaseLost,
    ProviderError,
    RateLimited,
    StreamBroken,
)
from agents.core.events import (
    AnswerRestarted,
    Done,
    Finished,
    LoopEvent,
    NoticeCode,
    Outcome,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agents.core.loop import Loop
from agents.core.messages import (
    AssistantMessage,
    Message,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.protocols import SystemPart
from agents.core.repair import INTERRUPTED
from tests.agents.core.conftest import Clock
from tests.fakes.scripted import Pause, ScriptedProvider, reply
from tests.fakes.seams import FakeTool, MemoryJournal, Stage, Stubborn, link

pytestmark = pytest.mark.usefixtures("clock")

STOP_LIMIT_S = 0.3


@pytest.fixture
def stage() -> Stage:
    """Return a turn's surroundings with one tool of each kind."""
    stage = Stage()
    stage.tools.tools = {
        "find": FakeTool("found", safe_to_repeat=True, may_run_in_parallel=True),
        "look": FakeTool("seen", safe_to_repeat=True, may_run_in_parallel=True),
        "save": FakeTool("saved"),
    }
    return stage


def call(name: str, number: int = 1, **arguments: str) -> ToolCall:
    """Return a call with an id of its own."""
    return ToolCall(f"{name}-{number}", name, dict(arguments))


def result(of: ToolCall, text: str, *, is_error: bool = False) -> ToolResult:
    """Return what a call gave."""
    return ToolResult(of.id, of.name, text, is_error)


async def events_of(loop: Loop) -> list[LoopEvent]:
    """Return everything that happens, up to the end."""
    return [event async for event in loop.run()]


async def end_of(loop: Loop) -> Outcome:
    """Return how it ended."""
    last = (await events_of(loop))[-1]
    assert isinstance(last, Finished)
    return last.outcome


def streamed(events: Sequence[LoopEvent]) -> str:
    """Return the text as it was told, without restarts."""
    assert AnswerRestarted() not in events
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def sent(provider: ScriptedProvider, number: int = -1) -> tuple[Message, ...]:
    """Return the messages of one request."""
    return provider.calls[number].messages


# --- answers ---


async def test_an_answer_is_told_as_it_comes_and_ends_the_turn(stage: Stage) -> None:
    events = await events_of(stage.loop(ScriptedProvider("Hello to you")))
    assert events == [
        TextDelta("Hello"),
        TextDelta(" to"),
        TextDelta(" you"),
        Finished(Outcome("answered", "Hello to you")),
    ]


async def test_the_model_gets_prompt_history_and_tools(stage: Stage) -> None:
    provider = ScriptedProvider("Hi")
    system = (SystemPart("SOUL.md", "Be kind."),)
    messages = (UserMessage("One"), AssistantMessage((TextBlock("1"),)), UserMessage("Two"))
    await end_of(stage.loop(provider, system=system, messages=messages))
    (request,) = provider.calls
    assert request.system == system
    assert request.messages == messages
    assert request.tools == stage.tools.specs


async def test_a_tools_result_goes_back_to_the_model(stage: Stage) -> None:
    find = call("find", query="tea")
    provider = ScriptedProvider(reply(find), "It was tea")
    events = await events_of(stage.loop(provider))
    assert sent(provider) == (
        UserMessage("Hello"),
        AssistantMessage((find,)),
        result(find, "found"),
    )
    assert ToolStarted(find.id, "find") in events
    assert ToolFinished(find.id, "find", is_error=False, duration_s=0.0) in events
    assert events[-1] == Finished(Outcome("answered", "It was tea"))


async def test_paragraphs_part_what_is_said_before_and_after_a_tool(stage: Stage) -> None:
    provider = ScriptedProvider(
        reply("Let me look.", call("find")), reply(call("look")), "It was tea."
    )
    events = await events_of(stage.loop(provider))
    assert streamed(events) == "Let me look.\n\nIt was tea."
    assert events[-1] == Finished(Outcome("answered", "Let me look.\n\nIt was tea."))


async def test_a_long_result_is_cut_for_the_model_and_whole_for_the_journal(stage: Stage) -> None:
    text = "a" * 5_600 + "b" * 200_000 + "c" * 1_600
    stage.tools.tools["find"].gives = text
    provider = ScriptedProvider(reply(call("find")), "Long")
    await end_of(stage.loop(provider))
    outcome = stage.journal.steps[2].outcome
    assert outcome is not None
    assert outcome.text == text
    shown = sent(provider)[-1]
    assert isinstance(shown, ToolResult)
    assert shown.text == "a" * 5_600 + "\n\n[… 200000 characters removed …]\n\n" + "c" * 1_600


async def test_an_unknown_tool_and_malformed_arguments_are_told_to_the_model(stage: Stage) -> None:
    unknown, malformed = call("fly"), ToolCall("m", "find", malformed='{"query": ')
    provider = ScriptedProvider(reply(unknown, malformed), "I cannot")
    events = await events_of(stage.loop(provider))
    results = [message for message in sent(provider) if isinstance(message, ToolResult)]
    assert [one.is_error for one in results] == [True, True]
    assert [one.call_id for one in results] == [unknown.id, "m"]
    assert [e.is_error for e in events if isinstance(e, ToolFinished)] == [True, True]
    assert events[-1] == Finished(Outcome("answered", "I cannot"))
    assert stage.tools.ran == []


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [("max_tokens", "max_tokens"), ("refusal", "refusal"), ("other", "other_stop")],
)
async def test_other_stop_reasons_end_the_turn_with_a_notice(
    stage: Stage, stop_reason: StopReason, code: NoticeCode
) -> None:
    provider = ScriptedProvider(reply("So far", stop_reason=stop_reason))
    assert await end_of(stage.loop(provider)) == Outcome("ended", "So far", code)


async def test_a_silent_refusal_ends_the_turn_with_a_notice(stage: Stage) -> None:
    provider = ScriptedProvider([Done(reply(stop_reason="refusal"))])
    assert await end_of(stage.loop(provider)) == Outcome("ended", "", "refusal")


@pytest.mark.parametrize("stop_reason", ["max_tokens", "refusal"])
async def test_calls_of_a_reply_that_was_cut_off_are_not_run(
    stage: Stage, stop_reason: Literal["max_tokens", "refusal"]
) -> None:
    provider = ScriptedProvider(reply("Saving", call("save"), stop_reason=stop_reason))
    assert await end_of(stage.loop(provider)) == Outcome("ended", "Saving", stop_reason)
    assert stage.tools.ran == []


async def test_calls_are_run_where_a_server_calls_that_an_end(stage: Stage) -> None:
    provider = ScriptedProvider(reply(call("find"), stop_reason="end"), "Done")
    assert await end_of(stage.loop(provider)) == Outcome("answered", "Done")


# --- limits ---


async def test_after_25_iterations_the_turn_ends_with_a_notice(stage: Stage) -> None:
    replies = [reply(call(("find", "look", "save")[n % 3], n, n=str(n))) for n in range(25)]
    provider = ScriptedProvider(*replies)
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("ended", "", "iterations_exhausted", {"limit": 25})
    assert len(provider.calls) == 25
    assert len(stage.tools.ran) == 25


async def test_an_agents_own_limit_of_iterations_holds(stage: Stage) -> None:
    provider = ScriptedProvider(reply(call("find")), reply(call("look")))
    outcome = await end_of(stage.loop(provider, max_iterations=2))
    assert outcome.values == {"limit": 2}


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["save", "save", "save"], "repeated_call"),
        (["save", "note", "save", "note"], "alternating_calls"),
        (["find", "find"], "repeated_result"),
    ],
)
async def test_a_circle_ends_the_turn_and_names_its_tool(
    stage: Stage, names: list[str], code: NoticeCode
) -> None:
    given = iter(range(100))

    async def something_new(_: ToolCall) -> str:
        return f"number {next(given)}"

    stage.tools.tools["save"].gives = something_new
    stage.tools.tools["note"] = FakeTool(something_new)
    provider = ScriptedProvider(*(reply(call(name, n)) for n, name in enumerate(names)))
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("ended", "", code, {"tool": names[-1]})
    assert len(stage.tools.ran) == len(names)
    provider.assert_done()


async def test_a_circle_inside_one_reply_lets_its_other_calls_finish(stage: Stage) -> None:
    provider = ScriptedProvider(reply(call("find", 1), call("find", 2), call("save")))
    outcome = await end_of(stage.loop(provider))
    assert outcome.code == "repeated_result"
    assert outcome.values == {"tool": "find"}
    assert [one.name for one in stage.tools.ran] == ["find", "find", "save"]
    assert all(step.is_finished for step in stage.journal.steps.values())


async def test_a_tool_that_outlives_every_limit_is_of_unknown_outcome(
    stage: Stage, clock: Clock
) -> None:
    async def forever(_: ToolCall) -> str:
        await asyncio.Event().wait()
        return "never"

    stage.tools.tools["save"].gives = forever
    provider = ScriptedProvider(reply(call("save")), "Not sure it is saved")
    await end_of(stage.loop(provider))
    assert clock.now_s == pytest.approx(600, abs=0.1)
    assert sent(provider)[-1] == result(call("save"), INTERRUPTED, is_error=True)


async def test_a_tool_that_cancels_itself_does_not_end_the_turn(stage: Stage) -> None:
    async def cancel(_: ToolCall) -> str:
        raise asyncio.CancelledError

    stage.tools.tools["save"].gives = cancel
    provider = ScriptedProvider(reply(call("save")), "Not sure it is saved")
    assert (await end_of(stage.loop(provider))).kind == "answered"
    assert sent(provider)[-1] == result(call("save"), INTERRUPTED, is_error=True)


# --- several tools ---


async def test_tools_that_may_run_beside_each_other_others_one_by_one(
    stage: Stage, clock: Clock
) -> None:
    running: list[str] = []
    beside: dict[str, list[str]] = {}
    seconds = {"find": 3.0, "look": 1.0, "save": 2.0}

    async def work(one: ToolCall) -> str:
        running.append(one.id)
        await asyncio.sleep(seconds[one.name])
        beside[one.id] = [other for other in running if other != one.id]
        running.remove(one.id)
        return f"{one.id} done"

    for tool in stage.tools.tools.values():
        tool.gives = work
    calls = [call("find"), call("look"), call("save", 1), call("save", 2), call("look", 2)]
    provider = ScriptedProvider(reply(*calls), "All done")
    events = await events_of(stage.loop(provider))

    assert beside["look-1"] == ["find-1"]
    assert beside["save-1"] == beside["save-2"] == beside["look-2"] == []
    assert clock.now_s == pytest.approx(3 + 2 + 2 + 1, abs=0.1)
    results = [m for m in sent(provider) if isinstance(m, ToolResult)]
    assert results == [result(one, f"{one.id} done") for one in calls]
    finished = {e.call_id: e.duration_s for e in events if isinstance(e, ToolFinished)}
    assert finished == pytest.approx(
        {"find-1": 3, "look-1": 1, "save-1": 2, "save-2": 2, "look-2": 1}, abs=0.1
    )


async def test_steps_are_numbered_in_the_order_of_the_calls(stage: Stage) -> None:
    calls = [call("find"), call("look"), call("save")]
    await end_of(stage.loop(ScriptedProvider(reply(*calls), "Done")))
    kinds = {number: step.kind for number, step in stage.journal.steps.items()}
    assert kinds == {1: "model", 2: "tool", 3: "tool", 4: "tool", 5: "model"}


# --- providers that fail ---


async def test_when_all_providers_fail_the_turn_has_failed_with_their_code(stage: Stage) -> None:
    outcome = await end_of(stage.loop(ScriptedProvider(AuthenticationFailed("401"))))
    assert outcome == Outcome("failed", "", "auth")


async def test_without_any_account_the_turn_has_failed(stage: Stage) -> None:
    assert await end_of(stage.loop()) == Outcome("failed", "", "no_provider")


async def test_a_reached_cap_ends_the_turn_with_what_the_person_is_told(stage: Stage) -> None:
    stage.purse.refused = {1}
    end = await end_of(stage.loop(ScriptedProvider()))
    assert (end.kind, end.code) == ("failed", "cap_reached")
    assert end.values == {"cap": "5.00", "resets": "00:00 (UTC)"}


async def test_case_restart_2_only_the_failed_call_is_retried(stage: Stage) -> None:
    calls = [call("find"), call("look"), call("save")]
    replies = [reply(one) for one in calls]
    provider = ScriptedProvider(*replies, StreamBroken("connection reset"), "All three done")
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("answered", "All three done")
    assert stage.tools.ran == calls
    assert len(provider.calls) == 5
    assert provider.calls[3] == provider.calls[4]


async def test_a_failure_after_a_tool_keeps_what_was_said_and_marks_the_unfinished_part(
    stage: Stage,
) -> None:
    provider = ScriptedProvider(
        reply("Let me look.", call("find")),
        [TextDelta("It was "), StreamBroken("cut")],
        [TextDelta("It wa"), RateLimited("429")],
    )
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("failed", "Let me look.\n\nIt wa", "rate_limit", partial="It wa")


async def test_a_restarted_answer_is_said_once(stage: Stage) -> None:
    provider = ScriptedProvider(
        reply("Let me look.", call("find")),
        [TextDelta("It was "), StreamBroken("cut")],
        "It was tea.",
    )
    events = await events_of(stage.loop(provider))
    at = events.index(AnswerRestarted())
    assert events[at - 1] == TextDelta("\n\nIt was ")
    assert streamed(events[at + 1 :]) == "\n\nIt was tea."
    assert events[-1] == Finished(Outcome("answered", "Let me look.\n\nIt was tea."))


async def test_what_was_said_at_a_restart_is_only_what_still_holds(stage: Stage) -> None:
    provider = ScriptedProvider(
        reply("Let me look.", call("find")), [TextDelta("It"), StreamBroken("cut")], "Tea."
    )
    loop = stage.loop(provider)
    said = [loop.said async for event in loop.run() if isinstance(event, AnswerRestarted)]
    assert said == ["Let me look."]


# --- stop ---


async def test_stop_before_the_first_request_asks_nobody(stage: Stage) -> None:
    stage.stop.throw()
    provider = ScriptedProvider()
    assert await end_of(stage.loop(provider)) == Outcome("stopped", "")
    assert provider.calls == []


async def test_stop_in_a_stream_keeps_the_partial_text_and_marks_it(
    stage: Stage, clock: Clock
) -> None:
    provider = ScriptedProvider(reply("Let me look.", call("find")), [TextDelta("It was"), Pause()])
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("stopped", "Let me look.\n\nIt was", partial="It was")
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert provider.closed_early == 1


async def test_case_stop_2_a_stubborn_provider_does_not_hold_the_turn(
    stage: Stage, clock: Clock
) -> None:
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    outcome = await end_of(stage.loop(Stubborn(ignores_s=10)))
    assert outcome == Outcome("stopped", "word ", partial="word")
    assert clock.now_s - 5 <= STOP_LIMIT_S


async def test_stop_in_a_retry_pause_ends_the_turn(stage: Stage, clock: Clock) -> None:
    provider = ScriptedProvider(RateLimited("429", retry_after_s=30))
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    assert await end_of(stage.loop(provider)) == Outcome("stopped", "")
    assert clock.now_s - 5 <= STOP_LIMIT_S


async def linger(_: ToolCall) -> str:
    """Work on, whoever cancels it."""
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        await asyncio.sleep(10)
    return "too late"


async def test_stop_in_a_tool_notes_its_outcome_as_unknown(stage: Stage, clock: Clock) -> None:
    stage.tools.tools["save"].gives = linger
    provider = ScriptedProvider(reply("Saving.", call("save"), call("find")))
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    assert await end_of(stage.loop(provider)) == Outcome("stopped", "Saving.")
    assert clock.now_s - 5 <= STOP_LIMIT_S
    noted = stage.journal.steps[2].outcome
    assert noted is not None
    assert noted.text == INTERRUPTED
    assert [one.name for one in stage.tools.ran] == ["save"], "the next one never begins"
    await asyncio.sleep(20)
    assert stage.journal.steps[2].outcome == noted, "its late result is discarded"


async def test_stop_among_parallel_tools_is_noted_for_each_before_the_turn_ends(
    stage: Stage,
) -> None:
    stage.tools.tools["find"].gives = stage.tools.tools["look"].gives = linger
    stage.journal.slow_s = 0.01
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    provider = ScriptedProvider(reply(call("find"), call("look"), call("find", 2)))
    assert (await end_of(stage.loop(provider))).kind == "stopped"
    assert [stage.journal.steps[number].is_finished for number in (2, 3, 4)] == [True] * 3


async def test_a_tool_that_ended_before_the_stop_keeps_its_result(stage: Stage) -> None:
    stage.tools.tools["look"].gives = linger
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    await end_of(stage.loop(ScriptedProvider(reply(call("find"), call("look")))))
    found = stage.journal.steps[2].outcome
    assert found is not None
    assert found.text == "found"


# --- later attempts ---


async def shut_down(loop: Loop, after_s: float) -> None:
    """Cancel a turn, as a worker does that hands back its leases."""
    running = asyncio.create_task(events_of(loop))
    asyncio.get_running_loop().call_later(after_s, running.cancel)
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_worker_that_shuts_down_closes_the_stream_and_a_later_one_asks_again(
    stage: Stage, clock: Clock
) -> None:
    provider = ScriptedProvider([TextDelta("It was"), Pause()])
    await shut_down(stage.loop(provider), after_s=5)
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert provider.closed_early == 1
    assert not stage.journal.steps[1].is_finished
    again = ScriptedProvider("It was tea.")
    assert await end_of(stage.loop(again)) == Outcome("answered", "It was tea.")


async def test_a_worker_that_shuts_down_in_a_tool_leaves_it_unfinished(
    stage: Stage, clock: Clock
) -> None:
    stage.tools.tools["save"].gives = linger
    await shut_down(stage.loop(ScriptedProvider(reply(call("save")))), after_s=5)
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert not stage.journal.steps[2].is_finished
    provider = ScriptedProvider("Not sure it is saved.")
    await end_of(stage.loop(provider))
    assert len(stage.tools.ran) == 1
    assert sent(provider)[-1] == result(call("save"), INTERRUPTED, is_error=True)


async def crash(stage: Stage, provider: ScriptedProvider, *, at: str) -> None:
    """Run a first attempt that another worker takes over at a note of the journal."""
    stage.journal.lost_at = at
    with pytest.raises(LeaseLost):
        await events_of(stage.loop(provider))
    stage.journal.lost_at = ""


async def test_a_lost_lease_ends_the_attempt_without_an_outcome(stage: Stage) -> None:
    await crash(stage, ScriptedProvider("Hello"), at="1 replied")
    assert stage.journal.notes == ["1 asked account-1"]


async def test_finished_steps_are_not_asked_or_run_again(stage: Stage) -> None:
    first = reply("Let me look.", call("find"), call("save"))
    await crash(stage, ScriptedProvider(first), at="4 asked account-1")
    provider = ScriptedProvider("It was tea.")
    events = await events_of(stage.loop(provider))
    assert [one.name for one in stage.tools.ran] == ["find", "save"]
    assert len(provider.calls) == 1
    assert sent(provider) == (
        UserMessage("Hello"),
        first.message,
        result(call("find"), "found"),
        result(call("save"), "saved"),
    )
    assert streamed(events) == "\n\nIt was tea.", "watchers have the earlier part already"
    assert not any(isinstance(event, ToolStarted | ToolFinished) for event in events)
    assert events[-1] == Finished(Outcome("answered", "Let me look.\n\nIt was tea."))


async def test_an_answer_that_was_stored_needs_nobody(stage: Stage) -> None:
    await end_of(stage.loop(ScriptedProvider(reply(call("find")), "It was tea.")))
    again = ScriptedProvider()
    assert await end_of(stage.loop(again)) == Outcome("answered", "It was tea.")
    assert again.calls == []


async def test_a_started_tool_that_is_not_safe_is_never_run_again(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply(call("save"))), at="2 finished save")
    assert len(stage.tools.ran) == 1
    provider = ScriptedProvider("Not sure it is saved.")
    events = await events_of(stage.loop(provider))
    assert len(stage.tools.ran) == 1
    assert sent(provider)[-1] == result(call("save"), INTERRUPTED, is_error=True)
    assert ToolFinished("save-1", "save", is_error=True, duration_s=0.0) in events
    assert stage.journal.notes.count("2 began save") == 1
    assert stage.journal.steps[2].is_finished


async def test_a_started_tool_that_is_safe_runs_again(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply(call("find"))), at="2 finished find")
    provider = ScriptedProvider("Found it.")
    assert await end_of(stage.loop(provider)) == Outcome("answered", "Found it.")
    assert len(stage.tools.ran) == 2
    assert sent(provider)[-1] == result(call("find"), "found")


async def test_a_started_tool_whose_grant_is_gone_is_not_run(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply(call("find"))), at="2 finished find")
    del stage.tools.tools["find"]
    provider = ScriptedProvider("Hm.")
    await end_of(stage.loop(provider))
    assert sent(provider)[-1] == result(call("find"), INTERRUPTED, is_error=True)


async def test_only_the_unfinished_one_of_parallel_tools_runs_again(stage: Stage) -> None:
    await end_of(stage.loop(ScriptedProvider(reply(call("find"), call("look")), "Done")))
    stage.unfinish(3)
    del stage.journal.steps[4]
    stage.tools.ran.clear()
    events = await events_of(stage.loop(ScriptedProvider("Done again")))
    assert [one.name for one in stage.tools.ran] == ["look"]
    assert [e.name for e in events if isinstance(e, ToolStarted)] == ["look"]


async def test_a_model_call_that_died_is_asked_again(stage: Stage) -> None:
    await crash(stage, ScriptedProvider("Hello"), at="1 replied")
    assert await end_of(stage.loop(ScriptedProvider("Hello"))) == Outcome("answered", "Hello")


async def test_circles_are_seen_across_attempts(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply(call("find", 1))), at="3 asked account-1")
    outcome = await end_of(stage.loop(ScriptedProvider(reply(call("find", 2)))))
    assert outcome.code == "repeated_result"


async def test_iterations_are_counted_across_attempts(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply(call("find"))), at="3 asked account-1")
    outcome = await end_of(stage.loop(ScriptedProvider(reply(call("look"))), max_iterations=2))
    assert outcome.code == "iterations_exhausted"


async def test_a_stopped_turn_that_is_run_again_keeps_what_was_said(stage: Stage) -> None:
    first = reply("Let me look.", call("find"))
    await crash(stage, ScriptedProvider(first), at="3 asked account-1")
    stage.stop.throw()
    provider = ScriptedProvider()
    assert await end_of(stage.loop(provider)) == Outcome("stopped", "Let me look.")
    assert provider.calls == []


async def test_a_stop_after_the_answer_was_stored_changes_nothing(stage: Stage) -> None:
    await end_of(stage.loop(ScriptedProvider("It was tea.")))
    stage.stop.throw()
    assert await end_of(stage.loop(ScriptedProvider())) == Outcome("answered", "It was tea.")


async def test_a_stopped_attempt_begins_no_tool(stage: Stage) -> None:
    await crash(stage, ScriptedProvider(reply("Saving.", call("save"))), at="2 began save")
    stage.stop.throw()
    events = await events_of(stage.loop(ScriptedProvider()))
    assert events == [Finished(Outcome("stopped", "Saving."))]
    assert stage.tools.ran == []


async def test_a_partial_text_of_a_later_attempt_leaves_out_what_was_replayed(
    stage: Stage,
) -> None:
    await crash(
        stage, ScriptedProvider(reply("Let me look.", call("find"))), at="3 asked account-1"
    )
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    provider = ScriptedProvider([TextDelta("It was"), Pause()])
    outcome = await end_of(stage.loop(provider))
    assert outcome == Outcome("stopped", "Let me look.\n\nIt was", partial="It was")


async def test_a_lease_lost_in_one_of_parallel_tools_waits_for_the_others(stage: Stage) -> None:
    stage.journal = MemoryJournal(lost_at="2 finished find")

    async def slow(_: ToolCall) -> str:
        await asyncio.sleep(3)
        return "seen"

    stage.tools.tools["look"].gives = slow
    with pytest.raises(LeaseLost):
        await events_of(stage.loop(ScriptedProvider(reply(call("find"), call("look")))))
    assert asyncio.all_tasks() == {asyncio.current_task()}


# --- the context ---


async def test_every_request_is_whole_however_history_broke(stage: Stage) -> None:
    lost, lone = call("find"), ToolResult("gone", "find", "lone")
    history = (UserMessage("One"), AssistantMessage((lost,)), UserMessage("Two"), lone)
    provider = ScriptedProvider("Hi")
    await end_of(stage.loop(provider, messages=history))
    assert sent(provider) == (
        UserMessage("One"),
        AssistantMessage((lost,)),
        result(lost, INTERRUPTED, is_error=True),
        UserMessage("Two"),
    )


async def test_history_fits_the_smallest_window_of_the_chain(stage: Stage) -> None:
    history = [
        message
        for n in range(100)
        for message in (UserMessage(f"{n} " * 100), AssistantMessage((TextBlock("ok"),)))
    ]
    provider = ScriptedProvider("Hi")
    chain = [link(provider, 1), link(ScriptedProvider(), 2, window_tokens=2_000)]
    await end_of(stage.loop(*chain, messages=[*history, UserMessage("Now")]))
    shown = sent(provider)
    assert shown[-1] == UserMessage("Now")
    assert 2 < len(shown) < 30


async def test_an_unforeseen_error_is_not_hidden(stage: Stage) -> None:
    class Broken(ScriptedProvider):
        def _next(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
            raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        await events_of(stage.loop(Broken()))


async def test_provider_errors_of_any_kind_become_an_outcome(stage: Stage) -> None:
    outcome = await end_of(stage.loop(ScriptedProvider(ProviderError("what?"))))
    assert outcome == Outcome("failed", "", "unknown")
