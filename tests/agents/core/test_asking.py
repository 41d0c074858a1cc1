"""Who is asked, in which order, how often, and what a broken answer may do."""

import asyncio
from dataclasses import replace

import pytest

from agents.core.asking import Asker, AskEvent, Question
from agents.core.errors import (
    AuthenticationFailed,
    BillingRefused,
    CapReached,
    ContextOverflow,
    NoProvider,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestRefused,
    Stopped,
    StreamBroken,
)
from agents.core.events import AnswerRestarted, Done, TextDelta, ToolCallBegan
from agents.core.messages import (
    AssistantMessage,
    Image,
    TextBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from agents.core.protocols import SystemPart
from agents.core.pump import Limits
from agents.core.tooling import ToolSpec
from tests.agents.core.conftest import Clock
from tests.fakes.scripted import Pause, Scene, ScriptedProvider, reply
from tests.fakes.seams import COOL_DOWN_S, MemoryCoolDowns, Stage, Stubborn, link

pytestmark = pytest.mark.usefixtures("clock")

QUESTION = Question(
    system=(SystemPart("SOUL.md", "Be kind. " * 40),),
    messages=(UserMessage("How are you? " * 40),),
    tools=(),
)
STOP_LIMIT_S = 0.3
TRANSIENT = [
    RateLimited("429"),
    Overloaded("529"),
    ProviderTimeout("silence"),
]
REFUSED_ACCOUNT = [AuthenticationFailed("401"), BillingRefused("402")]
REFUSED_REQUEST = [RequestRefused("400"), ContextOverflow("too long")]


@pytest.fixture
def stage() -> Stage:
    """Return one turn's surroundings."""
    return Stage()


async def hear(asker: Asker, question: Question = QUESTION) -> list[AskEvent]:
    """Return all that one step yields."""
    return [event async for event in asker.ask(1, question)]


def shown(events: list[AskEvent]) -> str:
    """Return what a client shows in the end."""
    text = ""
    for event in events:
        if isinstance(event, AnswerRestarted):
            text = ""
        elif isinstance(event, TextDelta):
            text += event.text
    return text


async def fail(asker: Asker) -> ProviderError:
    """Return the error in which one step ends."""
    with pytest.raises(ProviderError) as caught:
        await hear(asker)
    return caught.value


# --- the chain ---


async def test_free_accounts_are_asked_in_the_chains_order_without_waiting(
    stage: Stage, clock: Clock
) -> None:
    first = ScriptedProvider(RateLimited("429"))
    second = ScriptedProvider(Overloaded("529"))
    third, fourth = ScriptedProvider("Hi there"), ScriptedProvider()
    events = await hear(stage.asker(first, second, third, fourth))
    assert shown(events) == "Hi there"
    assert stage.slept == []
    assert clock.now_s < 1
    assert stage.cool_downs.failures == [(1, "rate_limit"), (2, "overloaded")]
    assert stage.cool_downs.successes == [3]
    assert [len(p.calls) for p in (first, second, third, fourth)] == [1, 1, 1, 0]


async def test_each_account_is_asked_for_its_own_model_within_its_own_limits(stage: Stage) -> None:
    provider = ScriptedProvider(RateLimited("429"), "Hi")
    await hear(stage.asker(link(provider, 7), link(provider, 8)))
    assert [call.model for call in provider.calls] == ["model-7", "model-8"]
    assert {call.max_output_tokens for call in provider.calls} == {1_000}
    assert {call.messages for call in provider.calls} == {QUESTION.messages}


async def test_only_a_model_that_sees_is_sent_pictures(stage: Stage) -> None:
    picture = Image("cat.jpg", "image/jpeg", b"...", 640, 480)
    question = Question(QUESTION.system, (UserMessage("Look", (picture,)),), ())
    seeing, blind = ScriptedProvider(Overloaded("529")), ScriptedProvider("A cat?")
    await hear(stage.asker(seeing, replace(link(blind, 2), supports_images=False)), question)
    assert seeing.calls[0].messages == question.messages
    (told,) = blind.calls[0].messages
    assert told == UserMessage("Look\n[a picture was sent, cat.jpg, which this model cannot see]")


async def test_a_model_without_tools_is_asked_without_any(stage: Stage) -> None:
    weather = ToolCall("call_1", "weather")
    question = Question(
        system=QUESTION.system,
        messages=(
            UserMessage("How is it?"),
            AssistantMessage((TextBlock("I look."), weather)),
            ToolResult("call_1", "weather", "Sunny."),
        ),
        tools=(ToolSpec("weather", "Tells the weather.", {}),),
    )
    able, unable = ScriptedProvider(Overloaded("529")), ScriptedProvider("Sunny.")
    await hear(stage.asker(able, replace(link(unable, 2), supports_tools=False)), question)
    assert (able.calls[0].tools, able.calls[0].messages) == (question.tools, question.messages)
    assert (unable.calls[0].tools, unable.calls[0].messages) == (
        (),
        (
            UserMessage("How is it?"),
            AssistantMessage((TextBlock("I look.\n\n[weather: Sunny.]"),)),
        ),
    )


async def test_each_link_says_how_much_its_model_thinks(stage: Stage) -> None:
    provider = ScriptedProvider(RateLimited("429"), "Hi")
    await hear(stage.asker(replace(link(provider, 7), effort="high"), link(provider, 8)))
    assert [call.effort for call in provider.calls] == ["high", ""]


async def test_a_link_for_which_no_money_is_left_is_passed_over(stage: Stage) -> None:
    dear, free = ScriptedProvider(), ScriptedProvider("Hi there")
    stage.purse.refused = {1}
    assert shown(await hear(stage.asker(dear, free))) == "Hi there"
    assert (len(dear.calls), stage.cool_downs.failures) == (0, [])


async def test_without_money_for_anybody_nobody_is_asked(stage: Stage) -> None:
    stage.purse.refused = {1, 2}
    with pytest.raises(CapReached):
        await hear(stage.asker(ScriptedProvider(), ScriptedProvider()))
    assert stage.journal.notes == []


@pytest.mark.parametrize("error", TRANSIENT, ids=lambda error: error.code)
async def test_the_last_account_is_asked_again_after_2_and_4_s(
    stage: Stage, error: ProviderError, clock: Clock
) -> None:
    provider = ScriptedProvider(error, error, "At last")
    assert shown(await hear(stage.asker(provider))) == "At last"
    assert stage.slept == [2, 4]
    assert clock.now_s == pytest.approx(6, abs=0.1)
    assert stage.cool_downs.failures == []


@pytest.mark.parametrize("error", TRANSIENT, ids=lambda error: error.code)
async def test_after_two_retries_the_last_account_has_failed_once(
    stage: Stage, error: ProviderError
) -> None:
    provider = ScriptedProvider(*[error] * 3)
    assert await fail(stage.asker(provider)) is error
    assert stage.slept == [2, 4]
    assert stage.cool_downs.failures == [(1, error.code)]
    provider.assert_done()


@pytest.mark.parametrize(
    ("asked_s", "waited_s"), [(7.0, 7.0), (0.5, 2.0), (0.0, 2.0), (3_600.0, 30.0), (None, 2.0)]
)
async def test_the_wait_is_what_the_provider_asks_but_30_s_at_most(
    stage: Stage, asked_s: float | None, waited_s: float
) -> None:
    provider = ScriptedProvider(RateLimited("429", retry_after_s=asked_s), "Hi")
    await hear(stage.asker(provider))
    assert stage.slept == [waited_s]


async def test_when_all_are_exhausted_the_last_error_is_told(stage: Stage) -> None:
    last = Overloaded("third")
    chain = [ScriptedProvider(RateLimited("429")), ScriptedProvider(RequestRefused("400"))]
    assert await fail(stage.asker(*chain, ScriptedProvider(*[last] * 3))) is last
    assert stage.slept == [2, 4]


@pytest.mark.parametrize("error", REFUSED_ACCOUNT, ids=lambda error: error.code)
async def test_a_refused_account_is_switched_off_and_the_next_is_asked(
    stage: Stage, error: ProviderError
) -> None:
    assert shown(await hear(stage.asker(ScriptedProvider(error), ScriptedProvider("Hi")))) == "Hi"
    assert stage.cool_downs.waits[1] is None
    assert stage.slept == []


@pytest.mark.parametrize("error", REFUSED_ACCOUNT, ids=lambda error: error.code)
async def test_a_refused_account_is_not_asked_for_its_other_models(
    stage: Stage, error: ProviderError
) -> None:
    refused, other = ScriptedProvider(error), ScriptedProvider(Overloaded("529"), "Hi")
    asker = stage.asker(link(refused, 1), link(other, 2), link(refused, 1))
    assert shown(await hear(asker)) == "Hi"
    assert len(refused.calls) == 1
    assert stage.slept == [2], "the account before the refused one's second place is the last"


@pytest.mark.parametrize("error", REFUSED_ACCOUNT, ids=lambda error: error.code)
async def test_a_refused_account_is_not_tried_again_even_as_the_last(
    stage: Stage, error: ProviderError
) -> None:
    assert await fail(stage.asker(ScriptedProvider(error))) is error
    assert stage.slept == []


@pytest.mark.parametrize("error", REFUSED_REQUEST, ids=lambda error: error.code)
async def test_a_refused_request_cools_nothing_down(stage: Stage, error: ProviderError) -> None:
    first, second = ScriptedProvider(error), ScriptedProvider(error)
    assert await fail(stage.asker(first, second)) is error
    assert stage.cool_downs.failures == []
    assert stage.slept == []


async def test_an_unknown_failure_cools_down_and_is_not_tried_again(stage: Stage) -> None:
    error = ProviderError("what?")
    assert await fail(stage.asker(ScriptedProvider(error))) is error
    assert stage.cool_downs.failures == [(1, "unknown")]


async def test_a_cooling_account_is_passed_over_while_another_is_free(stage: Stage) -> None:
    stage.cool_downs.waits = {1: 100.0, 2: None}
    idle = ScriptedProvider()
    assert shown(await hear(stage.asker(idle, idle, ScriptedProvider("Hi")))) == "Hi"
    assert idle.calls == []


async def test_while_all_cool_down_the_one_free_soonest_is_asked(stage: Stage) -> None:
    stage.cool_downs.waits = {1: 100.0, 2: 50.0, 3: None, 4: 70.0}
    idle, soonest = ScriptedProvider(), ScriptedProvider(Overloaded("529"), "Hi")
    assert shown(await hear(stage.asker(idle, soonest, idle, idle))) == "Hi"
    assert stage.slept == [2]
    assert idle.calls == []


async def test_where_all_are_switched_off_nobody_is_asked(stage: Stage) -> None:
    stage.cool_downs.waits = {1: None, 2: None}
    with pytest.raises(NoProvider):
        await hear(stage.asker(ScriptedProvider(), ScriptedProvider()))
    assert stage.journal.notes == []


async def test_an_empty_chain_asks_nobody(stage: Stage) -> None:
    with pytest.raises(NoProvider):
        await hear(stage.asker())


async def test_an_account_that_is_gone_is_not_asked(stage: Stage) -> None:
    class Nobody(MemoryCoolDowns):
        async def standing(self, account_ids: object) -> dict[int, float | None]:
            return {}

    stage.cool_downs = Nobody()
    with pytest.raises(NoProvider):
        await hear(stage.asker(ScriptedProvider()))


async def test_case_failover_1_a_named_rate_limit_cools_down_and_is_told_once(
    stage: Stage,
) -> None:
    error = RateLimited("429 usage_limit_reached")
    assert await fail(stage.asker(ScriptedProvider(*[error] * 3))) is error
    assert stage.cool_downs.failures == [(1, "rate_limit")]
    assert stage.cool_downs.waits[1] == COOL_DOWN_S


async def test_case_failover_2_the_fallback_starts_within_5_s(stage: Stage, clock: Clock) -> None:
    first = ScriptedProvider(RateLimited("429", retry_after_s=30))
    assert shown(await hear(stage.asker(first, ScriptedProvider("Hi")))) == "Hi"
    assert clock.now_s < 5


# --- streams that break ---


async def test_a_stream_that_breaks_before_text_is_asked_once_plainly(stage: Stage) -> None:
    provider = ScriptedProvider([StreamBroken("cut")], "Whole answer")
    events = await hear(stage.asker(provider, ScriptedProvider()))
    assert provider.was_plain == [False, True]
    assert shown(events) == "Whole answer"
    assert AnswerRestarted() not in events
    assert stage.slept == []


async def test_after_the_plain_call_the_next_account_is_asked(stage: Stage) -> None:
    first = ScriptedProvider([ToolCallBegan("find"), StreamBroken("cut")], StreamBroken("again"))
    second = ScriptedProvider("Hi")
    assert shown(await hear(stage.asker(first, second))) == "Hi"
    assert first.was_plain == [False, True]
    assert stage.cool_downs.failures == [(1, "stream_broken")]


async def test_the_last_account_is_asked_plainly_once_and_then_retried(stage: Stage) -> None:
    provider = ScriptedProvider(*[StreamBroken("cut")] * 4)
    await fail(stage.asker(provider))
    assert provider.was_plain == [False, True, False, False]
    assert stage.slept == [2, 4]


async def test_a_stream_that_breaks_after_text_begins_again_once_on_the_same_account(
    stage: Stage,
) -> None:
    provider = ScriptedProvider([TextDelta("Half an "), StreamBroken("cut")], "A whole answer")
    other = ScriptedProvider()
    events = await hear(stage.asker(provider, other))
    assert events[:2] == [TextDelta("Half an "), AnswerRestarted()]
    assert events.count(AnswerRestarted()) == 1
    assert shown(events) == "A whole answer"
    assert provider.was_plain == [False, False]
    assert stage.slept == []
    assert other.calls == []


@pytest.mark.parametrize(
    "second",
    [
        [StreamBroken("before text")],
        [TextDelta("Another "), StreamBroken("after text")],
        [TextDelta("Another "), RateLimited("429")],
        [AuthenticationFailed("401")],
    ],
    ids=["before text", "after text", "rate limit", "auth"],
)
async def test_no_other_account_and_no_second_restart_repeats_text(
    stage: Stage, second: list[TextDelta | ProviderError]
) -> None:
    provider = ScriptedProvider([TextDelta("Half "), StreamBroken("cut")], second)
    other = ScriptedProvider()
    error = await fail(stage.asker(provider, other))
    assert error is second[-1]
    assert other.calls == []
    assert len(provider.calls) == 2
    assert stage.cool_downs.failures == [(1, error.code)]


@pytest.mark.parametrize("error", [*REFUSED_ACCOUNT, *REFUSED_REQUEST], ids=lambda e: e.code)
async def test_what_helps_nobody_to_repeat_is_not_restarted(
    stage: Stage, error: ProviderError
) -> None:
    provider, other = ScriptedProvider([TextDelta("Half "), error]), ScriptedProvider()
    assert await fail(stage.asker(provider, other)) is error
    assert other.calls == []


async def test_silence_after_text_begins_again_after_60_s(stage: Stage, clock: Clock) -> None:
    provider = ScriptedProvider([TextDelta("Half "), Pause()], "Whole")
    assert shown(await hear(stage.asker(provider))) == "Whole"
    assert clock.now_s == pytest.approx(60, abs=0.1)


async def test_silence_from_the_start_goes_on_to_the_next_after_60_s(
    stage: Stage, clock: Clock
) -> None:
    first = ScriptedProvider([Pause()])
    assert shown(await hear(stage.asker(first, ScriptedProvider("Hi")))) == "Hi"
    assert clock.now_s == pytest.approx(60, abs=0.1)
    assert stage.cool_downs.failures == [(1, "timeout")]


async def test_a_plain_call_may_take_as_long_as_a_call_may(stage: Stage, clock: Clock) -> None:
    slow = ScriptedProvider([StreamBroken("cut")], [Pause(599), Done(reply("Slow"))])
    assert shown(await hear(stage.asker(slow))) == "Slow"
    stuck = ScriptedProvider([StreamBroken("cut")], [Pause()])
    began = clock.now_s
    assert shown(await hear(stage.asker(stuck, ScriptedProvider("Hi")))) == "Hi"
    assert clock.now_s - began == pytest.approx(600, abs=0.1)


@pytest.mark.parametrize("silent", ["", " \n"])
async def test_an_empty_answer_counts_as_broken_streamed_or_plain(
    stage: Stage, silent: str
) -> None:
    first = ScriptedProvider([Done(reply(silent))], [Done(reply(silent))])
    assert shown(await hear(stage.asker(first, ScriptedProvider("Hi")))) == "Hi"
    assert first.was_plain == [False, True]


async def test_a_silent_refusal_is_an_answer(stage: Stage) -> None:
    silent = reply(stop_reason="refusal")
    provider, other = ScriptedProvider([Done(silent)]), ScriptedProvider()
    assert await hear(stage.asker(provider, other)) == [Done(silent)]
    assert other.calls == []


async def test_a_stream_without_an_end_is_asked_plainly(stage: Stage) -> None:
    provider = ScriptedProvider([ToolCallBegan("find")], "Whole")
    assert shown(await hear(stage.asker(provider))) == "Whole"
    assert provider.was_plain == [False, True]


# --- stop ---


async def test_after_a_stop_nothing_is_asked_reserved_or_noted(stage: Stage) -> None:
    stage.stop.throw()
    with pytest.raises(Stopped):
        await hear(stage.asker(ScriptedProvider()))
    assert stage.journal.notes == []
    assert stage.purse.reserved == []


async def test_stop_in_a_stream_closes_it_and_asks_nobody_else(stage: Stage, clock: Clock) -> None:
    provider, other = ScriptedProvider([TextDelta("Half "), Pause()]), ScriptedProvider()
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(provider, other))
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert provider.closed_early == 1
    assert other.calls == []
    assert stage.cool_downs.failures == []


