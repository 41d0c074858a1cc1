"""What is particular to OpenAI's wire, and how compatible servers differ from it."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import pytest

from agents.core.errors import (
    AuthenticationFailed,
    BillingRefused,
    RateLimited,
    RequestRefused,
    StreamBroken,
)
from agents.core.events import Alive, Done, TextDelta, ToolCallBegan
from agents.core.messages import (
    AssistantMessage,
    Block,
    Image,
    JsonObject,
    OpaqueBlock,
    Reply,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
    dump_reply,
    load_reply,
)
from agents.core.protocols import Provider, SystemPart
from agents.providers import Endpoint, open_provider
from agents.providers.openai_compatible import OpenAIProvider
from agents.providers.openai_requests import UNSIGNED, request_body
from tests.agents.providers.calls import WEATHER, ask, collect, make_call
from tests.agents.providers.conftest import KEY, LIMITS
from tests.fakes.openai import DONE, FakeOpenAI
from tests.fakes.script import EndBody, Refusal, SendRaw, Silence, Tokens, answer
from tests.fakes.server import Body


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    """Serve OpenAI's wire alone."""
    with FakeOpenAI() as server:
        yield server
        server.assert_done()


@pytest.fixture
async def provider(fake: FakeOpenAI) -> AsyncIterator[Provider]:
    """Open OpenAI's adapter alone."""
    opened = open_provider(
        "openai",
        Endpoint(api_key=KEY, base_url=fake.base_url, limits=LIMITS, may_reach_private=True),
    )
    yield opened
    await opened.aclose()


def chunk(*, finish: str | None = None, **delta: object) -> SendRaw:
    """Return one chunk as a compatible server may send it."""
    body = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return SendRaw(f"data: {json.dumps(body)}\n\n".encode())


async def ask_odd(provider: Provider, fake: FakeOpenAI, *steps: SendRaw) -> Reply:
    """Return the reply made of the given bytes."""
    fake.play(answer(*steps, EndBody()))
    return await ask(provider)


# --- what is sent ---


async def test_a_picture_is_sent_as_a_part_and_plain_text_stays_plain(
    provider: Provider, fake: FakeOpenAI
) -> None:
    fake.play("A cat.")
    picture = Image("cat.jpg", "image/jpeg", b"cat", 640, 480)
    await ask(provider, make_call(UserMessage("Look", (picture,)), "And?"))
    part = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,Y2F0"}}
    assert fake.last.body["messages"] == [
        {"role": "user", "content": [part, {"type": "text", "text": "Look"}]},
        {"role": "user", "content": "And?"},
    ]


async def test_a_whole_request_is_what_the_api_asks_for(
    provider: Provider, fake: FakeOpenAI
) -> None:
    fake.play("It is fine.")
    call = make_call(
        "How is it?",
        AssistantMessage((ToolCall("call_1", "weather", {"city": "Xiva — Хива"}),)),
        ToolResult("call_1", "weather", "Sunny."),
        AssistantMessage((TextBlock("Sunny."),)),
        "And now?",
        system=(SystemPart("soul", "Be kind."), SystemPart("now", "Monday.", is_stable=False)),
        tools=(WEATHER,),
    )
    await ask(provider, call)
    sent_call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city":"Xiva — Хива"}'},
    }
    function = {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": WEATHER.parameters,
    }
    assert fake.last.body == {
        "model": "model-1",
        "max_tokens": 500,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "Be kind.\n\nMonday."},
            {"role": "user", "content": "How is it?"},
            {"role": "assistant", "content": None, "tool_calls": [sent_call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "Sunny."},
            {"role": "assistant", "content": "Sunny."},
            {"role": "user", "content": "And now?"},
        ],
    }
    assert fake.keys == [f"Bearer {KEY}"]


def test_openai_itself_is_given_its_newer_limit() -> None:
    body = request_body(make_call(), stream=True, is_openai=True)
    assert body["max_completion_tokens"] == 500
    assert "max_tokens" not in body


async def test_openai_itself_is_known_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    opened = OpenAIProvider(Endpoint(api_key=KEY))
    assert opened.is_openai
    await opened.aclose()


def test_malformed_arguments_are_sent_back_as_an_empty_object() -> None:
    said = AssistantMessage((ToolCall("a", "x", malformed="{oops"),))
    messages = request_body(make_call("Go.", said), stream=True, is_openai=False)["messages"]
    assert "oops" not in json.dumps(messages)
    assert '"arguments": "{}"' in json.dumps(messages)


