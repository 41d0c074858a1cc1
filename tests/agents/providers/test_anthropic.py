"""What is particular to Anthropic's wire."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest

from agents.core.errors import StreamBroken
from agents.core.messages import (
    AssistantMessage,
    Image,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.protocols import Provider, SystemPart
from agents.providers import Endpoint, open_provider
from agents.providers.anthropic_requests import request_body
from tests.agents.providers.calls import WEATHER, ask, make_call
from tests.agents.providers.conftest import KEY, LIMITS
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.script import CallTool, EndBody, SendRaw, Tokens, answer
from tests.fakes.server import Body


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    """Serve Anthropic's wire alone."""
    with FakeAnthropic() as server:
        yield server
        server.assert_done()


@pytest.fixture
async def provider(fake: FakeAnthropic) -> AsyncIterator[Provider]:
    """Open Anthropic's adapter alone."""
    opened = open_provider(
        "anthropic",
        Endpoint(api_key=KEY, base_url=fake.base_url, limits=LIMITS, may_reach_private=True),
    )
    yield opened
    await opened.aclose()


def event(**fields: object) -> SendRaw:
    """Return one event as a compatible server may send it."""
    return SendRaw(f"event: {fields['type']}\r\ndata: {json.dumps(fields)}\r\n\r\n".encode())


# --- what is sent ---


async def test_a_picture_stands_before_its_text(provider: Provider, fake: FakeAnthropic) -> None:
    fake.play("A cat.")
    picture = Image("cat.jpg", "image/jpeg", b"cat", 640, 480)
    await ask(provider, make_call(UserMessage("Look", (picture,)), UserMessage("", (picture,))))
    source = {"type": "base64", "media_type": "image/jpeg", "data": "Y2F0"}
    block = {"type": "image", "source": source}
    assert fake.last.body["messages"] == [
        {"role": "user", "content": [block, {"type": "text", "text": "Look"}, block]}
    ]


async def test_a_whole_request_is_what_the_api_asks_for(
    provider: Provider, fake: FakeAnthropic
) -> None:
    fake.play("It is fine.")
    call = make_call(
        "How is it?",
        AssistantMessage((TextBlock("I look."), ToolCall("toolu_1", "weather", {"city": "Xiva"}))),
        ToolResult("toolu_1", "weather", "Sunny."),
        system=(SystemPart("soul", "Be kind."), SystemPart("now", "Monday.", is_stable=False)),
        tools=(WEATHER,),
    )
    await ask(provider, call)
    assert fake.last.body == {
        "model": "model-1",
        "max_tokens": 500,
        "stream": True,
        "system": [
            {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "Monday."},
        ],
        "tools": [
            {
                "name": "weather",
                "description": "Tells the weather.",
                "input_schema": WEATHER.parameters,
            }
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "How is it?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {
                        "type": "tool_use",
                        "id": "toolu_1",
                        "name": "weather",
                        "input": {"city": "Xiva"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": "Sunny.",
                        "cache_control": {"type": "ephemeral"},
                    }
                ],
            },
        ],
    }
    assert fake.last.headers["anthropic-version"]
    assert fake.keys == [f"Bearer {KEY}"]


def test_results_join_into_one_message_and_come_first() -> None:
    calls = AssistantMessage((ToolCall("a", "one"), ToolCall("b", "two")))
    body = request_body(
        make_call(
            "Go.",
            calls,
            ToolResult("a", "one", "1"),
            UserMessage("And hurry."),
            ToolResult("b", "two", "", is_error=True),
        ),
        stream=True,
    )
    messages = as_messages(body)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "1"},
        {"type": "tool_result", "tool_use_id": "b", "is_error": True},
        {"type": "text", "text": "And hurry."},
    ]


def test_neighbours_join_and_silent_replies_vanish() -> None:
    body = request_body(
        make_call("One.", AssistantMessage(), "Two.", AssistantMessage((TextBlock(" "),)), " "),
        stream=True,
    )
    (message,) = as_messages(body)
    assert [block["text"] for block in message["content"]] == ["One.", "Two.", "(empty)"]


@pytest.mark.parametrize(
    ("stable", "marked"),
    [
        ([True, True, True], [False, False, True]),
        ([True, True, False], [False, True, False]),
        ([True, False, True], [True, False, False]),
        ([False, True, True], [False, False, False]),
    ],
)
def test_the_mark_stands_behind_the_stable_parts_at_the_front(
    stable: list[bool], marked: list[bool]
) -> None:
    parts = tuple(SystemPart(str(n), f"Part {n}.", is_stable=s) for n, s in enumerate(stable))
    body: Body = request_body(make_call(system=parts), stream=True)
    assert ["cache_control" in block for block in body["system"]] == marked


def test_empty_parts_are_not_sent() -> None:
    body = request_body(make_call(system=(SystemPart("a", " "),)), stream=True)
    assert "system" not in body
    assert "tools" not in body


