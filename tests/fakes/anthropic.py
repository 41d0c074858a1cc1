"""The Anthropic Messages API on loopback, streaming and plain."""

import json
from collections.abc import Mapping, Sequence

from tests.fakes.script import Answer, CallTool, Say, SendError, Think, Tokens
from tests.fakes.server import Body, FakeServer, Talk, main

SIGNATURE = "c2lnbmVk"
# Shorter than the real one's, so that a test needs few models.
PAGE = 2


def _event(name: str, **fields: object) -> bytes:
    data = json.dumps({"type": name, **fields}, ensure_ascii=False)
    return f"event: {name}\ndata: {data}\n\n".encode("utf-8", "surrogatepass")


def _input_figures(tokens: Tokens) -> Body:
    return {
        "input_tokens": tokens.input,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
    }


class AnthropicTalk:
    """One streamed message: blocks are opened and closed as their kind changes."""

    def __init__(self, body: Body, play: Answer) -> None:
        self._play = play
        self._model = play.model or body["model"]
        self._index = -1
        self._open: str | None = None

    def begin(self) -> bytes:
        """Send ``message_start`` with the input's figures."""
        message: Body = {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        if self._play.tokens is not None:
            message["usage"] = {**_input_figures(self._play.tokens), "output_tokens": 1}
        return _event("message_start", message=message) + _event("ping")

    def text(self, text: str) -> bytes:
        """Send a ``text_delta``."""
        opening = self._enter("text", {"type": "text", "text": ""})
        return opening + self._delta({"type": "text_delta", "text": text})

    def tool(self, step: CallTool) -> list[bytes]:
        """Send a ``tool_use`` block with its input in pieces."""
        raw = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
        block = {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}
        sent = [self._close() + self._enter("tool_use", block)]
        size = max(1, -(-len(raw) // step.chunks))
        for at in range(0, len(raw), size):
            piece = {"type": "input_json_delta", "partial_json": raw[at : at + size]}
            sent.append(self._delta(piece))
        sent.append(self._close())
        return sent

    def think(self, text: str) -> bytes:
        """Send a ``thinking`` block, signed as the real one is."""
        opening = self._enter("thinking", {"type": "thinking", "thinking": "", "signature": ""})
        thought = self._delta({"type": "thinking_delta", "thinking": text})
        signed = self._delta({"type": "signature_delta", "signature": SIGNATURE})
        return opening + thought + signed + self._close()

    def error(self, step: SendError) -> bytes:
        """Send an ``error`` event."""
        return _event("error", error={"type": step.kind, "message": step.message})

    def end(self) -> bytes:
        """Send ``message_delta`` with the stop reason, and ``message_stop``."""
        delta = {"stop_reason": _stop(self._play), "stop_sequence": None}
        fields: Body = {"delta": delta}
        if self._play.tokens is not None:
            fields["usage"] = _output_figures(self._play.tokens)
        return self._close() + _event("message_delta", **fields) + _event("message_stop")

    def _enter(self, kind: str, block: Body) -> bytes:
        if self._open == kind:
            return b""
        closing = self._close()
        self._index += 1
        self._open = kind
        return closing + _event("content_block_start", index=self._index, content_block=block)

    def _delta(self, delta: Body) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return _event("content_block_stop", index=self._index)


def _stop(play: Answer) -> str:
    return play.stop or ("tool_use" if play.calls_tools else "end_turn")


def _output_figures(tokens: Tokens) -> Body:
    figures: Body = {"output_tokens": tokens.output}
    if tokens.reasoning:
        figures["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    return figures


class AnthropicWire:
    """Messages as Anthropic's API speaks them."""

    base_path = ""
    path = "/v1/messages"
    models_path = "/v1/models"

    def talk(self, body: Body, play: Answer) -> Talk:
        """Begin a streamed message."""
        return AnthropicTalk(body, play)

    def whole(self, body: Body, play: Answer) -> Body:
        """Give the message in one piece."""
        content: list[Body] = []
        for step in play.steps:
            match step:
                case Say():
                    content.append({"type": "text", "text": step.text})
                case Think():
                    content.append(
                        {"type": "thinking", "thinking": step.text, "signature": SIGNATURE}
                    )
                case CallTool():
                    block = {"type": "tool_use", "id": step.id, "name": step.name}
                    content.append({**block, "input": step.arguments})
                case _:
                    pass
        message: Body = {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": play.model or body["model"],
            "content": content,
            "stop_reason": _stop(play),
            "stop_sequence": None,
        }
        if play.tokens is not None:
            figures = _input_figures(play.tokens)
            message["usage"] = {**figures, **_output_figures(play.tokens)}
        return message

    def models(self, models: Sequence[Body], query: Mapping[str, str]) -> Body:
        """Give one page of the list, as long as was asked for and at most ``PAGE``."""
        names = [model["id"] for model in models]
        begin = names.index(query["after_id"]) + 1 if "after_id" in query else 0
        page = list(models[begin : begin + min(PAGE, int(query.get("limit", PAGE)))])
        return {
            "data": page,
            "has_more": begin + len(page) < len(models),
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
        }

    def refusal(self, status: int, message: str) -> Body:
        """Give an error body."""
        kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
        error = {"type": kind.get(status, "invalid_request_error"), "message": message}
        return {"type": "error", "error": error, "request_id": "req_fake"}


class FakeAnthropic(FakeServer):
    """A scripted Anthropic."""

    def __init__(self) -> None:
        super().__init__(AnthropicWire())


if __name__ == "__main__":
    main(AnthropicWire())
