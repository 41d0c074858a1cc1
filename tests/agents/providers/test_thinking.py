"""Thinking: how each model is asked for it, and how its reasoning finds its way back."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from agents.core.errors import RequestRefused
from agents.core.events import Alive
from agents.core.messages import (
    AssistantMessage,
    OpaqueBlock,
    ToolCall,
    ToolResult,
    UserMessage,
    dump_reply,
    load_reply,
)
from agents.core.protocols import Effort, ModelCall, Provider, SystemPart
from agents.providers import Endpoint, open_provider, wire
from agents.providers.anthropic_requests import request_body
from agents.providers.endpoint import PromptCache
from tests.agents.providers.calls import WEATHER, ask, make_call
from tests.agents.providers.conftest import KEY
from tests.fakes.anthropic import SIGNATURE, FakeAnthropic
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Answer, CallTool, Refusal, SendRaw, Think, answer
from tests.fakes.server import Body, FakeServer, RecordedRequest

NEW, OLD = "claude-opus-5", "claude-sonnet-4-5-20250929"
ADAPTIVE = {"type": "adaptive"}
NOT_ADAPTIVE = "adaptive thinking is not supported on this model"
NO_BUDGETS = '"thinking.type.enabled" is not supported for this model'
NO_THINKING = "this model does not support thinking"


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    """Serve Anthropic's wire alone."""
    with FakeAnthropic() as server:
        yield server
        server.assert_done()


@pytest.fixture
async def claude(fake: FakeAnthropic) -> AsyncIterator[Provider]:
    """Open Anthropic's adapter on it."""
    endpoint = Endpoint(api_key=KEY, base_url=fake.base_url, may_reach_private=True)
    opened = open_provider("anthropic", endpoint)
    yield opened
    await opened.aclose()


def thinking_call(model: str = NEW, effort: Effort = "medium", *messages: object) -> ModelCall:
    """Return a call that wants a model to think."""
    call = make_call("How is it?", *messages, tools=(WEATHER,))  # type: ignore[arg-type]
    return replace(call, model=model, effort=effort)


def refusal(fake: FakeServer, message: str) -> Refusal:
    """Return the API's refusal of a request."""
    return Refusal(400, fake.wire.refusal(400, message))


# --- how it is asked for ---


async def test_without_effort_nothing_is_asked(claude: Provider, fake: FakeAnthropic) -> None:
    fake.play("Fine.")
    await ask(claude, thinking_call(effort=""))
    assert fake.last.body["max_tokens"] == 500
    assert not {"thinking", "output_config"} & set(fake.last.body)


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
async def test_new_models_decide_within_an_effort(
    claude: Provider, fake: FakeAnthropic, effort: Effort
) -> None:
    fake.play("Fine.")
    await ask(claude, thinking_call(effort=effort))
    assert fake.last.body["thinking"] == ADAPTIVE
    assert fake.last.body["output_config"] == {"effort": effort}


@pytest.mark.parametrize(("effort", "budget"), [("low", 2_048), ("medium", 8_192)])
async def test_old_models_get_a_budget_on_top_of_the_answer(
    claude: Provider, fake: FakeAnthropic, effort: Effort, budget: int
) -> None:
    fake.play("Fine.")
    await ask(claude, thinking_call(OLD, effort))
    assert fake.last.body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert fake.last.body["max_tokens"] == 500 + budget
    assert "output_config" not in fake.last.body


@pytest.mark.parametrize("longest", [20_000, 31_500, 60_000])
def test_a_budget_stays_within_what_models_write(longest: int) -> None:
    call = replace(thinking_call(OLD, "high"), max_output_tokens=longest)
    body: Body = request_body(call, stream=True, style="budget")
    budget = body["thinking"]["budget_tokens"]
    assert 1_024 <= budget <= 16_384
    assert body["max_tokens"] == longest + budget


@pytest.mark.parametrize(
    ("model", "is_old"),
    [
        ("claude-3-7-sonnet-latest", True),
        ("claude-opus-4-20250514", True),
        ("claude-opus-4-1", True),
        ("claude-haiku-4-5", True),
        ("claude-opus-4-6", False),
        ("claude-sonnet-5", False),
        ("another-model", False),
    ],
)
async def test_the_first_try_goes_by_the_name(
    claude: Provider, fake: FakeAnthropic, model: str, is_old: bool
) -> None:
    fake.play("Fine.")
    await ask(claude, thinking_call(model))
    assert (fake.last.body["thinking"] != ADAPTIVE) == is_old


