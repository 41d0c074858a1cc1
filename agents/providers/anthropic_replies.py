"""What Anthropic's Messages API answers."""

from collections.abc import Iterable

from agents.core.errors import StreamBroken
from agents.core.events import ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import Block, JsonObject, Reply, StopReason, TextBlock, Usage
from agents.core.protocols import ModelCall
from agents.providers.failures import as_error, read_failure
from agents.providers.loose import mapping, mappings, string
from agents.providers.replies import count, make_call, make_opaque, make_reply, plain
from agents.providers.wire import AT_WORK

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


class _OpenBlock:
    """One content block while it comes in."""

    def __init__(self, block: JsonObject, *, origin: str) -> None:
        self.kind = string(block.get("type"))
        self.id = string(block.get("id"))
        self.name = string(block.get("name"))
        self.pieces: list[str] = []
        # Compatible servers send a call's whole input here and no pieces of it.
        self.input = mapping(block.get("input"))
        self.signature = string(block.get("signature"))
        self._origin = origin
        self._data = string(block.get("data"))

    def take_hidden(self, delta: JsonObject) -> None:
        """Take a piece of what is not shown while it comes."""
        match delta.get("type"):
            case "input_json_delta":
                self.pieces.append(string(delta.get("partial_json")))
            case "thinking_delta" if self.kind == "thinking":
                self.pieces.append(string(delta.get("thinking")))
            case "signature_delta":
                self.signature += string(delta.get("signature"))

    def close(self) -> Block | None:
        """Return the finished block; None for a kind that is not for us."""
        raw = "".join(self.pieces)
        if self.kind == "text":
            return TextBlock(raw)
        if self.kind == "tool_use":
            return make_call(self.id, self.name, raw if self.pieces else self.input)
        return self._reasoning(raw)

    def _reasoning(self, thought: str) -> Block | None:
        """Return reasoning to be sent back as it came; None where that makes no sense."""
        data: JsonObject
        if self.kind == "redacted_thinking" and self._data:
            data = {"type": self.kind, "data": self._data}
        elif self.kind == "thinking" and self.signature:
            data = {"type": self.kind, "thinking": thought, "signature": self.signature}
        else:
            return None
        return make_opaque(self._origin, data)


class MessageReading:
    """One message of the Messages API, read from its events or in one piece."""

    def __init__(self, call: ModelCall, *, api_key: str, origin: str = "") -> None:
        """Begin an answer to a call."""
        self._call = call
        self._api_key = api_key
        self._origin = origin
        self._model = call.model
        self._blocks: list[_OpenBlock] = []
        self._by_index: dict[int | None, _OpenBlock] = {}
        self._stop: str | None = None
        self._figures: JsonObject = {}
        self.is_finished = False

    def take(self, event: JsonObject) -> Iterable[ProviderEvent]:
        """Take one event; unknown ones, pings and thoughts pass without effect."""
        match event.get("type"):
            case "content_block_delta":
                return self._delta(event)
            case "content_block_start":
                return self._start(event)
            case "message_start":
                self._head(mapping(event.get("message")))
                return AT_WORK
            case "message_delta":
                self._stop = string(mapping(event.get("delta")).get("stop_reason")) or self._stop
                self._count(event.get("usage"))
            case "message_stop":
                return self.end()
            case "ping" if self._call.effort:
                # A thought that is not shown comes as silence and pings.
                return AT_WORK
            case "error":
                raise as_error(read_failure(event), api_key=self._api_key, call=self._call)
        return ()

    def take_whole(self, message: JsonObject) -> None:
        """Take a message that came in one piece."""
        if message.get("type") == "error" or message.get("error"):
            raise as_error(read_failure(message), api_key=self._api_key, call=self._call)
        self._head(message)
        self._stop = string(message.get("stop_reason")) or "end_turn"
        for index, block in enumerate(mappings(message.get("content"))):
            opened = self._open(index, block)
            if text := plain(string(block.get("text"))):
                opened.pieces.append(text)
            elif thought := string(block.get("thinking")):
                opened.pieces.append(thought)
            elif isinstance(raw := block.get("input"), str):
                opened.pieces.append(raw)

    def end(self) -> Iterable[ProviderEvent]:
        """Note that the message is complete."""
        self.is_finished = True
        return ()

    def reply(self) -> Reply:
        """Return the finished reply."""
        if self._stop is None:
            raise StreamBroken("the answer ended without a stop")
        blocks = [block.close() for block in self._blocks]
        return make_reply(
            [block for block in blocks if block is not None],
            stop_reason=_STOPS.get(self._stop, "other"),
            usage=_usage(self._figures),
            model=self._model,
        )

    def _head(self, message: JsonObject) -> None:
        self._model = string(message.get("model")) or self._model
        self._count(message.get("usage"))

    def _count(self, figures: object) -> None:
        """Take figures; later ones are totals, not additions."""
        known = {name: value for name, value in mapping(figures).items() if value is not None}
        self._figures.update(known)

    def _open(self, index: int | None, block: JsonObject) -> _OpenBlock:
        """Open a block; one that takes another's index comes after it."""
        opened = self._by_index[index] = _OpenBlock(block, origin=self._origin)
        self._blocks.append(opened)
        return opened

    def _start(self, event: JsonObject) -> Iterable[ProviderEvent]:
        block = mapping(event.get("content_block"))
        opened = self._open(_index(event), block)
        if opened.kind == "tool_use":
            return (ToolCallBegan(opened.name),)
        if opened.kind == "text" and (text := plain(string(block.get("text")))):
            opened.pieces.append(text)
            return (TextDelta(text),)
        return ()

    def _delta(self, event: JsonObject) -> Iterable[ProviderEvent]:
        delta = mapping(event.get("delta"))
        opened = self._by_index.get(_index(event))
        if opened is None:
            # A compatible server may leave out the start of a text.
            opened = self._open(_index(event), {"type": "text"})
        if delta.get("type") == "text_delta":
            if opened.kind == "text" and (text := plain(string(delta.get("text")))):
                opened.pieces.append(text)
                return (TextDelta(text),)
            return ()
        opened.take_hidden(delta)
        return AT_WORK if delta else ()


def _index(event: JsonObject) -> int | None:
    index = event.get("index")
    return index if isinstance(index, int) else None


def _usage(figures: JsonObject) -> Usage | None:
    """Return the figures in our terms: Anthropic's input leaves out what the cache did."""
    if not figures:
        return None
    details = mapping(figures.get("output_tokens_details"))
    written = mapping(figures.get("cache_creation"))
    return Usage(
        input_tokens=count(figures.get("input_tokens")),
        cache_read_tokens=count(figures.get("cache_read_input_tokens")),
        cache_write_tokens=count(figures.get("cache_creation_input_tokens")),
        output_tokens=count(figures.get("output_tokens")),
        reasoning_tokens=count(details.get("thinking_tokens")),
        cache_write_1h_tokens=count(written.get("ephemeral_1h_input_tokens")),
    )
