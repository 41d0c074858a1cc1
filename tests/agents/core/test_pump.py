"""Waiting for somebody else's work: not endlessly, and not longer than a person wants."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest

from agents.core.errors import ProviderError, ProviderTimeout, RateLimited, Stopped, StreamBroken
from agents.core.events import Done, ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import Reply, StopReason, ToolCall
from agents.core.pump import Limits, StopSwitch, pump, within
from tests.agents.core.conftest import Clock
from tests.fakes.scripted import Pause, Scene, ScriptedProvider, reply
from tests.fakes.seams import ASKED, Stubborn

pytestmark = pytest.mark.usefixtures("clock")

WORD = TextDelta("word ")
END = Done(reply("word "))
STOP_LIMIT_S = 0.3


def stream(*scenes: Scene) -> AsyncGenerator[ProviderEvent]:
    """Return a provider's stream of these scenes."""
    return ScriptedProvider(scenes).stream(ASKED)


async def pumped(
    source: AsyncIterator[ProviderEvent],
    *,
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
    stop: StopSwitch | None = None,
) -> list[ProviderEvent]:
    """Return what comes through."""
    return [event async for event in pump(source, limits=limits, stop=stop or StopSwitch())]


# --- a stream's end ---


async def test_events_come_through_in_order_and_done_is_last() -> None:
    came = await pumped(stream(WORD, ToolCallBegan("find"), WORD, END))
    assert came == [WORD, ToolCallBegan("find"), WORD, END]


async def test_what_follows_done_is_not_waited_for() -> None:
    assert await pumped(stream(END, Pause(), WORD)) == [END]


async def test_a_stream_without_done_is_broken() -> None:
    with pytest.raises(StreamBroken):
        await pumped(stream(WORD))


@pytest.mark.parametrize("stop_reason", ["end", "tool_calls"])
@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_reply_is_broken(text: str, stop_reason: StopReason) -> None:
    with pytest.raises(StreamBroken):
        await pumped(stream(Done(reply(text, stop_reason=stop_reason))))


@pytest.mark.parametrize("stop_reason", ["max_tokens", "refusal", "other"])
async def test_an_empty_reply_that_says_why_is_no_failure(stop_reason: StopReason) -> None:
    silent = Done(reply(stop_reason=stop_reason))
    assert await pumped(stream(silent)) == [silent]


async def test_a_reply_that_only_calls_a_tool_is_not_empty() -> None:
    only_call = Done(reply(ToolCall("1", "find")))
    assert await pumped(stream(only_call)) == [only_call]


async def test_a_providers_error_arrives_as_it_is_behind_what_came_before() -> None:
    error = RateLimited("slow down", retry_after_s=7)
    events = pump(stream(WORD, error), limits=Limits(), stop=StopSwitch())
    assert await anext(events) == WORD
    with pytest.raises(RateLimited) as caught:
        await anext(events)
    assert caught.value is error


async def test_a_stream_that_cancels_itself_is_broken_at_once(clock: Clock) -> None:
    async def cancelled() -> AsyncGenerator[ProviderEvent]:
        yield WORD
        raise asyncio.CancelledError

    with pytest.raises(StreamBroken):
        await pumped(cancelled())
    assert clock.now_s < 1


# --- limits ---


async def test_nothing_for_60_s_is_a_timeout(clock: Clock) -> None:
    provider = ScriptedProvider([Pause(), END])
    with pytest.raises(ProviderTimeout):
        await pumped(provider.stream(ASKED))
    assert clock.now_s == pytest.approx(60, abs=0.1)
    assert provider.closed_early == 1


async def test_silence_of_60_s_between_events_is_a_timeout(clock: Clock) -> None:
    with pytest.raises(ProviderTimeout):
        await pumped(stream(Pause(50), WORD, Pause(50), WORD, Pause()))
    assert clock.now_s == pytest.approx(50 + 50 + 60, abs=0.1)


async def test_a_call_that_trickles_for_10_minutes_is_a_timeout(clock: Clock) -> None:
    trickle = [scene for _ in range(100) for scene in (Pause(50), WORD)]
    with pytest.raises(ProviderTimeout):
        await pumped(stream(*trickle))
    assert clock.now_s == pytest.approx(600, abs=0.1)


async def test_the_limits_can_be_set(clock: Clock) -> None:
    limits = Limits(first_event_s=0.3, between_events_s=0.2, call_s=1)
    with pytest.raises(ProviderTimeout):
        await pumped(stream(Pause(0.25), WORD, Pause()), limits=limits)
    assert clock.now_s == pytest.approx(0.45, abs=0.01)


async def flood() -> AsyncGenerator[ProviderEvent]:
    """Yield text for ever without once waiting for anything."""
    while True:
        yield WORD


