"""Servers that know less than they are asked for: they are asked again, for what they know."""

import pytest

from agents.core.errors import Overloaded, ProviderError, RateLimited, RequestRefused
from agents.core.messages import AssistantMessage, ToolCall, ToolResult
from agents.core.protocols import ModelCall, Provider
from tests.agents.providers.calls import WEATHER, ask, make_call
from tests.fakes.script import Refusal
from tests.fakes.server import FakeServer

# As the servers say it, and with which status.
NO_TOOLS = {
    "ollama": (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "older llama.cpp": (500, "Unsupported param: tools"),
    "vllm": (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
    "openrouter": (404, "No endpoints found that support tool use."),
    "groq": (400, "`tool calling` is not supported with this model"),
}


def refusal(fake: FakeServer, status: int, message: str) -> Refusal:
    """Return an error as a wire sends it."""
    return Refusal(status, fake.wire.refusal(status, message))


def with_tools() -> ModelCall:
    """Return a call amid a tool loop."""
    return make_call(
        "How is it?",
        AssistantMessage((ToolCall("call_1", "weather", {"city": "Xiva"}),)),
        ToolResult("call_1", "weather", "Sunny."),
        tools=(WEATHER,),
    )


@pytest.mark.parametrize(("status", "message"), NO_TOOLS.values(), ids=NO_TOOLS.keys())
async def test_a_server_that_refuses_tools_is_asked_without(
    provider: Provider, fake: FakeServer, status: int, message: str
) -> None:
    fake.play(refusal(fake, status, message), "Sunny.", "Sunny.", "Sunny.")
    assert (await ask(provider, with_tools())).message.text == "Sunny."
    await ask(provider, with_tools())
    await provider.complete(with_tools())
    assert ["tools" in request.body for request in fake.requests] == [True, False, False, False]
    sent = str(fake.last.body["messages"])
    assert "[weather: Sunny.]" in sent
    assert "call_1" not in sent


async def test_a_plain_call_learns_it_too(provider: Provider, fake: FakeServer) -> None:
    fake.play(refusal(fake, *NO_TOOLS["ollama"]), "Sunny.")
    reply = await provider.complete(with_tools())
    assert reply.message.text == "Sunny."


async def test_another_model_of_the_server_is_asked_with_tools(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(refusal(fake, *NO_TOOLS["ollama"]), "Hi.", "Hi.")
    await ask(provider, with_tools())
    call = with_tools()
    other = ModelCall("model-2", call.system, call.messages, call.tools, call.max_output_tokens)
    await ask(provider, other)
    assert [(r.body["model"], "tools" in r.body) for r in fake.requests] == [
        ("model-1", True),
        ("model-1", False),
        ("model-2", True),
    ]


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "messages: text content blocks must be non-empty", RequestRefused),
        (500, "internal error", Overloaded),
        (429, "this model does not support tools at this rate", RateLimited),
    ],
)
async def test_other_trouble_stays_trouble(
    provider: Provider,
    fake: FakeServer,
    status: int,
    message: str,
    expected: type[ProviderError],
) -> None:
    fake.play(refusal(fake, status, message))
    with pytest.raises(expected):
        await ask(provider, with_tools())


async def test_without_tools_there_is_nothing_to_leave_out(
    provider: Provider, fake: FakeServer
) -> None:
    fake.play(refusal(fake, *NO_TOOLS["ollama"]))
    with pytest.raises(RequestRefused):
        await ask(provider, make_call("Hi."))
