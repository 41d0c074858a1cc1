"""OpenAI's Chat Completions API through its own SDK, and every server that speaks it.

Compatible servers (Ollama, vLLM, llama.cpp, gateways) keep to the wire more or less: what is
known to come differently is taken here without complaint.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager

import httpx2
import openai

from agents.core.errors import RequestRefused, StreamBroken
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

PATH = "/chat/completions"
OPENAI_HOST = "api.openai.com"
# Servers without keys ignore it; without one the SDK would send the key of the environment.
NO_KEY = "none"
USAGE_OPTION = "stream_options"

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "eos_token": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refusal",
    "refusal": "refusal",
}


class OpenAIProvider:
    """Asks OpenAI or a compatible server; one SDK client for its whole life.

    ``is_openai`` tells OpenAI itself, which wants some fields by newer names, from the others.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the client; its connections open at the first call, in that call's loop."""
        self._api_key = endpoint.api_key.strip()
        base_url = endpoint.base_url or None
        self._plain_timeout = plain_timeout(endpoint.limits)
        with valid_address():
            self._client = openai.AsyncOpenAI(
                api_key=self._api_key or NO_KEY,
                # Not set, the SDK would take an administrator's key from the environment.
                admin_api_key="",
                base_url=base_url,
                timeout=stream_timeout(endpoint.limits),
                max_retries=0,
                http_client=http_client(endpoint),
            )
        self.is_openai = self._client.base_url.host == OPENAI_HOST
        self._knows_usage_option = True

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
        """Ask, and yield events as they come; ``Done`` is the last."""
        check_key(self._api_key)
        with self._translated(call):
            response = await self._open(call)
            events = read_events(response, CompletionReading(call, api_key=self._api_key))
            try:
                async for event in events:
                    yield event
            finally:
                await events.aclose()

    async def complete(self, call: ModelCall) -> Reply:
        """Ask without streaming."""
        check_key(self._api_key)
        body = request_body(call, stream=False, is_openai=self.is_openai)
        with self._translated(call):
            response = await self._client.post(
                PATH,
                cast_to=httpx2.Response,
                content=encode(body),
                options={"timeout": self._plain_timeout},
            )
            return await read_whole(response, CompletionReading(call, api_key=self._api_key))

    async def aclose(self) -> None:
        """Give back connections."""
        await self._client.close()

    async def _open(self, call: ModelCall) -> httpx2.Response:
        """Ask for a stream, and for figures at its end unless the server refuses such a wish."""
        if not self._knows_usage_option:
            return await self._post(call)
        try:
            with self._translated(call):
                return await self._post(call)
        except RequestRefused as exc:
            if USAGE_OPTION not in exc.detail:
                raise
        self._knows_usage_option = False
        return await self._post(call)

    async def _post(self, call: ModelCall) -> httpx2.Response:
        body = request_body(call, stream=True, is_openai=self.is_openai)
        if self._knows_usage_option:
            body[USAGE_OPTION] = {"include_usage": True}
        opened = await self._client.post(
            PATH,
            cast_to=object,
            content=encode(body),
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return opened.response

    @contextmanager
    def _translated(self, call: ModelCall) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as exc:
            raise refused(exc, api_key=self._api_key, call=call) from exc
        except (openai.OpenAIError, *CONNECTION_ERRORS) as exc:
            raise broken(exc, had_answer=False) from exc


# --- what we send ------------------------------------------------------------------------


def request_body(call: ModelCall, *, stream: bool, is_openai: bool) -> JsonObject:
    """Return a request as the Chat Completions API wants it.

    Args:
        is_openai: OpenAI's own newer models refuse ``max_tokens``; older compatible servers
            know nothing else.
    """
    limit = "max_completion_tokens" if is_openai else "max_tokens"
    body: JsonObject = {
        "model": call.model,
        limit: call.max_output_tokens,
        "messages": [*_system(call.system), *map(_message, call.messages)],
        "stream": stream,
    }
    if call.tools:
        body["tools"] = [_tool(spec) for spec in call.tools]
    return body


def _system(parts: Iterable[SystemPart]) -> list[JsonObject]:
    shown = [part.text for part in parts if part.name != OFFLINE_PART and part.text.strip()]
    return [{"role": "system", "content": "\n\n".join(shown)}] if shown else []


def _tool(spec: ToolSpec) -> JsonObject:
    function: JsonObject = {
        "name": wire_name(spec.name),
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}


def _message(message: Message) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolResult():
            return {
                "role": "tool",
                "tool_call_id": wire_id(message.call_id),
                "content": message.text,
            }
        case AssistantMessage():
            return _assistant(message)


def _assistant(message: AssistantMessage) -> JsonObject:
    body: JsonObject = {"role": "assistant", "content": message.text}
    calls = message.tool_calls
    if calls:
        body["tool_calls"] = [_call(call) for call in calls]
        body["content"] = message.text or None
    return body


def _call(call: ToolCall) -> JsonObject:
    function: JsonObject = {
        "name": wire_name(call.name),
        "arguments": encode(call.arguments).decode(),
    }
    return {"id": wire_id(call.id), "type": "function", "function": function}


# --- what we get -------------------------------------------------------------------------


class _OpenCall:
    """One tool call while it comes in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.arguments: JsonObject | None = None

    def take(self, part: JsonObject) -> ToolCallBegan | None:
        """Take a part of the call; the first one with a name announces it."""
        function = mapping(part.get("function"))
        self.id = self.id or string(part.get("id"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            self.arguments = arguments
        else:
            self.pieces.append(string(arguments))
        name = string(function.get("name"))
        if self.name or not name:
            return None
        self.name = name
        return ToolCallBegan(plain(name))

    def close(self) -> ToolCall:
        """Return the finished call."""
        raw = "".join(self.pieces)
        return make_call(self.id, self.name, raw if self.arguments is None else self.arguments)


class CompletionReading:
    """One completion, read from its chunks or in one piece."""

    def __init__(self, call: ModelCall, *, api_key: str) -> None:
        """Begin an answer to a call."""
        self._call = call
        self._api_key = api_key
        self._model = ""
        self._texts: list[str] = []
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._stop: str | None = None
        self._refused = False
        self._figures: JsonObject = {}
        self.is_finished = False

    def take(self, event: JsonObject) -> Iterable[ProviderEvent]:
        """Take one chunk; its empty, missing and unknown fields pass without effect."""
        self._head(event)
        choices = mappings(event.get("choices"))
        if not choices and self._stop and self._figures:
            # The figures come last; a server without an end mark may not hang up either.
            self.is_finished = True
        events: list[ProviderEvent] = []
        is_at_work = False
        for choice in choices:
            if choice.get("index") in (0, None):
                self._stop = string(choice.get("finish_reason")) or self._stop
                delta = mapping(choice.get("delta"))
                self._delta(delta, events)
                is_at_work = is_at_work or any(delta.values())
        return events if events or not is_at_work else AT_WORK

    def take_whole(self, completion: JsonObject) -> None:
        """Take a completion that came in one piece."""
        self._head(completion)
        for choice in mappings(completion.get("choices"))[:1]:
            self._delta(mapping(choice.get("message")), [])
            self._stop = string(choice.get("finish_reason")) or "stop"

    def end(self) -> None:
        """Note ``[DONE]``; it is a stop even where no reason came before it."""
        self.is_finished = True
        self._stop = self._stop or "stop"

    def reply(self) -> Reply:
        """Return the finished reply."""
        if self._stop is None:
            raise StreamBroken("the answer ended without a stop")
        stop: StopReason = "refusal" if self._refused else _STOPS.get(self._stop, "other")
        blocks: list[Block] = [TextBlock("".join(self._texts))]
        blocks.extend(call.close() for call in self._calls)
        model = self._model or self._call.model
        return make_reply(blocks, stop_reason=stop, usage=_usage(self._figures), model=model)

    def _head(self, body: JsonObject) -> None:
        if body.get("error"):
            raise as_error(read_failure(body), api_key=self._api_key, call=self._call)
        self._model = self._model or string(body.get("model"))
        self._figures = mapping(body.get("usage")) or self._figures

    def _delta(self, delta: JsonObject, events: list[ProviderEvent]) -> None:
        refusal = string(delta.get("refusal"))
        self._refused = self._refused or bool(refusal)
        if text := plain(_text(delta.get("content")) + refusal):
            self._texts.append(text)
            events.append(TextDelta(text))
        for part in mappings(delta.get("tool_calls")):
            if began := self._call_for(part).take(part):
                events.append(began)

    def _call_for(self, part: JsonObject) -> _OpenCall:
        """Return the call that a part belongs to.

        Servers leave out the index, give parallel calls the same one, or repeat the id and the
        name in each part: a new id always begins a new call, and without an index and an id a
        second name does.
        """
        index = part.get("index")
        if isinstance(index, int):
            known = self._by_index.get(index)
        else:
            known = self._calls[-1] if self._calls else None
        if known is None or self._begins_anew(part, known, has_index=isinstance(index, int)):
            known = _OpenCall()
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        return known

    @staticmethod
    def _begins_anew(part: JsonObject, known: _OpenCall, *, has_index: bool) -> bool:
        call_id = string(part.get("id"))
        if call_id:
            return bool(known.id) and call_id != known.id
        return not has_index and bool(known.name and mapping(part.get("function")).get("name"))


def _text(content: object) -> str:
    """Return a content's text; some servers send a list of parts instead of a string."""
    if isinstance(content, list):
        return "".join(string(part.get("text")) for part in mappings(content))
    return string(content)


def _usage(figures: JsonObject) -> Usage | None:
    """Return the figures in our terms: OpenAI's prompt includes what the cache did."""
    if not figures:
        return None
    prompt = mapping(figures.get("prompt_tokens_details"))
    completion = mapping(figures.get("completion_tokens_details"))
    read = count(prompt.get("cached_tokens"))
    written = count(prompt.get("cache_write_tokens"))
    return Usage(
        input_tokens=max(0, count(figures.get("prompt_tokens")) - read - written),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=count(figures.get("completion_tokens")),
        reasoning_tokens=count(completion.get("reasoning_tokens")),
    )