def test_ids_and_names_of_other_providers_fit() -> None:
    odd = AssistantMessage((ToolCall("functions.x:0", "look up!"), ToolCall("a" * 60, "x")))
    results = [ToolResult("functions.x:0", "look up!", "1"), ToolResult("a" * 60, "x", "2")]
    _, assistant, user = as_messages(request_body(make_call("Go.", odd, *results), stream=True))
    used = [(block["id"], block["name"]) for block in assistant["content"]]
    assert [block["tool_use_id"] for block in user["content"]] == [call_id for call_id, _ in used]
    assert all(call_id.replace("_", "").isalnum() and len(call_id) <= 40 for call_id, _ in used)
    assert used[0][1] == "look_up_"


def as_messages(body: Body) -> list[Body]:
    """Return a body's messages."""
    messages: list[Body] = body["messages"]
    return messages


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_an_address_may_be_pasted_with_its_version(fake: FakeAnthropic, ending: str) -> None:
    fake.play("Fine.")
    pasted = open_provider(
        "anthropic", Endpoint(api_key=KEY, base_url=fake.base_url + ending, may_reach_private=True)
    )
    await ask(pasted)
    await pasted.aclose()
    assert fake.last.path == "/v1/messages"


# --- what is got ---


async def test_written_cache_is_counted_apart(provider: Provider, fake: FakeAnthropic) -> None:
    fake.play(answer("Hi.", tokens=Tokens(input=3, cache_read=20, cache_write=100, output=7)))
    usage = (await ask(provider)).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (3, 20, 100)
    assert usage.context_tokens == 130


async def test_what_is_kept_for_an_hour_is_told_apart(
    provider: Provider, fake: FakeAnthropic
) -> None:
    figures = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 80},
    }
    counted = event(type="message_start", message={"usage": figures})
    fake.play(answer(counted, "Hi.", tokens=None))
    usage = (await ask(provider)).usage
    assert usage is not None
    assert (usage.cache_write_tokens, usage.cache_write_1h_tokens) == (100, 80)
    assert usage.context_tokens == 103


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        ("something_new", "other"),
    ],
)
async def test_stop_reasons(
    provider: Provider, fake: FakeAnthropic, stop: str, expected: str
) -> None:
    fake.play(answer("Hi.", stop=stop))
    assert (await ask(provider)).stop_reason == expected


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
async def test_an_empty_answer_with_a_reason_is_an_answer(
    provider: Provider, fake: FakeAnthropic, stop: str
) -> None:
    fake.play(answer(stop=stop))
    reply = await ask(provider)
    assert (reply.stop_reason, reply.message.blocks) == (stop, ())


async def test_a_call_cut_by_the_limit_is_malformed(
    provider: Provider, fake: FakeAnthropic
) -> None:
    fake.play(answer(CallTool("weather", '{"city": "Xi'), stop="max_tokens"))
    reply = await ask(provider)
    assert reply.stop_reason == "max_tokens"
    assert reply.message.tool_calls[0].malformed == '{"city": "Xi'


async def test_a_compatible_server_may_be_brief(provider: Provider, fake: FakeAnthropic) -> None:
    fake.play(
        answer(
            event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": "Hi"}),
            event(
                type="content_block_start",
                index=1,
                content_block={"type": "tool_use", "id": "t", "name": "x", "input": {"a": 1}},
            ),
            event(type="message_delta", delta={"stop_reason": "tool_use"}, usage=None),
            EndBody(),
        )
    )
    reply = await ask(provider)
    assert reply.message.blocks == (TextBlock("Hi"), ToolCall("t", "x", {"a": 1}))


async def test_text_between_calls_keeps_its_place(provider: Provider, fake: FakeAnthropic) -> None:
    fake.play(answer("One.", CallTool("a", id="a"), "Two.", CallTool("b", id="b")))
    assert (await ask(provider)).message.blocks == (
        TextBlock("One."),
        ToolCall("a", "a"),
        TextBlock("Two."),
        ToolCall("b", "b"),
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "message_start", "message": None},
        {"type": "content_block_start", "index": None, "content_block": 7},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": None}},
        {"type": "content_block_delta", "index": 9, "delta": None},
        {"type": "message_delta", "delta": None, "usage": {"output_tokens": None}},
        {"type": None},
        {},
    ],
)
async def test_odd_events_do_no_harm(provider: Provider, fake: FakeAnthropic, odd: Body) -> None:
    fake.play(answer(SendRaw(f"data: {json.dumps(odd)}\n\n".encode()), "Hi."))
    assert (await ask(provider)).message.text == "Hi."


async def test_odd_events_alone_are_no_answer(provider: Provider, fake: FakeAnthropic) -> None:
    fake.play(answer(event(type="message_delta", delta={"stop_reason": None}), EndBody()))
    with pytest.raises(StreamBroken):
        await ask(provider)