async def test_a_server_that_refuses_stream_options_is_asked_without(
    provider: Provider, fake: FakeOpenAI
) -> None:
    message = "Unrecognized request argument supplied: stream_options"
    fake.play(
        Refusal(400, {"error": {"message": message, "type": "invalid_request_error"}}),
        "Hi.",
        "Hi.",
    )
    assert (await ask(provider)).usage is None
    await ask(provider)
    assert ["stream_options" in r.body for r in fake.requests] == [True, False, False]


async def test_calls_of_one_moment_learn_it_together(provider: Provider, fake: FakeOpenAI) -> None:
    message = "Unrecognized request argument supplied: stream_options"
    refusal = Refusal(400, {"error": {"message": message}}, delay_s=0.1)
    fake.rule = lambda request: refusal if "stream_options" in request.body else answer("Hi.")
    await asyncio.gather(*(ask(provider) for _ in range(3)))
    assert ["stream_options" in r.body for r in fake.requests] == [True] * 3 + [False] * 3


async def test_other_refusals_are_not_asked_again(provider: Provider, fake: FakeOpenAI) -> None:
    fake.play(Refusal(400, fake.wire.refusal(400, "Unknown model.")))
    with pytest.raises(RequestRefused):
        await ask(provider)


# --- what is got ---


async def test_the_prompt_is_counted_without_the_cache(
    provider: Provider, fake: FakeOpenAI
) -> None:
    fake.play(answer("Hi.", tokens=Tokens(input=30, cache_read=70, output=9, reasoning=4)))
    usage = (await ask(provider)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (30, 70)
    assert (usage.output_tokens, usage.reasoning_tokens) == (9, 4)


async def test_figures_without_details(provider: Provider, fake: FakeOpenAI) -> None:
    figures = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": None}
    said = SendRaw(f"data: {json.dumps({'choices': None, 'usage': figures})}\n\n".encode())
    reply = await ask_odd(provider, fake, chunk(content="Hi", finish="stop"), said)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 3)


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", "end"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("eos", "end"),
        ("something_new", "other"),
    ],
)
async def test_finish_reasons(
    provider: Provider, fake: FakeOpenAI, finish: str, expected: str
) -> None:
    fake.play(answer("Hi.", stop=finish))
    assert (await ask(provider)).stop_reason == expected


async def test_a_refusal_is_said_and_marked(provider: Provider, fake: FakeOpenAI) -> None:
    reply = await ask_odd(provider, fake, chunk(refusal="I won't.", finish="stop"), SendRaw(DONE))
    assert (reply.message.text, reply.stop_reason) == ("I won't.", "refusal")


async def test_no_end_mark_is_needed(provider: Provider, fake: FakeOpenAI) -> None:
    steps = [chunk(role="assistant"), chunk(content="Hi"), chunk(content=None, finish="stop")]
    assert (await ask_odd(provider, fake, *steps)).message.text == "Hi"


async def test_the_end_mark_alone_is_a_stop(provider: Provider, fake: FakeOpenAI) -> None:
    reply = await ask_odd(provider, fake, chunk(content="Hi"), SendRaw(b"data: [DONE]"))
    assert (reply.message.text, reply.stop_reason) == ("Hi", "end")


async def test_a_server_that_never_hangs_up_is_not_waited_for(
    provider: Provider, fake: FakeOpenAI
) -> None:
    figures = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    last = SendRaw(f"data: {json.dumps(figures)}\n\n".encode())
    fake.play(answer(chunk(content="Hi"), chunk(finish="stop"), last, Silence(30)))
    async with asyncio.timeout(5):
        assert (await ask(provider)).message.text == "Hi"


async def test_content_may_come_in_parts(provider: Provider, fake: FakeOpenAI) -> None:
    parts = [{"type": "text", "text": "Hi"}, {"type": "text", "text": " there"}]
    reply = await ask_odd(provider, fake, chunk(content=parts, finish="stop"))
    assert reply.message.text == "Hi there"


async def test_finish_stop_with_calls_means_the_calls(provider: Provider, fake: FakeOpenAI) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}
    reply = await ask_odd(provider, fake, chunk(tool_calls=[call]), chunk(finish="stop"))
    assert reply.stop_reason == "tool_calls"


