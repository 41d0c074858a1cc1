"""What a fake model is told to do: neutral steps that each wire renders in its own words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from pydantic import JsonValue

_ids = count(1)


@dataclass(frozen=True, slots=True)
class Say:
    """Text in pieces.

    Args:
        text: Cut into ``chunks`` pieces of about equal length.
        chunks: How many; None says the whole text again and again without end.
        interval_s: Pause before each piece but the first.
        is_stamped: Each piece is ``t=<CLOCK_MONOTONIC, ns> `` of its sending instead of text.
    """

    text: str = ""
    chunks: int | None = 1
    interval_s: float = 0.0
    is_stamped: bool = False

    def pieces(self) -> list[str]:
        """Return the text cut into its pieces, none of them empty."""
        size = max(1, -(-len(self.text) // (self.chunks or 1)))
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


def _next_id() -> str:
    return f"call_{next(_ids):06d}"


@dataclass(frozen=True, slots=True)
class CallTool:
    """A tool call; several in one answer are parallel calls.

    Args:
        arguments: An object, or the raw text that is sent instead of valid JSON.
        id: Empty or repeated ids are sent as they are.
        chunks: In how many pieces the arguments are sent.
    """

    name: str
    arguments: Mapping[str, JsonValue] | str = field(default_factory=dict)
    id: str = field(default_factory=_next_id)
    chunks: int = 2


@dataclass(frozen=True, slots=True)
class Think:
    """Hidden reasoning, which a client may ignore."""

    text: str


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing for a while; as the first step, not even the response's head."""

    seconds: float


@dataclass(frozen=True, slots=True)
class SendError:
    """An error inside a stream that began well, in the wire's own form."""

    kind: str
    message: str = "Something went wrong."


@dataclass(frozen=True, slots=True)
class SendRaw:
    """Bytes as they are: half an event, an unknown one, a comment."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset at once; as the first step, before any response."""


@dataclass(frozen=True, slots=True)
class EndBody:
    """The body ends here in good order, without the wire's stop."""


Step = Say | CallTool | Think | Silence | SendError | SendRaw | Reset | EndBody


@dataclass(frozen=True, slots=True)
class Tokens:
    """The figures of one answer, each counted once; a wire adds them up as its real one does."""

    input: int = 10
    cache_read: int = 0
    cache_write: int = 0
    output: int = 5
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One request's answer.

    Args:
        steps: Played in order.
        tokens: None sends no figures.
        stop: The wire's own stop reason; None for the fitting one.
        model: The model that claims to have answered; None echoes the request.
        content_type: None for the wire's own.
        is_whole: Sent in one piece even where a stream was asked for.
    """

    steps: tuple[Step, ...] = ()
    tokens: Tokens | None = field(default_factory=Tokens)
    stop: str | None = None
    model: str | None = None
    content_type: str | None = None
    is_whole: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def calls_tools(self) -> bool:
        """Return whether any step is a tool call."""
        return any(isinstance(step, CallTool) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error status instead of an answer.

    Args:
        body: JSON value, or text sent as it is.
        delay_s: How long the server thinks before it refuses.
        charset: Of a text.
    """

    status: int
    body: JsonValue = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    charset: str = "utf-8"


def answer(*steps: Step | str, **kwargs: object) -> Answer:
    """Return an answer of steps; a plain string is said in one piece."""
    played = tuple(Say(step) if isinstance(step, str) else step for step in steps)
    # The keywords are Answer's own fields, checked by its constructor.
    return Answer(steps=played, **kwargs)  # type: ignore[arg-type]


def stamped(chunks: int, interval_s: float) -> Answer:
    """Return an answer whose pieces carry the time of their sending, for benchmarks."""
    return Answer(steps=(Say(chunks=chunks, interval_s=interval_s, is_stamped=True),))