async def test_case_stop_2_a_provider_that_ignores_cancellation_holds_nobody_up(
    stage: Stage, clock: Clock
) -> None:
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(Stubborn(ignores_s=10)))
    assert clock.now_s - 5 <= STOP_LIMIT_S
    noted = list(stage.journal.notes)
    await asyncio.sleep(20)
    assert stage.journal.notes == noted, "late output is discarded"


async def test_stop_in_a_plain_call_ends_it(stage: Stage, clock: Clock) -> None:
    provider = ScriptedProvider([StreamBroken("cut")], [Pause()])
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(provider))
    assert clock.now_s - 5 <= STOP_LIMIT_S


async def test_stop_in_a_retry_pause_ends_it(stage: Stage, clock: Clock) -> None:
    provider = ScriptedProvider(RateLimited("429", retry_after_s=30))
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(provider))
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert len(provider.calls) == 1


# --- the journal and the purse ---


async def test_each_request_is_noted_before_it_leaves(stage: Stage) -> None:
    noted_at_call: list[list[str]] = []

    class Watching(ScriptedProvider):
        def _next(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
            noted_at_call.append(list(stage.journal.notes))
            return super()._next(*args, **kwargs)  # type: ignore[arg-type]

    await hear(stage.asker(Watching(RateLimited("429")), Watching("Hi")))
    assert noted_at_call == [
        ["1 asked account-1"],
        ["1 asked account-1", "1 broke", "1 asked account-2"],
    ]
    assert stage.journal.notes[-1] == "1 replied"


async def test_a_reply_is_stored_before_its_end_is_told(stage: Stage) -> None:
    async for event in stage.asker(ScriptedProvider("Hi")).ask(1, QUESTION):
        assert isinstance(event, Done) == ("1 replied" in stage.journal.notes)


async def test_the_providers_figures_are_charged_with_their_reservation(stage: Stage) -> None:
    usage = Usage(3, 73_030, 2_124, 1_059)
    await hear(stage.asker(ScriptedProvider(reply("Hi", usage=usage))))
    (charge,) = stage.journal.charges
    assert (charge.usage, charge.reservation, charge.was_broken) == (usage, "slip-1", False)


async def test_without_figures_input_tools_and_output_are_estimated(stage: Stage) -> None:
    spec = ToolSpec("find", "Finds. " * 100, {"type": "object"})
    call = ToolCall("1", "find", {"text": "x" * 400})
    for tools in ((), (spec,)):
        question = Question(QUESTION.system, QUESTION.messages, tools)
        provider = ScriptedProvider([Done(reply("Look", call, usage=None))])
        await hear(stage.asker(provider), question)
    bare, with_tool = (charge.usage for charge in stage.journal.charges)
    assert bare.is_estimate
    assert 200 <= bare.input_tokens <= 250
    assert bare.output_tokens > 100
    assert with_tool.input_tokens - bare.input_tokens >= 170


@pytest.mark.parametrize(
    "error", [*TRANSIENT[:2], *REFUSED_ACCOUNT, *REFUSED_REQUEST], ids=lambda error: error.code
)
async def test_a_request_refused_outright_costs_nothing(stage: Stage, error: ProviderError) -> None:
    await hear(stage.asker(ScriptedProvider(error), ScriptedProvider("Hi")))
    assert [charge.was_broken for charge in stage.journal.charges] == [False]


async def test_a_broken_answer_is_charged_as_an_estimate(stage: Stage) -> None:
    half = TextDelta("Half an answer " * 20)
    await hear(stage.asker(ScriptedProvider([half, StreamBroken("cut")], "Whole")))
    broken, whole = stage.journal.charges
    assert broken.was_broken
    assert broken.usage.is_estimate
    assert broken.usage.input_tokens > 200
    assert broken.usage.output_tokens == pytest.approx(75, abs=5)
    assert not whole.was_broken
    assert stage.purse.reserved == [broken.reservation, whole.reservation]


async def test_an_unanswered_request_is_charged_for_its_input(stage: Stage) -> None:
    stage.limits = Limits(first_event_s=1)
    await hear(stage.asker(ScriptedProvider([Pause()]), ScriptedProvider("Hi")))
    unanswered = stage.journal.charges[0]
    assert unanswered.was_broken
    assert unanswered.usage.input_tokens > 200
    assert unanswered.usage.output_tokens == 0


@pytest.mark.parametrize("said", ["", "Half an answer "], ids=["unanswered", "half said"])
async def test_a_stopped_request_is_charged_as_an_estimate(stage: Stage, said: str) -> None:
    scenes: list[Scene] = [TextDelta(said), Pause()] if said else [Pause()]
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(ScriptedProvider(scenes)))
    (charge,) = stage.journal.charges
    assert charge.was_broken
    assert charge.usage.input_tokens > 200
    assert bool(charge.usage.output_tokens) == bool(said)


async def test_a_stopped_plain_call_is_charged_too(stage: Stage) -> None:
    provider = ScriptedProvider([StreamBroken("cut")], [Pause()])
    asyncio.get_running_loop().call_later(5, stage.stop.throw)
    with pytest.raises(Stopped):
        await hear(stage.asker(provider))
    assert [charge.was_broken for charge in stage.journal.charges] == [True, True]


async def test_call_ids_are_unique_before_a_reply_is_stored(stage: Stage) -> None:
    twins = reply(ToolCall("", "a"), ToolCall("x", "b"), ToolCall("x", "c"))
    events = await hear(stage.asker(ScriptedProvider([Done(twins)])))
    done = events[-1]
    assert isinstance(done, Done)
    ids = [call.id for call in done.reply.message.tool_calls]
    assert len(set(ids)) == 3
    assert all(ids)
    assert stage.journal.steps[1].reply == done.reply
