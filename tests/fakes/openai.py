"""The OpenAI Chat Completions API on loopback, streaming and plain."""

import json
from collections.abc import Mapping, Sequence

from tests.fakes.script import Answer, CallTool, Say, SendError, Think, Tokens
from tests.fakes.server import Body, FakeServer, Talk, main

DONE = b"data: [DONE]\n\n"


def _data(body: Body) -> bytes:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")


def _figures(tokens: Tokens) -> Body:
    """Return usage as OpenAI counts it: the prompt includes what came from the cache."""
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _stop(play: Answer) -> str:
    return play.stop or ("tool_calls" if play.calls_tools else "stop")


class OpenAITalk:
    """One streamed completion."""

    def __init__(self, body: Body, play: Answer) -> None:
        self._play = play
        self._model = play.model or body["model"]
        options = body.get("stream_options") or {}
        self._wants_usage = bool(options.get("include_usage"))
        self._calls = 0

    def begin(self) -> bytes:
        """Send the chunk that names the role alone."""
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> bytes:
        """Send a piece of content."""
        return self._chunk({"content": text})

    def tool(self, step: CallTool) -> list[bytes]:
        """Send a call's name, then its arguments in pieces."""
        raw = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
        index = self._calls
        self._calls += 1
        function = {"name": step.name, "arguments": ""}
        head = {"index": index, "id": step.id, "type": "function", "function": function}
        sent = [self._chunk({"tool_calls": [head]})]
        size = max(1, -(-len(raw) // step.chunks))
        for at in range(0, len(raw), size):
            piece = {"index": index, "function": {"arguments": raw[at : at + size]}}
            sent.append(self._chunk({"tool_calls": [piece]}))
        return sent

    def think(self, text: str) -> bytes:
        """Send reasoning as compatible servers do, in a field beside the content."""
        return self._chunk({"reasoning_content": text})

    def error(self, step: SendError) -> bytes:
        """Send an error in place of a chunk."""
        return _data({"error": {"type": step.kind, "code": step.kind, "message": step.message}})

    def end(self) -> bytes:
        """Send the finish reason, the figures if they were asked for, and the end mark."""
        sent = self._chunk({}, finish_reason=_stop(self._play))
        if self._wants_usage and self._play.tokens is not None:
            sent += _data({**self._head(), "choices": [], "usage": _figures(self._play.tokens)})
        return sent + DONE

    def _head(self) -> Body:
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion.chunk",
            "created": 1764460800,
            "model": self._model,
        }

    def _chunk(self, delta: Body, *, finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _data({**self._head(), "choices": [choice]})


class OpenAIWire:
    """Chat completions as OpenAI's API speaks them."""

    base_path = "/v1"
    path = "/v1/chat/completions"
    models_path = "/v1/models"

    def talk(self, body: Body, play: Answer) -> Talk:
        """Begin a streamed completion."""
        return OpenAITalk(body, play)

    def whole(self, body: Body, play: Answer) -> Body:
        """Give the completion in one piece."""
        said = [step.text for step in play.steps if isinstance(step, Say)]
        message: Body = {"role": "assistant", "content": "".join(said) or None}
        thought = [step.text for step in play.steps if isinstance(step, Think)]
        if thought:
            message["reasoning_content"] = "".join(thought)
        calls = [_whole_call(step) for step in play.steps if isinstance(step, CallTool)]
        if calls:
            message["tool_calls"] = calls
        completion: Body = {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 1764460800,
            "model": play.model or body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": _stop(play)}],
        }
        if play.tokens is not None:
            completion["usage"] = _figures(play.tokens)
        return completion

    def models(self, models: Sequence[Body], query: Mapping[str, str]) -> Body:
        """Give the whole list."""
        return {"object": "list", "data": [{"object": "model", **model} for model in models]}

    def refusal(self, status: int, message: str) -> Body:
        """Give an error body."""
        kind = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
        error = {"message": message, "type": "invalid_request_error", "param": None}
        return {"error": {**error, "code": kind.get(status)}}


def _whole_call(step: CallTool) -> Body:
    raw = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
    return {"id": step.id, "type": "function", "function": {"name": step.name, "arguments": raw}}


class FakeOpenAI(FakeServer):
    """A scripted OpenAI-compatible server."""

    def __init__(self) -> None:
        super().__init__(OpenAIWire())


if __name__ == "__main__":
    main(OpenAIWire())
