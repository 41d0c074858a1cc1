"""A conversation in neutral form: what every provider is given, and what it gives back.

Values are frozen. ``dump`` and ``load`` are their stored form: JSON with a version, so that
rows written by an older release stay readable.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Discriminator, JsonValue, TypeAdapter

JsonObject = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text that the model wrote for the person."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for one tool.

    Args:
        id: The provider's id of the call; its result carries the same one.
        malformed: The raw arguments where they were no JSON object; ``arguments`` is then empty.
    """

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    malformed: str | None = None
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """What a provider wants back unchanged while its calls are answered: signed reasoning.

    Nobody is shown it; it is no part of the reply's text.

    Args:
        origin: Which server and model wrote it; no other is sent it.
        data: As it came.
    """

    origin: str
    data: JsonObject
    type: Literal["opaque"] = "opaque"


Block = Annotated[TextBlock | ToolCall | OpaqueBlock, Discriminator("type")]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that came with a message, of a size and kind that models take.

    Args:
        name: What it is called where the model cannot see it.
        data: The encoded picture.
        width: Pixels.
        height: Pixels.
    """

    name: str
    media_type: str
    data: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person (or the platform on their behalf) said, and the pictures they sent with it."""

    text: str
    images: tuple[Image, ...] = ()
    role: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One reply of the model, its blocks in order; empty where it said nothing."""

    blocks: tuple[Block, ...] = ()
    role: Literal["assistant"] = "assistant"

    @property
    def text(self) -> str:
        """Return the reply's text, blocks joined without a separator."""
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which the model made them."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one tool call gave, as text for the model."""

    call_id: str
    name: str
    text: str
    is_error: bool = False
    role: Literal["tool"] = "tool"


Message = Annotated[UserMessage | AssistantMessage | ToolResult, Discriminator("role")]

StopReason = Literal["end", "tool_calls", "max_tokens", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, counted once each.

    Args:
        input_tokens: Input that was neither read from nor written to the provider's cache.
        cache_read_tokens: Input read from the cache.
        cache_write_tokens: Input written to the cache.
        output_tokens: Everything generated, reasoning included.
        reasoning_tokens: The part of the output that is hidden reasoning.
        is_estimate: True where the provider gave no figures and we estimated.
        cache_write_1h_tokens: The part of the written input that is kept for an hour, which
            costs more.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    is_estimate: bool = False
    cache_write_1h_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """Return how full the window is after this call."""
        return (
            self.input_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.output_tokens
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """One finished model call.

    Args:
        usage: None where the provider gave no figures.
        model: The model that answered, as the provider names it.
    """

    message: AssistantMessage
    stop_reason: StopReason
    usage: Usage | None
    model: str


# 2: opaque blocks.
REPLY_VERSION = 2

_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


def dump_reply(reply: Reply) -> str:
    """Return a reply's stored form: JSON text with its version."""
    body = _REPLY.dump_json(reply).decode()
    return f'{{"v":{REPLY_VERSION},"reply":{body}}}'


@dataclass(frozen=True, slots=True)
class _StoredReply:
    v: Literal[1, 2]
    reply: Reply


_STORED_REPLY: TypeAdapter[_StoredReply] = TypeAdapter(_StoredReply)


def load_reply(stored: str) -> Reply:
    """Read what ``dump_reply`` wrote.

    Raises:
        pydantic.ValidationError: The text is not a stored reply of a known version.
    """
    return _STORED_REPLY.validate_json(stored).reply