ONE, TWO = {"n": 1}, {"n": 2}
ODD_CALLS: dict[str, list[Body]] = {
    "no index, arguments in pieces": [
        {"id": "a", "function": {"name": "x", "arguments": '{"n"'}},
        {"function": {"arguments": ": 1}"}},
        {"id": "b", "function": {"name": "y", "arguments": '{"n": 2}'}},
    ],
    "no index, no id": [
        {"function": {"name": "x", "arguments": '{"n": 1}'}},
        {"function": {"name": "y", "arguments": '{"n": 2}'}},
    ],
    "arguments as an object": [
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": ONE}},
        {"index": 1, "id": "b", "function": {"name": "y", "arguments": TWO}},
    ],
    "the same index for both": [
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"n": 1}'}},
        {"index": 0, "id": "b", "function": {"name": "y", "arguments": '{"n": 2}'}},
    ],
    "id and name repeated": [
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"n"'}},
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": ": 1}"}},
        {"index": 1, "id": "b", "function": {"name": "y", "arguments": '{"n": 2}'}},
    ],
    "interleaved": [
        {"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}},
        {"index": 1, "id": "b", "function": {"name": "y", "arguments": None}},
        {"index": 1, "function": {"arguments": '{"n": 2}'}},
        {"index": 0, "function": {"arguments": '{"n": 1}'}},
    ],
}


@pytest.mark.parametrize("together", [False, True], ids=["apart", "in one chunk"])
@pytest.mark.parametrize("parts", ODD_CALLS.values(), ids=ODD_CALLS.keys())
async def test_calls_are_told_apart(
    provider: Provider, fake: FakeOpenAI, parts: list[Body], together: bool
) -> None:
    chunks = [parts] if together else [[part] for part in parts]
    steps = [chunk(content=None, tool_calls=calls) for calls in chunks]
    fake.play(answer(*steps, chunk(finish="tool_calls"), EndBody()))
    events = await collect(provider)
    assert events[:-1] == [ToolCallBegan("x"), ToolCallBegan("y")]
    done = events[-1]
    assert isinstance(done, Done)
    calls = done.reply.message.tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("x", ONE), ("y", TWO)]


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": None},
        {"choices": [None, 7, {}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0, "delta": {"content": 7, "tool_calls": "x"}}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"usage": None, "model": None, "error": None},
    ],
)
async def test_odd_chunks_do_no_harm(provider: Provider, fake: FakeOpenAI, odd: Body) -> None:
    said = SendRaw(f"data: {json.dumps(odd)}\n\n".encode())
    reply = await ask_odd(provider, fake, said, chunk(content="Hi", finish="stop"))
    assert reply.message.text == "Hi"


# --- thoughts ---


async def test_a_thought_in_the_text_is_not_part_of_the_answer(
    provider: Provider, fake: FakeOpenAI
) -> None:
    pieces = ["<th", "ink>Let me ", "see.</thi", "nk>\n\n", "It is ", "fine."]
    steps = [chunk(content=piece) for piece in pieces]
    fake.play(answer(*steps, chunk(finish="stop"), EndBody()))
    *texts, done = await collect(provider)
    assert texts == [TextDelta("It is "), TextDelta("fine.")]
    assert isinstance(done, Done)


async def test_a_thought_may_lead_to_a_call(provider: Provider, fake: FakeOpenAI) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}
    reply = await ask_odd(
        provider,
        fake,
        chunk(content="<think>I call.</think>\n"),
        chunk(tool_calls=[call]),
        chunk(finish="tool_calls"),
    )
    assert reply.message.blocks == (ToolCall("a", "x"),)


@pytest.mark.parametrize("said", ["<think>Hm.</think>", "<think>Hm."])
async def test_a_thought_alone_is_an_empty_answer(
    provider: Provider, fake: FakeOpenAI, said: str
) -> None:
    with pytest.raises(StreamBroken):
        await ask_odd(provider, fake, chunk(content=said), chunk(finish="stop"))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
async def test_reasoning_beside_the_content_is_not_shown(
    provider: Provider, fake: FakeOpenAI, field: str
) -> None:
    thought = chunk(content="", **{field: "Let me see."})
    fake.play(answer(thought, chunk(content="Fine.", finish="stop"), EndBody()))
    events = [event async for event in provider.stream(make_call())]
    assert events[0] == Alive()
    done = events[-1]
    assert isinstance(done, Done)
    assert done.reply.message.text == "Fine."


