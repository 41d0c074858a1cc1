"""Anthropic's Messages API through its own SDK."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager

import anthropic
import httpx2

from agents.core.errors import StreamBroken
from agents.core.events import ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import (
    AssistantMessage,
    Block,
    JsonObject,
    Message,
    Reply,
    StopReason,
    TextBlock,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from agents.core.protocols import ModelCall, SystemPart
from agents.core.tooling import ToolSpec
from agents.providers.endpoint import Endpoint
from agents.providers.failures import as_error, read_failure
from agents.providers.loose import mapping, mappings, string
from agents.providers.offline import OFFLINE_PART
from agents.providers.replies import (
    count,
    encode,
    make_call,
    make_reply,
    plain,
    wire_id,
    wire_name,
)
from agents.providers.transport import http_client
from agents.providers.wire import (
    AT_WORK,
    CONNECTION_ERRORS,
    broken,
    check_key,
    plain_timeout,
    read_events,
    read_whole,
    refused,
    stream_timeout,
    valid_address,
)

PATH = "/v1/messages"
# The API refuses empty text; a person may have sent only a file or a blank.
EMPTY_TEXT = "(empty)"
# The SDK looks for a key in the environment and on disk unless it is given one.
NO_KEY = "none"

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


class AnthropicProvider:
    """Asks Anthropic, or a server that speaks its API; one SDK client for its whole life."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the client; its connections open at the first call, in that call's loop."""
        self._api_key = endpoint.api_key.strip()
        base_url = endpoint.base_url or None
        self._stream_timeout = stream_timeout(endpoint.limits)
        self._plain_timeout = plain_timeout(endpoint.limits)
        with valid_address():
            self._client = anthropic.AsyncAnthropic(
                api_key=self._api_key or NO_KEY,
                # The SDK adds "/v1" itself; people paste addresses with it.
                base_url=base_url.rstrip("/").removesuffix("/v1") if base_url else None,
                timeout=self._stream_timeout,
                max_retries=0,
                http_client=http_client(endpoint),
            )

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
        """Ask, and yield events as they come; ``Done`` is the last."""
        check_key(self._api_key)
        with self._translated(call):
            opened = await self._client.post(
                PATH,
                cast_to=object,
                content=encode(request_body(call, stream=True)),
                options={"timeout": self._stream_timeout},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
            reading = MessageReading(call, api_key=self._api_key)
            events = read_events(opened.response, reading)
            try:
                async for event in events:
                    yield event
            finally:
                await events.aclose()

    async def complete(self, call: ModelCall) -> Reply:
        """Ask without streaming."""
        check_key(self._api_key)
        with self._translated(call):
            response = await self._client.post(
                PATH,
                cast_to=httpx2.Response,
                content=encode(request_body(call, stream=False)),
                options={"timeout": self._plain_timeout},
            )
            return await read_whole(response, MessageReading(call, api_key=self._api_key))

    async def aclose(self) -> None:
        """Give back connections."""
        await self._client.close()

    @contextmanager
    def _translated(self, call: ModelCall) -> Iterator[None]:
        try:
            yield
        except anthropic.APIStatusError as exc:
            raise refused(exc, api_key=self._api_key, call=call) from exc
        except (anthropic.AnthropicError, *CONNECTION_ERRORS) as exc:
            raise broken(exc, had_answer=False) from exc


# --- what we send ------------------------------------------------------------------------


def request_body(call: ModelCall, *, stream: bool) -> JsonObject:
    """Return a request as the Messages API wants it."""
    body: JsonObject = {
        "model": call.model,
        "max_tokens": call.max_output_tokens,
        "messages": [*_messages(call.messages)],
        "stream": stream,
    }
    system = _system(call.system)
    if system:
        body["system"] = [*system]
    if call.tools:
        body["tools"] = [_tool(spec) for spec in call.tools]
    return body


def _system(parts: Iterable[SystemPart]) -> list[JsonObject]:
    """Return the system blocks, the cache's mark behind the stable ones at the front."""
    shown = [part for part in parts if part.name != OFFLINE_PART and part.text.strip()]
    blocks: list[JsonObject] = [{"type": "text", "text": part.text} for part in shown]
    stable = next((at for at, part in enumerate(shown) if not part.is_stable), len(shown))
    if stable:
        blocks[stable - 1]["cache_control"] = {"type": "ephemeral"}
    return blocks


def _tool(spec: ToolSpec) -> JsonObject:
    return {
        "name": wire_name(spec.name),
        "description": spec.description,
        "input_schema": spec.parameters,
    }


def _messages(messages: Iterable[Message]) -> list[JsonObject]:
    """Return messages with alternating roles: neighbours of one role are joined."""
    joined: list[tuple[str, list[JsonObject]]] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks = _content(message)
        if not blocks:
            continue
        if joined and joined[-1][0] == role:
            joined[-1][1].extend(blocks)
        else:
            joined.append((role, blocks))
    return [
        {"role": role, "content": [*sorted(blocks, key=_is_not_result)]} for role, blocks in joined
    ]


def _is_not_result(block: JsonObject) -> bool:
    """Sort results first, as the API demands of a message that answers calls."""
    return block["type"] != "tool_result"


def _content(message: Message) -> list[JsonObject]:
    match message:
        case UserMessage():
            return [{"type": "text", "text": message.text if message.text.strip() else EMPTY_TEXT}]
        case ToolResult():
            return [_result(message)]
        case AssistantMessage():
            return [_block(b) for b in message.blocks if isinstance(b, ToolCall) or b.text.strip()]


def _result(result: ToolResult) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": wire_id(result.call_id)}
    if result.text.strip():
        block["content"] = result.text
    if result.is_error:
        block["is_error"] = True
    return block


def _block(block: Block) -> JsonObject:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    return {
        "type": "tool_use",
        "id": wire_id(block.id),
        "name": wire_name(block.name),
        "input": block.arguments,
    }


# --- what we get -------------------------------------------------------------------------


class _OpenBlock:
    """One content block while it comes in."""

    def __init__(self, block: JsonObject) -> None:
        self.kind = string(block.get("type"))
        self.id = string(block.get("id"))
        self.name = string(block.get("name"))
        self.pieces: list[str] = []
        # Compatible servers send a call's whole input here and no pieces of it.
        self.input = mapping(block.get("input"))

    def close(self) -> Block | None:
        """Return the finished block; None for a kind that is not for us."""
        raw = "".join(self.pieces)
        if self.kind == "text":
            return TextBlock(raw)
        if self.kind == "tool_use":
            return make_call(self.id, self.name, raw if self.pieces else self.input)
        return None


class MessageReading:
    """One message of the Messages API, read from its events or in one piece."""

    def __init__(self, call: ModelCall, *, api_key: str) -> None:
        """Begin an answer to a call."""
        self._call = call
        self._api_key = api_key
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
                self.end()
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
            elif isinstance(raw := block.get("input"), str):
                opened.pieces.append(raw)

    def end(self) -> None:
        """Note that the message is complete."""
        self.is_finished = True

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
        opened = self._by_index[index] = _OpenBlock(block)
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
        if delta.get("type") == "input_json_delta":
            opened.pieces.append(string(delta.get("partial_json")))
        return AT_WORK if delta else ()


def _index(event: JsonObject) -> int | None:
    index = event.get("index")
    return index if isinstance(index, int) else None


def _usage(figures: JsonObject) -> Usage | None:
    """Return the figures in our terms: Anthropic's input leaves out what the cache did."""
    if not figures:
        return None
    details = mapping(figures.get("output_tokens_details"))
    return Usage(
        input_tokens=count(figures.get("input_tokens")),
        cache_read_tokens=count(figures.get("cache_read_input_tokens")),
        cache_write_tokens=count(figures.get("cache_creation_input_tokens")),
        output_tokens=count(figures.get("output_tokens")),
        reasoning_tokens=count(details.get("thinking_tokens")),
    )
