"""Calls to make, and what came of them."""

from collections.abc import AsyncIterator

from agents.core.events import Alive, Done, ProviderEvent, TextDelta
from agents.core.messages import Message, Reply, UserMessage
from agents.core.protocols import ModelCall, Provider, SystemPart
from agents.core.tooling import ToolSpec

WEATHER = ToolSpec(
    name="weather",
    description="Tells the weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)


def make_call(
    *messages: Message | str,
    system: tuple[SystemPart, ...] = (),
    tools: tuple[ToolSpec, ...] = (),
) -> ModelCall:
    """Return a call; a string is what a person said."""
    said = tuple(UserMessage(m) if isinstance(m, str) else m for m in messages or ("Hello.",))
    return ModelCall(
        model="model-1", system=system, messages=said, tools=tools, max_output_tokens=500
    )


async def collect(provider: Provider, call: ModelCall | None = None) -> list[ProviderEvent]:
    """Return all events of a stream but the signs of life."""
    stream = provider.stream(call or make_call())
    return [event async for event in stream if not isinstance(event, Alive)]


async def first_piece(stream: AsyncIterator[ProviderEvent]) -> str:
    """Return the next piece of text of a stream that goes on."""
    async for event in stream:
        if isinstance(event, TextDelta):
            return event.text
    raise AssertionError("the stream ended without a text")


async def ask(provider: Provider, call: ModelCall | None = None) -> Reply:
    """Return a stream's reply, after a look at whether its text and its pieces agree."""
    events = await collect(provider, call)
    done = events[-1]
    assert isinstance(done, Done)
    assert sum(isinstance(event, Done) for event in events) == 1
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == done.reply.message.text
    assert all(pieces)
    return done.reply
