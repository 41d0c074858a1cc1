"""A provider that plays a script without any wire, for plain tests of what uses providers."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agents.core.errors import ProviderError, StreamBroken
from agents.core.events import Done, ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import (
    AssistantMessage,
    Block,
    Reply,
    StopReason,
    TextBlock,
    ToolCall,
    Usage,
)
from agents.core.protocols import ModelCall

MODEL = "scripted-1"


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence between two events; ``seconds`` None waits until the stream is closed."""

    seconds: float | None = None


Scene = ProviderEvent | Pause | ProviderError
Script = Reply | ProviderError | Sequence[Scene]


def reply(
    *blocks: Block | str,
    stop_reason: StopReason | None = None,
    usage: Usage | None = Usage(input_tokens=10, output_tokens=5),  # noqa: B008 (it is frozen)
    model: str = MODEL,
) -> Reply:
    """Return a finished reply; a string is a text block."""
    made = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    fitting: StopReason = "tool_calls" if any(isinstance(b, ToolCall) for b in made) else "end"
    message = AssistantMessage(blocks=made)
    return Reply(message, stop_reason=stop_reason or fitting, usage=usage, model=model)


class ScriptedProvider:
    """Answers each call with the next script, and records the calls.

    A script is a reply (streamed in words), an error to raise at once, or the exact events,
    pauses and errors of one stream.
    """

    def __init__(self, *scripts: Script | str) -> None:
        """Take the scripts in the order of the calls; a string is a reply of that text."""
        self._scripts = deque(reply(s) if isinstance(s, str) else s for s in scripts)
        self.calls: list[ModelCall] = []
        self.was_plain: list[bool] = []
        self.closed_early = 0
        self.is_closed = False

    def add(self, *scripts: Script | str) -> None:
        """Queue further scripts."""
        self._scripts.extend(reply(s) if isinstance(s, str) else s for s in scripts)

    def assert_done(self) -> None:
        """Fail if a script was left over."""
        if self._scripts:
            raise AssertionError(f"{len(self._scripts)} scripts were never asked for")

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
        """Play the next script as a stream."""
        is_complete = False
        try:
            for scene in _scenes(self._next(call, is_plain=False)):
                if isinstance(scene, ProviderError):
                    is_complete = True
                    raise scene
                if isinstance(scene, Pause):
                    await _wait(scene)
                    continue
                is_complete = isinstance(scene, Done)
                yield scene
        finally:
            self.closed_early += not is_complete

    async def complete(self, call: ModelCall) -> Reply:
        """Play the next script in one piece."""
        for scene in _scenes(self._next(call, is_plain=True)):
            if isinstance(scene, ProviderError):
                raise scene
            if isinstance(scene, Pause):
                await _wait(scene)
            if isinstance(scene, Done):
                return scene.reply
        raise StreamBroken("the script has no end")

    async def aclose(self) -> None:
        """Note that connections were given back."""
        self.is_closed = True

    def _next(self, call: ModelCall, *, is_plain: bool) -> Script:
        self.calls.append(call)
        self.was_plain.append(is_plain)
        if not self._scripts:
            raise AssertionError("no script expected this call")
        return self._scripts.popleft()


def _scenes(script: Script) -> Sequence[Scene]:
    if isinstance(script, ProviderError):
        return [script]
    if isinstance(script, Reply):
        words = script.message.text.split(" ")
        texts = [word if at == 0 else f" {word}" for at, word in enumerate(words)]
        began = [ToolCallBegan(call.name) for call in script.message.tool_calls]
        return [*(TextDelta(text) for text in texts if text), *began, Done(script)]
    return script


async def _wait(pause: Pause) -> None:
    if pause.seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(pause.seconds)