@pytest.mark.parametrize("ending", [chunk(finish="stop"), SendRaw(DONE)], ids=["reason", "mark"])
async def test_what_only_begins_like_a_thought_is_said_in_the_end(
    provider: Provider, fake: FakeOpenAI, ending: SendRaw
) -> None:
    reply = await ask_odd(provider, fake, chunk(content="<"), chunk(content="th"), ending)
    assert reply.message.text == "<th"


# --- what a call is signed with ---

SIGNED: JsonObject = {"google": {"thought_signature": "c2lnbmVk"}}


async def test_what_came_with_a_call_goes_back_with_it(
    provider: Provider, fake: FakeOpenAI
) -> None:
    first = {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}
    second = {"index": 1, "id": "b", "function": {"name": "y", "arguments": "{}"}}
    signed = {**first, "extra_content": SIGNED}
    ending = chunk(finish="tool_calls")
    asked = await ask_odd(provider, fake, chunk(tool_calls=[signed, second]), ending)
    stored = load_reply(dump_reply(asked)).message
    fake.play("Fine.")
    await ask(
        provider, make_call("Go.", stored, ToolResult("a", "x", ""), ToolResult("b", "y", ""))
    )
    sent = fake.last.body["messages"][1]["tool_calls"]
    assert [call.get("extra_content") for call in sent] == [SIGNED, None]


async def test_what_cannot_be_stored_is_not_kept(provider: Provider, fake: FakeOpenAI) -> None:
    call = {
        "id": "a",
        "function": {"name": "x", "arguments": "{}"},
        "extra_content": {"a": "\ud800"},
    }
    reply = await ask_odd(provider, fake, chunk(tool_calls=[call]), chunk(finish="tool_calls"))
    assert reply.message.blocks == (ToolCall("a", "x"),)


def sent_extra(origin: str, *blocks: Block) -> list[object]:
    """Return what each call of a reply is sent back with."""
    call = make_call("Go.", AssistantMessage(blocks))
    body: Body = request_body(call, stream=True, is_openai=False, origin=origin)
    return [sent.get("extra_content") for sent in body["messages"][1]["tool_calls"]]


def test_another_models_signature_is_not_sent() -> None:
    blocks = (OpaqueBlock("openai there m-1", SIGNED), ToolCall("a", "x"))
    assert sent_extra("openai here m-1", *blocks) == [None]
    assert sent_extra("openai there m-1", *blocks) == [SIGNED]


@pytest.mark.parametrize(
    ("model", "is_marked"),
    [
        ("gemini-3.1-pro-preview", True),
        ("models/gemini-3-flash", True),
        ("gemini-2.5-flash", False),
        ("gemma-3-27b-it", False),
    ],
)
def test_calls_that_another_model_made_are_marked_for_gemini(model: str, is_marked: bool) -> None:
    calls = (ToolCall("a", "x"), ToolCall("b", "y"))
    sent = sent_extra(f"openai generativelanguage.googleapis.com {model}", *calls)
    assert sent == [UNSIGNED if is_marked else None, None]


# --- refusals ---


async def test_googles_errors_come_in_a_list(provider: Provider, fake: FakeOpenAI) -> None:
    error: JsonObject = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
    fake.play(Refusal(400, [{"error": error}]))
    with pytest.raises(AuthenticationFailed):
        await ask(provider)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"type": "insufficient_quota", "code": "insufficient_quota"}, BillingRefused),
        ({"message": "You exceeded your current quota, please check."}, BillingRefused),
        ({"type": "tokens", "code": "rate_limit_exceeded"}, RateLimited),
        ({"code": "insufficient_quota", "rate_limit_reached_type": "requests"}, RateLimited),
    ],
)
async def test_a_429_may_be_a_matter_of_money(
    provider: Provider, fake: FakeOpenAI, error: Body, expected: type[Exception]
) -> None:
    fake.play(Refusal(429, {"error": error}))
    with pytest.raises(expected):
        await ask(provider)


async def test_milliseconds_to_wait(provider: Provider, fake: FakeOpenAI) -> None:
    fake.play(Refusal(429, None, headers={"retry-after-ms": "1500", "retry-after": "2"}))
    with pytest.raises(RateLimited) as caught:
        await ask(provider)
    assert caught.value.retry_after_s == 1.5
