"""What holds for every provider, whichever wire it speaks."""

import asyncio
import json
import time
import traceback

import pytest

from agents.core.errors import (
    AuthenticationFailed,
    BillingRefused,
    ContextOverflow,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Redirected,
    RequestRefused,
    StreamBroken,
)
from agents.core.events import Alive, Done, ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import JsonObject, ToolCall
from agents.core.protocols import ModelCall, Provider, SystemPart
from agents.providers import Endpoint, offline_part, open_provider, wire
from tests.agents.providers.calls import WEATHER, ask, collect, first_piece, make_call
from tests.agents.providers.conftest import KEY, LIMITS
from tests.fakes.script import (
    Answer,
    CallTool,
    EndBody,
    Refusal,
    Reset,
    Say,
    SendError,
    SendRaw,
    Silence,
    Think,
    Tokens,
    answer,
)
from tests.fakes.server import FakeServer

STOP_LIMIT_NS = 300 * 10**6


async def fail(provider: Provider, call: ModelCall | None = None) -> ProviderError:
    """Return the error that a stream ends in."""
    with pytest.raises(ProviderError) as caught:
        await collect(provider, call)
    return caught.value


# --- answers ---


async def test_text_comes_in_pieces_and_done_is_last(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer(Say("Hello, world", chunks=4)))
    *pieces, done = await collect(provider)
    assert pieces == [TextDelta("Hel"), TextDelta("lo,"), TextDelta(" wo"), TextDelta("rld")]
    assert isinstance(done, Done)
    assert done.reply.message.text == "Hello, world"
    assert done.reply.stop_reason == "end"


async def test_plain_call_gives_the_same_reply(provider: Provider, fake: FakeServer) -> None:
    played = answer("Hello", Think("Hm."), CallTool("weather", {"city": "Xiva"}, id="call_1"))
    fake.play(played, played)
    streamed = await ask(provider)
    assert await provider.complete(make_call()) == streamed
    assert [request.body["stream"] for request in fake.requests] == [True, False]