async def test_a_refusal_corrects_it_for_good(claude: Provider, fake: FakeAnthropic) -> None:
    fake.play(refusal(fake, NOT_ADAPTIVE), "Fine.", "Fine.")
    await ask(claude, thinking_call())
    await claude.complete(thinking_call())
    kinds = [request.body["thinking"]["type"] for request in fake.requests]
    assert kinds == ["adaptive", "enabled", "enabled"]


async def test_calls_of_one_moment_learn_the_same_once(
    claude: Provider, fake: FakeAnthropic
) -> None:
    def refuse_adaptive(request: RecordedRequest) -> Refusal | Answer:
        is_adaptive = request.body["thinking"] == ADAPTIVE
        return replace(refusal(fake, NOT_ADAPTIVE), delay_s=0.1) if is_adaptive else answer("Fine.")

    fake.rule = refuse_adaptive
    await asyncio.gather(*(ask(claude, thinking_call()) for _ in range(3)))
    kinds = [request.body["thinking"]["type"] for request in fake.requests]
    assert kinds == ["adaptive"] * 3 + ["enabled"] * 3


async def test_a_model_that_cannot_think_answers_without(
    claude: Provider, fake: FakeAnthropic
) -> None:
    fake.play(refusal(fake, NO_BUDGETS), refusal(fake, NO_THINKING), "Fine.", "Fine.")
    await ask(claude, thinking_call(OLD))
    await ask(claude, thinking_call(OLD))
    assert ["thinking" in request.body for request in fake.requests] == [True, True, False, False]
    assert fake.last.body["max_tokens"] == 500


async def test_other_refusals_are_not_asked_again(claude: Provider, fake: FakeAnthropic) -> None:
    fake.play(refusal(fake, "model: no-such-model"))
    with pytest.raises(RequestRefused):
        await ask(claude, thinking_call())


# --- how reasoning finds its way back ---


async def test_signed_reasoning_goes_back_with_the_results(
    claude: Provider, fake: FakeAnthropic
) -> None:
    fake.play(answer(Think("It depends."), CallTool("weather", id="toolu_1")), "Sunny.")
    asked = await ask(claude, thinking_call())
    stored = load_reply(dump_reply(asked)).message
    await ask(claude, thinking_call(NEW, "medium", stored, ToolResult("toolu_1", "weather", "Sun")))
    thought, call = fake.last.body["messages"][1]["content"]
    assert thought == {"type": "thinking", "thinking": "It depends.", "signature": SIGNATURE}
    assert call["type"] == "tool_use"


async def test_redacted_reasoning_goes_back_too(claude: Provider, fake: FakeAnthropic) -> None:
    block = b'{"type":"redacted_thinking","data":"c2VjcmV0"}'
    start = b'data: {"type":"content_block_start","index":7,"content_block":' + block + b"}\n\n"
    fake.play(answer(SendRaw(start), CallTool("weather", id="toolu_1")))
    blocks = (await ask(claude, thinking_call())).message.blocks
    assert isinstance(blocks[0], OpaqueBlock)
    assert blocks[0].data == {"type": "redacted_thinking", "data": "c2VjcmV0"}


async def test_reasoning_behind_a_finished_answer_is_not_kept(
    claude: Provider, fake: FakeAnthropic
) -> None:
    fake.play(answer(Think("It depends."), "Sunny."))
    reply = await ask(claude, thinking_call())
    assert "It depends." not in dump_reply(reply)


def reasoned(origin: str) -> AssistantMessage:
    """Return a reply that called a tool after a thought."""
    data = {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}
    return AssistantMessage((OpaqueBlock(origin, {**data}), ToolCall("call_1", "weather")))


def kinds_sent(*messages: object, origin: str = "here") -> list[list[str]]:
    """Return the kinds of block of each message that is sent."""
    call = make_call("How is it?", *messages, tools=(WEATHER,))  # type: ignore[arg-type]
    body: Body = request_body(call, stream=True, style="adaptive", origin=origin)
    return [[block["type"] for block in message["content"]] for message in body["messages"]]


RESULT = ToolResult("call_1", "weather", "Sunny.")


def test_only_the_present_loops_reasoning_is_sent() -> None:
    sent = kinds_sent(reasoned("here"), RESULT, UserMessage("And now?"), reasoned("here"), RESULT)
    assert sent == [
        ["text"],
        ["tool_use"],
        ["tool_result", "text"],
        ["thinking", "tool_use"],
        ["tool_result"],
    ]


