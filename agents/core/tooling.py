"""What a tool is, and what it is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from agents.core.messages import JsonObject
from agents.core.viewer import Viewer


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a tool call happens.

    Args:
        agent: Reference as text, ``agent:7``.
        session: Reference as text, ``session:12``.
        turn: Reference as text, ``turn:81``.
        call_id: The provider's id of this call, unique in its turn.
        time_zone: IANA name, the person's or else the agent's.
        timeout_s: Seconds the tool has; the caller gives up after them.
    """

    viewer: Viewer
    agent: str
    session: str
    turn: str
    call_id: str
    time_zone: str
    timeout_s: float


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a provider is told of it; ``parameters`` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing an agent can do, registered by the app that owns it.

    Args:
        name: What the model calls; letters, digits, underscores.
        description: For the model: when to use it, what it gives.
        arguments: Validates what the model sends, before ``run`` sees it.
        run: Gets the validated arguments and the context, returns text for the model.
        safe_to_repeat: True where running it twice does no harm; decides what happens after a
            crash or a time-out.
        may_run_in_parallel: True where it may run beside the reply's other calls.
        needs_approval: True where a person must agree first; refused until somebody can.
        timeout_s: Seconds it may take; None for the platform's limit.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    # Each tool takes its own arguments model, which one field type cannot say.
    run: Callable[[Any, ToolContext], Awaitable[str]]
    safe_to_repeat: bool = False
    may_run_in_parallel: bool = False
    needs_approval: bool = False
    timeout_s: float | None = None

    def spec(self) -> ToolSpec:
        """Return what a provider is told of this tool."""
        return ToolSpec(self.name, self.description, dict(_schema(self.arguments)))


@cache
def _schema(arguments: type[BaseModel]) -> JsonObject:
    """Return the schema of a tool's arguments; built once, as building takes a millisecond."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    return schema


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What running a tool gave; ``text`` is whole, the loop cuts it for the model."""

    text: str
    is_error: bool = False
