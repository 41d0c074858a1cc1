"""What a tool is, and what it is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

from agents.core.messages import JsonObject
from agents.core.viewer import Viewer


class ToolRefused(Exception):
    """A tool does not do what it was asked for; the text tells the model why, as an error."""


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
        is_tainted: True where the model has read text from outside before this call, such as a
            web page; what it wants remembered now may be that text's wish.
    """

    viewer: Viewer
    agent: str
    session: str
    turn: str
    call_id: str
    time_zone: str
    timeout_s: float
    is_tainted: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a provider is told of it; ``parameters`` is a JSON Schema object.

    Args:
        native: The type under which Anthropic's models know this very tool, ``memory_20250818``;
            other providers are told of it as of any other.
    """

    name: str
    description: str
    parameters: JsonObject
    native: str = ""


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
        brings_outside: True where its results hold text from outside the team, which is never
            trusted: what is remembered after it waits in quarantine.
        native: See ``ToolSpec``.
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
    brings_outside: bool = False
    native: str = ""

    def spec(self) -> ToolSpec:
        """Return what a provider is told of this tool."""
        return ToolSpec(
            self.name, self.description, dict(_schema(self.arguments)), native=self.native
        )


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