async def test_first_piece_does_not_wait_for_the_second(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(answer("one", Silence(0.3), "two"))
    stream = provider.stream(make_call())
    assert await first_piece(stream) == "one"
    assert fake.last.finished_at_ns is None
    assert await first_piece(stream) == "two"


async def test_parallel_tool_calls_keep_order_and_arguments(
    provider: Provider, fake: FakeServer
) -> None:
    arguments: JsonObject = {"city": "Buxoro — Бухоро", "days": [1, 2], "more": {"a": None}}
    fake.play(
        answer("Looking.", CallTool("weather", arguments, id="a", chunks=9), CallTool("time", {}))
    )
    events = await collect(provider, make_call(tools=(WEATHER,)))
    assert [e for e in events if isinstance(e, ToolCallBegan)] == [
        ToolCallBegan("weather"),
        ToolCallBegan("time"),
    ]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.reply.stop_reason == "tool_calls"
    first, second = done.reply.message.tool_calls
    assert first == ToolCall("a", "weather", arguments)
    assert (second.name, second.arguments) == ("time", {})


async def test_unknown_tool_name_is_passed_on(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer(CallTool("no such tool", {"a": 1})))
    (call,) = (await ask(provider)).message.tool_calls
    assert call.name == "no such tool"


@pytest.mark.parametrize("raw", ['{"city": "Xi', "[1, 2]", '"Xiva"', "{'city': 1}", '{"a": NaN}'])
async def test_arguments_that_are_no_object_are_kept_as_malformed(
    provider: Provider, fake: FakeServer, raw: str
) -> None:
    fake.play(answer(CallTool("weather", raw)))
    (call,) = (await ask(provider)).message.tool_calls
    assert (call.arguments, call.malformed) == ({}, raw)


async def test_missing_and_repeated_call_ids_become_unique(
    provider: Provider, fake: FakeServer
) -> None:
    ids = ["", "", "same", "same"]
    fake.play(answer(*(CallTool("weather", {"n": n}, id=i) for n, i in enumerate(ids))))
    calls = (await ask(provider)).message.tool_calls
    assert [call.arguments["n"] for call in calls] == [0, 1, 2, 3]
    assert len({call.id for call in calls} - {""}) == 4
    assert calls[2].id == "same"


async def test_thoughts_and_unknown_events_pass_without_effect(
    provider: Provider, fake: FakeServer
) -> None:
    odd = b': a comment\n\nevent: news\ndata: {"type": "news", "value": [1]}\n\ndata: 7\n\n'
    fake.play(answer(Think("Let me see."), SendRaw(odd), "Yes."))
    assert (await ask(provider)).message.text == "Yes."


@pytest.mark.parametrize(
    "step", [Think("Hm."), CallTool("weather", {"city": "Xiva"}, chunks=20)], ids=["think", "call"]
)
async def test_hidden_work_gives_signs_of_life(
    provider: Provider,
    fake: FakeServer,
    step: Think | CallTool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake.play(answer(step, step, step, "Yes."), answer(step, step, step, "Yes."))
    seldom = [event async for event in provider.stream(make_call())]
    monkeypatch.setattr(wire, "ALIVE_EVERY_S", 0.0)
    often = [event async for event in provider.stream(make_call())]
    assert seldom[0] == Alive()
    assert seldom.count(Alive()) == 1
    assert often.count(Alive()) >= 4


async def test_figures_are_counted_once(provider: Provider, fake: FakeServer) -> None:
    tokens = Tokens(input=100, cache_read=900, cache_write=0, output=50, reasoning=20)
    fake.play(answer("Hi.", tokens=tokens))
    usage = (await ask(provider)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (100, 900)
    assert (usage.output_tokens, usage.reasoning_tokens) == (50, 20)
    assert usage.context_tokens == 1050
    assert not usage.is_estimate


async def test_no_figures_are_none(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer("Hi.", tokens=None), answer("Hi.", tokens=None))
    assert (await ask(provider)).usage is None
    assert (await provider.complete(make_call())).usage is None


async def test_the_answering_model_is_named(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer("Hi.", model="model-1-2026-11-30"))
    assert (await ask(provider)).model == "model-1-2026-11-30"


async def test_an_answer_in_one_piece_is_taken_where_a_stream_was_asked(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(answer("Whole.", CallTool("weather", {"city": "Xiva"}), is_whole=True))
    events = await collect(provider)
    assert events[:2] == [ToolCallBegan("weather"), TextDelta("Whole.")]
    assert isinstance(events[-1], Done)


async def test_what_cannot_be_stored_is_taken_out(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer(Say("a\0b\ud800c"), CallTool("weather", '{"city": "X\\u0000i\\ud800va"}')))
    reply = await ask(provider)
    assert reply.message.text == "ab\ufffdc"
    assert reply.message.tool_calls[0].arguments == {"city": "Xi\ufffdva"}


async def test_a_prompt_with_lone_surrogates_is_sent(provider: Provider, fake: FakeServer) -> None:
    fake.play("Fine.")
    await ask(provider, make_call("odd \ud83d text"))
    assert "odd ? text" in json.dumps(fake.last.body)


async def test_what_the_offline_provider_would_say_is_not_sent(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play("Fine.")
    await ask(provider, make_call(system=(SystemPart("soul", "Be kind."), offline_part("Secret."))))
    sent = json.dumps(fake.last.body)
    assert "Be kind." in sent
    assert "Secret." not in sent


# --- connections ---


async def test_calls_share_one_connection(provider: Provider, fake: FakeServer) -> None:
    fake.play("One.", "Two.", answer(CallTool("weather")), Refusal(529, None), "Three.")
    await ask(provider)
    await provider.complete(make_call())
    await ask(provider)
    await fail(provider)
    await ask(provider)
    assert len({request.port for request in fake.requests}) == 1


async def test_streams_do_not_mix(provider: Provider, fake: FakeServer) -> None:
    fake.rule = lambda request: answer(Say(str(request.body["messages"]) * 3, chunks=20))

    async def one(number: int) -> None:
        reply = await ask(provider, make_call(f"This is number {number}."))
        assert reply.message.text.count(f"number {number}.") == 3

    await asyncio.gather(*(one(number) for number in range(40)))


async def test_closing_the_stream_closes_the_connection_at_once(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(answer(Say("word ", chunks=None, interval_s=0.02)))
    stream = provider.stream(make_call())
    await first_piece(stream)
    closed_at_ns = time.monotonic_ns()
    await stream.aclose()  # type: ignore[attr-defined]
    await assert_hung_up(fake, closed_at_ns)


@pytest.mark.parametrize("steps", [(Silence(30),), ("Well", Silence(30))], ids=["before", "amid"])
async def test_cancelling_the_call_closes_the_connection_at_once(
    provider: Provider, fake: FakeServer, steps: tuple[Silence | str, ...]
) -> None:
    fake.play(answer(*steps))
    task = asyncio.create_task(collect(provider))
    await asyncio.to_thread(fake.wait_until, lambda: bool(fake.requests))
    if len(steps) > 1:
        await asyncio.to_thread(fake.wait_until, lambda: fake.last.first_sent_at_ns is not None)
    closed_at_ns = time.monotonic_ns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await assert_hung_up(fake, closed_at_ns)


async def assert_hung_up(fake: FakeServer, closed_at_ns: int) -> None:
    """Check that the server saw the end in time."""
    await asyncio.to_thread(fake.wait_until, lambda: fake.last.closed_at_ns is not None)
    assert fake.last.closed_at_ns is not None
    assert fake.last.closed_at_ns - closed_at_ns < STOP_LIMIT_NS


async def test_the_next_call_works_after_a_closed_stream(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(answer(Say("word ", chunks=None, interval_s=0.02)), "Fine.")
    stream = provider.stream(make_call())
    await first_piece(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert (await ask(provider)).message.text == "Fine."


async def test_a_server_that_is_not_there_is_overloaded(kind: str) -> None:
    absent = open_provider(
        kind,
        Endpoint(
            api_key=KEY, base_url="http://127.0.0.1:9/v1", limits=LIMITS, may_reach_private=True
        ),
    )
    assert isinstance(await fail(absent), Overloaded)
    with pytest.raises(Overloaded):
        await absent.complete(make_call())
    await absent.aclose()


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/v1", "no address", "http://[::1/v1"])
async def test_an_address_that_is_none_is_refused(kind: str, address: str) -> None:
    async def ask_there() -> None:
        odd = open_provider(
            kind, Endpoint(api_key=KEY, base_url=address, limits=LIMITS, may_reach_private=True)
        )
        try:
            await collect(odd)
        finally:
            await odd.aclose()

    with pytest.raises(RequestRefused):
        await ask_there()


# --- answers that break off ---


BROKEN = {
    "empty": answer(),
    "blank": answer(" \n"),
    "empty with figures": answer(tokens=Tokens(output=0)),
    "ended without a stop": answer("Well", EndBody()),
    "half an event": answer("Well", SendRaw(b'data: {"type": "content_blo'), EndBody()),
    "no JSON": answer(SendRaw(b"data: <html>\n\n"), "Well"),
    "reset after pieces": answer(Say("So far so good", chunks=4), Reset()),
    "nothing at all": answer(EndBody()),
    "a web page": answer("Well", content_type="text/html"),
}


@pytest.mark.parametrize("played", BROKEN.values(), ids=BROKEN.keys())
async def test_an_answer_that_is_none_is_a_broken_stream(
    provider: Provider, fake: FakeServer, played: Answer
) -> None:
    fake.play(played)
    assert isinstance(await fail(provider), StreamBroken)


async def test_pieces_before_a_reset_are_delivered(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer(Say("abcd", chunks=4), Silence(0.05), Reset()))
    seen: list[ProviderEvent] = []

    async def watch() -> None:
        async for event in provider.stream(make_call()):
            if isinstance(event, TextDelta):
                seen.append(event)

    with pytest.raises(StreamBroken):
        await watch()
    assert seen == [TextDelta(letter) for letter in "abcd"]


async def test_a_reset_before_any_answer_is_retryable(provider: Provider, fake: FakeServer) -> None:
    fake.play(answer(Reset()), answer(Reset()))
    assert (await fail(provider)).retryable
    with pytest.raises(Overloaded):
        await provider.complete(make_call())


@pytest.mark.parametrize(
    "steps", [(Silence(30),), ("Well", Silence(30))], ids=["first event", "between events"]
)
async def test_silence_is_a_time_out(
    impatient: Provider, fake: FakeServer, steps: tuple[Silence | str, ...]
) -> None:
    fake.play(answer(*steps))
    began_s = time.monotonic()
    assert isinstance(await fail(impatient), ProviderTimeout)
    assert time.monotonic() - began_s < 2
    await asyncio.to_thread(fake.wait_until, lambda: fake.last.closed_at_ns is not None)


async def test_a_plain_call_may_be_silent_for_longer_than_a_stream(
    impatient: Provider, fake: FakeServer
) -> None:
    fake.play(answer(Silence(0.4), "Done."), answer(Silence(30), "Late."))
    assert (await impatient.complete(make_call())).message.text == "Done."
    with pytest.raises(ProviderTimeout):
        await impatient.complete(make_call())


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"{}", b"<html>"])
async def test_a_plain_answer_that_is_none_is_a_broken_stream(
    provider: Provider, fake: FakeServer, body: bytes
) -> None:
    fake.play(answer(SendRaw(body)))
    with pytest.raises(StreamBroken):
        await provider.complete(make_call())


IN_STREAM: list[tuple[str, str, type[ProviderError]]] = [
    ("overloaded_error", "Overloaded", Overloaded),
    ("api_error", "Internal server error", Overloaded),
    ("server_error", "The server had an error", Overloaded),
    ("rate_limit_error", "Slow down", RateLimited),
    ("rate_limit_exceeded", "Slow down", RateLimited),
    ("insufficient_quota", "You exceeded your current quota", BillingRefused),
    ("invalid_request_error", "prompt is too long: 210000 tokens > 200000", ContextOverflow),
    ("context_length_exceeded", "Too long", ContextOverflow),
    ("authentication_error", "invalid x-api-key", AuthenticationFailed),
    ("invalid_request_error", "bad field", RequestRefused),
    ("timeout_error", "Took too long", ProviderTimeout),
    ("something_new", "Who knows", StreamBroken),
]


@pytest.mark.parametrize(("error", "message", "expected"), IN_STREAM)
async def test_an_error_inside_the_stream_is_told_like_one_before_it(
    provider: Provider, fake: FakeServer, error: str, message: str, expected: type[ProviderError]
) -> None:
    fake.play(answer("Well", SendError(error, message), EndBody()))
    assert type(await fail(provider)) is expected


# --- refusals ---


STATUSES: list[tuple[int, type[ProviderError]]] = [
    (400, RequestRefused),
    (401, AuthenticationFailed),
    (402, BillingRefused),
    (403, AuthenticationFailed),
    (404, RequestRefused),
    (413, RequestRefused),
    (422, RequestRefused),
    (429, RateLimited),
    (500, Overloaded),
    (502, Overloaded),
    (503, Overloaded),
    (504, Overloaded),
    (529, Overloaded),
]


@pytest.mark.parametrize("body", ["<html>Sorry</html>", None], ids=["page", "json"])
@pytest.mark.parametrize(("status", "expected"), STATUSES)
async def test_a_status_has_its_error(
    provider: Provider,
    fake: FakeServer,
    status: int,
    expected: type[ProviderError],
    body: str | None,
) -> None:
    said = body or fake.wire.refusal(status, "No.")
    fake.play(Refusal(status, said), Refusal(status, said))
    assert type(await fail(provider)) is expected
    with pytest.raises(expected):
        await provider.complete(make_call())


async def test_a_redirect_is_not_followed(provider: Provider, fake: FakeServer) -> None:
    away = {"Location": f"https://Models.example:8443/v1/chat?key={KEY}#top"}
    fake.play(Refusal(307, None, headers=away), Refusal(301, None, headers=away))
    told = await fail(provider)
    assert isinstance(told, Redirected)
    assert told.address == "https://models.example:8443"
    assert told.detail == "307: the server sends on to https://models.example:8443"
    with pytest.raises(Redirected):
        await provider.complete(make_call())
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    "location", ["", "/elsewhere", "ftp://a.example/", f"https://{KEY}@a.example/", "javascript:1"]
)
async def test_a_redirect_to_no_web_server_names_none(
    provider: Provider, fake: FakeServer, location: str
) -> None:
    fake.play(Refusal(302, None, headers={"Location": location}))
    told = await fail(provider)
    assert isinstance(told, Redirected)
    assert (told.address, told.detail) == ("", "302: the server sends on to another address")


@pytest.mark.parametrize("status", [429, 529])
async def test_the_wait_that_a_provider_asks_for_is_known(
    provider: Provider, fake: FakeServer, status: int
) -> None:
    fake.play(Refusal(status, None, headers={"Retry-After": "7"}))
    assert (await fail(provider)).retry_after_s == 7.0


async def test_a_request_is_sent_once(provider: Provider, fake: FakeServer) -> None:
    fake.play(Refusal(429), Refusal(500), answer(Reset()))
    for _ in range(3):
        await fail(provider)
    assert len(fake.requests) == 3


async def test_neither_key_nor_prompt_is_in_an_error(provider: Provider, fake: FakeServer) -> None:
    secret = "My card number is 4111 and I live in Xiva."
    echo = f"Bad key {KEY}; sk-test-****cdef; you said: {secret}"
    fake.play(
        Refusal(401, fake.wire.refusal(401, echo)), answer(SendError("api_error", echo), EndBody())
    )
    for _ in range(2):
        error = await fail(provider, make_call(secret))
        told = "".join(traceback.format_exception(error))
        assert KEY not in told
        assert "cdef" not in told
        assert "4111" not in told


@pytest.mark.parametrize("key", ["sk with spaces", "sk-ключ", "sk-a\nb"])
async def test_a_key_that_no_header_carries_is_refused(
    kind: str, fake: FakeServer, key: str
) -> None:
    odd = open_provider(
        kind, Endpoint(api_key=key, base_url=fake.base_url, limits=LIMITS, may_reach_private=True)
    )
    assert isinstance(await fail(odd), AuthenticationFailed)
    with pytest.raises(AuthenticationFailed):
        await odd.complete(make_call())
    await odd.aclose()


async def test_the_key_of_the_environment_is_not_sent_elsewhere(
    kind: str, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-of-the-environment")
    fake.play("Fine.", "Fine.")
    keyless = open_provider(
        kind, Endpoint(base_url=fake.base_url, limits=LIMITS, may_reach_private=True)
    )
    await ask(keyless)
    await keyless.complete(make_call())
    await keyless.aclose()
    assert fake.keys == ["Bearer none"] * 2