async def test_a_flood_without_end_is_ended_by_the_calls_limit(clock: Clock) -> None:
    async def drink() -> None:
        count = 0
        async for _ in pump(flood(), limits=Limits(call_s=1), stop=StopSwitch()):
            count += 1
            assert count < 1_000
            await asyncio.sleep(0.01)

    with pytest.raises(ProviderTimeout):
        await drink()
    assert clock.now_s == pytest.approx(1, abs=0.1)


async def test_a_flood_is_stopped_before_its_backlog_is_told() -> None:
    stop = StopSwitch()
    events = pump(flood(), limits=Limits(), stop=stop)
    assert await anext(events) == WORD
    stop.throw()
    with pytest.raises(Stopped):
        await anext(events)


# --- stop ---


async def test_stop_ends_a_silent_stream_at_once_and_closes_it(clock: Clock) -> None:
    provider = ScriptedProvider([WORD, Pause(), END])
    stop = StopSwitch()
    asyncio.get_running_loop().call_later(5, stop.throw)
    with pytest.raises(Stopped):
        await pumped(provider.stream(ASKED), stop=stop)
    assert clock.now_s - 5 <= STOP_LIMIT_S
    assert provider.closed_early == 1


async def test_after_a_stop_nothing_is_asked() -> None:
    provider = ScriptedProvider()
    stop = StopSwitch()
    stop.throw()
    with pytest.raises(Stopped):
        await pumped(provider.stream(ASKED), stop=stop)
    assert provider.calls == []


async def test_stop_does_not_wait_for_a_stream_that_ignores_cancellation(clock: Clock) -> None:
    provider = Stubborn(ignores_s=10)
    stop = StopSwitch()
    asyncio.get_running_loop().call_later(5, stop.throw)
    with pytest.raises(Stopped):
        await pumped(provider.stream(ASKED), stop=stop)
    assert clock.now_s - 5 <= STOP_LIMIT_S


async def test_a_stream_left_behind_is_closed_as_soon_as_it_listens() -> None:
    provider = Stubborn(ignores_s=10, goes_on=True)
    stop = StopSwitch()
    asyncio.get_running_loop().call_later(5, stop.throw)
    with pytest.raises(Stopped):
        await pumped(provider.stream(ASKED), stop=stop)
    async with asyncio.timeout(20):
        await provider.closed.wait()
    assert provider.given_late == 1


async def test_a_watcher_who_goes_away_closes_the_stream() -> None:
    provider = ScriptedProvider([WORD, Pause(), END])
    async with aclosing(pump(provider.stream(ASKED), limits=Limits(), stop=StopSwitch())) as events:
        assert await anext(events) == WORD
    assert provider.closed_early == 1


# --- work in one piece ---


async def give(reply_after_s: float) -> Reply:
    """Return a reply after a while."""
    await asyncio.sleep(reply_after_s)
    return reply("late")


async def test_work_within_its_time_gives_its_result() -> None:
    assert await within(give(9), timeout_s=10, stop=StopSwitch()) == reply("late")


async def test_works_error_arrives_as_it_is() -> None:
    async def fail() -> None:
        raise RateLimited("slow down")

    with pytest.raises(RateLimited):
        await within(fail(), timeout_s=10, stop=StopSwitch())


async def test_work_beyond_its_time_is_cancelled(clock: Clock) -> None:
    with pytest.raises(TimeoutError):
        await within(give(20), timeout_s=10, stop=StopSwitch())
    assert clock.now_s == pytest.approx(10, abs=0.1)


async def test_work_that_ignores_cancellation_is_left_behind(clock: Clock) -> None:
    stop = StopSwitch()
    asyncio.get_running_loop().call_later(1, stop.throw)
    with pytest.raises(Stopped):
        await within(Stubborn(ignores_s=10).complete(ASKED), timeout_s=100, stop=stop)
    assert clock.now_s - 1 <= STOP_LIMIT_S


async def test_an_error_of_work_left_behind_disturbs_nobody() -> None:
    heard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))

    async def fail_late() -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(5)
            raise ProviderError("too late") from None

    with pytest.raises(TimeoutError):
        await within(fail_late(), timeout_s=1, stop=StopSwitch())
    await asyncio.sleep(10)
    assert heard == []


async def test_a_result_that_comes_together_with_the_stop_is_kept() -> None:
    stop = StopSwitch()

    async def finish() -> str:
        stop.throw()
        return "done"

    assert await within(finish(), timeout_s=10, stop=stop) == "done"


async def test_work_that_cancels_itself_does_not_cancel_its_caller() -> None:
    async def cancel() -> str:
        raise asyncio.CancelledError

    with pytest.raises(TimeoutError):
        await within(cancel(), timeout_s=10, stop=StopSwitch())


async def test_a_cancelled_caller_cancels_the_work() -> None:
    was_cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            was_cancelled.set()
            raise

    caller = asyncio.create_task(within(work(), timeout_s=1_000, stop=StopSwitch()))
    asyncio.get_running_loop().call_later(1, caller.cancel)
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert was_cancelled.is_set()
