"""What OpenAI's Chat Completions API answers, and how compatible servers differ."""

from collections.abc import Iterable

from agents.core.errors import StreamBroken
from agents.core.events import ProviderEvent, TextDelta, ToolCallBegan
from agents.core.messages import Block, JsonObject, Reply, StopReason, TextBlock, Usage
from agents.core.protocols import ModelCall
from agents.providers.failures import as_error, read_failure
from agents.providers.loose import mapping, mappings, string
from agents.providers.replies import count, make_call, make_opaque, make_reply, plain
from agents.providers.thoughts import ThoughtFilter
from agents.providers.wire import AT_WORK

# Where Google's own additions to a call stand.
EXTRA = "extra_content"

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


class _OpenCall:
    """One tool call while it comes in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.arguments: JsonObject | None = None
        # Gemini's signed reasoning, which it wants back with the call.
        self.extra: JsonObject = {}

    def take(self, part: JsonObject) -> ToolCallBegan | None:
        """Take a part of the call; the first one with a name announces it."""
        function = mapping(part.get("function"))
        self.id = self.id or string(part.get("id"))
        self.extra = mapping(part.get(EXTRA)) or self.extra
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

    def close(self, *, origin: str) -> list[Block]:
        """Return the finished call, what is to be sent back with it before it."""
        raw = "".join(self.pieces)
        call = make_call(self.id, self.name, raw if self.arguments is None else self.arguments)
        extra = make_opaque(origin, self.extra) if self.extra else None
        return [extra, call] if extra else [call]


class CompletionReading:
    """One completion, read from its chunks or in one piece."""

    def __init__(self, call: ModelCall, *, api_key: str, origin: str = "") -> None:
        """Begin an answer to a call."""
        self._call = call
        self._api_key = api_key
        self._origin = origin
        self._model = ""
        self._texts: list[str] = []
        self._thoughts = ThoughtFilter()
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
        if self._stop:
            self._say(self._thoughts.finish(), events)
        return events if events or not is_at_work else AT_WORK

    def take_whole(self, completion: JsonObject) -> None:
        """Take a completion that came in one piece."""
        self._head(completion)
        for choice in mappings(completion.get("choices"))[:1]:
            self._delta(mapping(choice.get("message")), [])
            self._stop = string(choice.get("finish_reason")) or "stop"
        self._say(self._thoughts.finish(), [])

    def end(self) -> Iterable[ProviderEvent]:
        """Note ``[DONE]``; it is a stop even where no reason came before it."""
        self.is_finished = True
        self._stop = self._stop or "stop"
        events: list[ProviderEvent] = []
        self._say(self._thoughts.finish(), events)
        return events

    def reply(self) -> Reply:
        """Return the finished reply."""
        if self._stop is None:
            raise StreamBroken("the answer ended without a stop")
        stop: StopReason = "refusal" if self._refused else _STOPS.get(self._stop, "other")
        blocks: list[Block] = [TextBlock("".join(self._texts))]
        for call in self._calls:
            blocks.extend(call.close(origin=self._origin))
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
        self._say(self._thoughts.feed(_text(delta.get("content"))) + refusal, events)
        for part in mappings(delta.get("tool_calls")):
            if began := self._call_for(part).take(part):
                events.append(began)

    def _say(self, text: str, events: list[ProviderEvent]) -> None:
        if text := plain(text):
            self._texts.append(text)
            events.append(TextDelta(text))

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
