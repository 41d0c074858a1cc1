"""What happens while an answer is made: from a provider, and towards the people who watch."""

from dataclasses import dataclass
from typing import Literal

from agents.core.errors import ErrorCode
from agents.core.messages import JsonObject, Reply

# --- from a provider ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallBegan:
    """The model has begun to write a tool call; its arguments come with ``Done``."""

    name: str


@dataclass(frozen=True, slots=True)
class Alive:
    """The model is at work on what nobody is shown: reasoning, a call's arguments.

    At most one a second; it tells a model that thinks from one that has fallen silent.
    """


@dataclass(frozen=True, slots=True)
class Done:
    """The provider finished: always the last event of a stream."""

    reply: Reply


ProviderEvent = TextDelta | ToolCallBegan | Alive | Done

# --- from the loop -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerRestarted:
    """The text so far is void: clients drop it, the answer begins again."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins to run."""

    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool gave its result."""

    call_id: str
    name: str
    is_error: bool
    duration_s: float


NoticeCode = Literal[
    "repeated_call",
    "alternating_calls",
    "repeated_result",
    "iterations_exhausted",
    "max_tokens",
    "refusal",
    "other_stop",
    "ended_by_operator",
    "unheard",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn's loop ended.

    Args:
        kind: ``answered``; ``stopped`` by a person; ``ended`` by the platform for the reason
            in ``code``; ``failed`` by the error in ``code``.
        text: The answer, or what there was of it.
        partial: The part of ``text`` that no finished model call has said.
        code: Why, for ``ended`` and ``failed``; the channel turns it into words.
        values: What the words need, such as the tool's name.
    """

    kind: Literal["answered", "stopped", "ended", "failed"]
    text: str
    code: NoticeCode | ErrorCode | None = None
    values: JsonObject | None = None
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """The loop ended: always its last event."""

    outcome: Outcome


LoopEvent = TextDelta | AnswerRestarted | ToolStarted | ToolFinished | Finished
