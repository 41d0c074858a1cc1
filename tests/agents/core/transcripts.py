"""Random conversations for property tests: parallel tools, losses, and disorder."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from agents.core.messages import (
    AssistantMessage,
    Block,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)

# How long an example takes says nothing on a machine that runs other things as well.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_words = st.integers(0, 60).map(lambda count: "word " * count)


@st.composite
def _round(draw: st.DrawFn, prefix: str) -> list[Message]:
    """Return one reply of the model and the results of its calls, in any order."""
    blocks: list[Block] = [TextBlock(draw(_words))]
    calls = [ToolCall(f"{prefix}-{n}", "find") for n in range(draw(st.integers(0, 3)))]
    results = [ToolResult(call.id, call.name, draw(_words)) for call in calls]
    return [AssistantMessage((*blocks, *calls)), *draw(st.permutations(results))]


@st.composite
def whole(draw: st.DrawFn) -> list[Message]:
    """Return a conversation in which nothing is missing."""
    messages: list[Message] = []
    for exchange in range(draw(st.integers(0, 6))):
        messages += [UserMessage(draw(_words)) for _ in range(draw(st.integers(1, 2)))]
        for number in range(draw(st.integers(0, 3))):
            messages += draw(_round(f"{exchange}-{number}"))
    return messages


@st.composite
def broken(draw: st.DrawFn) -> list[Message]:
    """Return messages of a conversation of which some are lost, doubled or out of place."""
    messages = draw(whole())
    kept = [message for message in messages if draw(st.integers(0, 4))]
    doubled = [message for message in messages if not draw(st.integers(0, 4))]
    mixed = [*kept, *doubled]
    return list(draw(st.permutations(mixed))) if draw(st.booleans()) else mixed


def assert_whole(messages: tuple[Message, ...]) -> None:
    """Fail unless each call's result follows its reply at once, once, and none stands alone."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert waiting, "a result stands alone"
            assert message.call_id == waiting.pop(0), "results stand in the order of the calls"
            continue
        assert not waiting, "a call has no result"
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
    assert not waiting, "the last call has no result"
