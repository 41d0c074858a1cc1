"""Ollama on loopback: its own API beside the OpenAI-compatible one, and its habits.

In a test::

    with FakeOllama(FakeModel("qwen3:8b", thinks=True)) as fake:
        fake.play("Hello.")  # or nothing: ``chat`` then answers by itself
        fake.base_url  # http://127.0.0.1:<port>/v1

As a process of its own, for a walk through the pages::

    python -m tests.fakes.ollama --port 11434 --load-ms 1500

which serves ``qwen3:8b`` (thinks, knows tools), ``gemma3:4b`` (no tools) and an embedding model,
and prints its port as its first line. Model names given as arguments are served instead, all
with tools. Answers are short and in plain words; ``chunks=20 interval_ms=50`` in a person's text
stretches them, ``[[tool name {"a": 1}]]`` calls a tool once.

A model loads at its first answer, for ``load_s`` in silence; from then on ``/api/ps`` knows its
real window. A model without tools refuses them with status 400, an unknown one is not found.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from aiohttp import web

from tests.fakes.openai import OpenAIWire
from tests.fakes.script import Answer, Refusal, Say, Silence, Think, answer
from tests.fakes.server import (
    Body,
    FakeServer,
    Play,
    RecordedRequest,
    by_text,
    newest_text,
    serve,
)


@dataclass(frozen=True, slots=True)
class FakeModel:
    """One model of the server.

    Args:
        window: What it is loaded with.
        num_ctx: What its Modelfile says.
        trained: What it was trained with; nobody gets that much.
        load_s: Silence before its first answer.
        thinks: Its answers begin with ``<think>``.
        host: Of Ollama's cloud, where it runs there.
    """

    name: str
    can: tuple[str, ...] = ("completion", "tools")
    window: int = 4_096
    num_ctx: int | None = None
    trained: int = 131_072
    load_s: float = 0.0
    thinks: bool = False
    host: str = ""

    def tag(self) -> Body:
        """Return its entry in ``/api/tags``."""
        details = {"family": "fake", "parameter_size": "8.0B", "quantization_level": "Q4_K_M"}
        return {"name": self.name, "model": self.name, "size": 5_000_000_000, "details": details}

    def show(self) -> Body:
        """Return what ``/api/show`` says."""
        lines = ['stop                           "<|end|>"']
        if self.num_ctx is not None:
            lines.append(f"num_ctx                        {self.num_ctx}")
        shown: Body = {
            "parameters": "\n".join(lines),
            "model_info": {"general.architecture": "fake", "fake.context_length": self.trained},
            "capabilities": [*self.can],
        }
        return shown | ({"remote_host": self.host} if self.host else {})


CHAT = re.compile(r"chunks=|interval_ms=|wait_ms=|\[\[tool ")
GREETING = "Hello! I run on your own machine, so what you tell me stays here."


def chat(recorded: RecordedRequest) -> Answer:
    """Answer in plain words, or as the newest message asks."""
    text, is_result = newest_text(recorded.body)
    if CHAT.search(text) and not is_result:
        return by_text(recorded, chunks=20, interval_s=0.02)
    said = f"I looked it up: {text}" if is_result else f"{GREETING} You said: {text}"
    return answer(Say(said, chunks=12, interval_s=0.02))


class FakeOllama(FakeServer):
    """A scripted Ollama with a few models; ``chat`` answers where no script does."""

    def __init__(self, *served: FakeModel) -> None:
        super().__init__(OpenAIWire(), rule=chat)
        self.served = {model.name: model for model in served}
        self.loaded: dict[str, int] = {}
        self.asked: list[str] = []
        # What ``/v1/models`` says: names, and whose they are.
        self.models = [{"id": name, "owned_by": "library"} for name in self.served]

    def _route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/api/version", self._version)
        router.add_get("/api/tags", self._tags)
        router.add_get("/api/ps", self._ps)
        router.add_post("/api/show", self._show_model)

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": "0.40.12"})

    async def _tags(self, _: web.Request) -> web.Response:
        self.asked.append("tags")
        return web.json_response({"models": [model.tag() for model in self.served.values()]})

    async def _ps(self, _: web.Request) -> web.Response:
        self.asked.append("ps")
        running = [
            {"name": name, "model": name, "context_length": window}
            for name, window in self.loaded.items()
        ]
        return web.json_response({"models": running})

    async def _show_model(self, request: web.Request) -> web.Response:
        name = (await request.json())["model"]
        self.asked.append(f"show {name}")
        if name not in self.served:
            return web.json_response({"error": f"model '{name}' not found"}, status=404)
        return web.json_response(self.served[name].show())

    def _next_play(self, recorded: RecordedRequest) -> Play:
        model = self.served.get(recorded.body["model"])
        if model is None:
            said = f"model '{recorded.body['model']}' not found"
            return Refusal(404, self.wire.refusal(404, said))
        if recorded.body.get("tools") and "tools" not in model.can:
            said = f"registry.ollama.ai/library/{model.name} does not support tools"
            return Refusal(400, self.wire.refusal(400, said))
        return self._as_run(model, super()._next_play(recorded))

    def _as_run(self, model: FakeModel, play: Play) -> Play:
        """Return an answer as the model gives it: loaded first, and after a thought."""
        if isinstance(play, Refusal):
            return play
        steps = play.steps
        if model.thinks and not any(isinstance(step, Think) for step in steps):
            thought = "<think>\nThe person wants an answer.\n</think>\n\n"
            steps = (Say(thought, chunks=6), *steps)
        if model.name not in self.loaded and model.load_s:
            steps = (Silence(model.load_s), *steps)
        self.loaded[model.name] = model.window
        return replace(play, steps=steps)


def usual_models(load_s: float) -> tuple[FakeModel, ...]:
    """Return what a home server has."""
    return (
        FakeModel("qwen3:8b", window=32_768, load_s=load_s, thinks=True),
        FakeModel("gemma3:4b", can=("completion", "vision"), load_s=load_s),
        FakeModel("nomic-embed-text:latest", can=("embedding",)),
    )


def main(arguments: Sequence[str]) -> None:
    """Serve until told to stop; the first line printed is the port."""
    parser = argparse.ArgumentParser(description="A fake Ollama on loopback.")
    parser.add_argument("names", nargs="*", help="models to serve")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--load-ms", type=float, default=0.0, help="a model's first load")
    options = parser.parse_args(arguments)
    load_s = options.load_ms / 1000
    named = tuple(FakeModel(name, window=32_768, load_s=load_s) for name in options.names)
    asyncio.run(serve(FakeOllama(*(named or usual_models(load_s))), options.port))


if __name__ == "__main__":
    main(sys.argv[1:])