def test_another_models_reasoning_is_not_sent() -> None:
    assert kinds_sent(reasoned("there"), RESULT) == [["text"], ["tool_use"], ["tool_result"]]


async def test_another_wire_knows_nothing_of_it() -> None:
    with FakeOpenAI() as other:
        other.play("Sunny.")
        endpoint = Endpoint(base_url=other.base_url, may_reach_private=True)
        opened = open_provider("openai", endpoint)
        await ask(opened, make_call("How is it?", reasoned("here"), RESULT))
        await opened.aclose()
        assert "Hm." not in str(other.last.body)


async def test_a_budget_does_not_begin_amid_anothers_calls(
    claude: Provider, fake: FakeAnthropic
) -> None:
    fake.play("Sunny.")
    plain = AssistantMessage((ToolCall("call_1", "weather"),))
    await ask(claude, thinking_call(OLD, "low", plain, RESULT))
    assert "thinking" not in fake.last.body


async def test_a_hidden_thought_gives_signs_of_life(
    claude: Provider, fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "ALIVE_EVERY_S", 0.0)
    ping = SendRaw(b'event: ping\ndata: {"type": "ping"}\n\n')
    fake.play(answer(ping, ping, "Fine."))
    events = [event async for event in claude.stream(thinking_call())]
    assert events.count(Alive()) >= 3


# --- OpenAI's wire ---


async def test_effort_is_named_where_it_is_wanted() -> None:
    with FakeOpenAI() as other:
        other.play("Fine.", "Fine.")
        endpoint = Endpoint(base_url=other.base_url, may_reach_private=True)
        opened = open_provider("openai", endpoint)
        await ask(opened, make_call())
        await ask(opened, replace(make_call(), effort="low"))
        await opened.aclose()
        first, second = (request.body for request in other.requests)
    assert "reasoning_effort" not in first
    assert first["max_tokens"] == 500
    assert second["reasoning_effort"] == "low"
    assert second["max_tokens"] == 500 + 2_048


@pytest.mark.parametrize(
    "message",
    [
        "Unrecognized request argument supplied: reasoning_effort",
        '"llama3.2:latest" does not support thinking',
        "Function tools with reasoning_effort are not supported for gpt-5.4 in "
        "/v1/chat/completions.",
    ],
)
async def test_a_server_that_refuses_an_effort_is_asked_without(message: str) -> None:
    with FakeOpenAI() as other:
        other.play(refusal(other, message), "Fine.", "Fine.")
        endpoint = Endpoint(base_url=other.base_url, may_reach_private=True)
        opened = open_provider("openai", endpoint)
        call = replace(make_call(tools=(WEATHER,)), effort="high")
        await ask(opened, call)
        await opened.complete(call)
        await opened.aclose()
        other.assert_done()
        sent = [request.body for request in other.requests]
    assert ["reasoning_effort" in body for body in sent] == [True, False, False]
    assert all("tools" in body for body in sent)


# --- the cache's marks ---


@pytest.mark.parametrize(
    ("cache", "system_mark", "newest_mark"),
    [
        ("off", None, None),
        ("5m", {"type": "ephemeral"}, {"type": "ephemeral"}),
        ("1h", {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}),
    ],
)
async def test_marks_are_set_as_the_account_says(
    fake: FakeAnthropic, cache: PromptCache, system_mark: Body | None, newest_mark: Body | None
) -> None:
    endpoint = Endpoint(
        api_key=KEY, base_url=fake.base_url, may_reach_private=True, prompt_cache=cache
    )
    opened = open_provider("anthropic", endpoint)
    fake.play("Fine.")
    await ask(opened, make_call("One.", system=(SystemPart("a", "Be kind."),), tools=(WEATHER,)))
    await opened.aclose()
    body = fake.last.body
    assert body["system"][0].get("cache_control") == system_mark
    assert body["messages"][-1]["content"][-1].get("cache_control") == newest_mark


def test_only_the_newest_message_is_marked() -> None:
    body: Body = request_body(
        make_call("One.", reasoned("here"), RESULT, tools=(WEATHER,)), stream=True
    )
    blocks = [block for message in body["messages"] for block in message["content"]]
    assert ["cache_control" in block for block in blocks] == [False, False, True]


def test_without_tools_no_loop_follows_and_no_mark_is_paid() -> None:
    assert "cache_control" not in str(request_body(make_call("One."), stream=True))
