"""The tools that an agent was granted, run within their limits."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog
from pydantic import ValidationError

from agents.core.messages import Message, ToolCall, ToolResult
from agents.core.repair import INTERRUPTED
from agents.core.tooling import Tool, ToolContext, ToolOutcome, ToolRefused, ToolSpec
from agents.core.viewer import Viewer
from agents.tools import registry

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a turn's tools run: everything of a ``ToolContext`` but the call."""

    viewer: Viewer
    agent: str
    session: str
    turn: str
    time_zone: str
    is_tainted: bool = False


@dataclass(frozen=True, slots=True)
class GrantedTools:
    """A ``ToolBox`` of the granted tools that are registered; the others do not exist.

    Args:
        timeout_s: For tools that name no limit of their own.
    """

    where: Where
    timeout_s: float
    names: Sequence[str]
    _tools: dict[str, Tool] = field(init=False)
    # The tools that brought text from outside in this attempt.
    _outside: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        found = {name: tool for name in sorted(self.names) if (tool := registry.get(name))}
        object.__setattr__(self, "_tools", found)

    @property
    def is_tainted(self) -> bool:
        """Return whether the model may have read text from outside by now."""
        return self.where.is_tainted or bool(self._outside)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is told, by name."""
        return tuple(tool.spec() for tool in self._tools.values())

    def is_safe_to_repeat(self, name: str) -> bool:
        """Return whether running it twice does no harm; False for a tool that is not there."""
        tool = self._tools.get(name)
        return tool is not None and tool.safe_to_repeat

    def may_run_in_parallel(self, name: str) -> bool:
        """Return whether it may run beside others; False for a tool that is not there."""
        tool = self._tools.get(name)
        return tool is not None and tool.may_run_in_parallel

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run one call; mistakes of any kind become an outcome that tells the model what to do."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return _error(f"There is no tool named {call.name!r}. Available: {known}.")
        if tool.needs_approval:
            return _error("This tool needs a person's approval, and nobody can give it here.")
        if call.malformed is not None:
            return _error("The arguments were not a JSON object; send them again as one.")
        try:
            arguments = tool.arguments.model_validate(call.arguments)
        except ValidationError as error:
            return _error(f"The arguments do not fit: {_words(error)}")
        return await self._run_in_time(tool, call, arguments)

    async def _run_in_time(self, tool: Tool, call: ToolCall, arguments: object) -> ToolOutcome:
        timeout_s = tool.timeout_s or self.timeout_s
        context = ToolContext(
            viewer=self.where.viewer,
            agent=self.where.agent,
            session=self.where.session,
            turn=self.where.turn,
            call_id=call.id,
            time_zone=self.where.time_zone,
            timeout_s=timeout_s,
            is_tainted=self.is_tainted,
        )
        if tool.brings_outside:
            self._outside.add(tool.name)
        try:
            async with asyncio.timeout(timeout_s):
                return ToolOutcome(await tool.run(arguments, context))
        except ToolRefused as refusal:
            return _error(str(refusal))
        except TimeoutError:
            if tool.safe_to_repeat:
                return _error(f"The tool took longer than {timeout_s:g} s and was ended.")
            return _error(f"{INTERRUPTED} The tool took longer than {timeout_s:g} s.")
        except Exception as error:
            _log.exception("tool.failed", tool=tool.name, turn=self.where.turn)
            return _error(f"The tool failed: {type(error).__name__}.")


def is_tainted(messages: Iterable[Message], names: Iterable[str], *, attempt: int) -> bool:
    """Return whether a turn begins with text from outside before its model.

    Either the conversation shows results of such a tool, or an earlier attempt may have had one.
    """
    outside = {name for name in names if (tool := registry.get(name)) and tool.brings_outside}
    shown = (message.name for message in messages if isinstance(message, ToolResult))
    return (attempt > 1 and bool(outside)) or any(
        (tool := registry.get(name)) is not None and tool.brings_outside for name in shown
    )


def _error(text: str) -> ToolOutcome:
    return ToolOutcome(text, is_error=True)


def _words(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
    )
