"""What an Ollama server says about its models, and whether one runs at an address.

Its OpenAI-compatible side names the models and no more; its own API knows the rest. The window
is the point: ``model_info`` says what a model was trained with, but the server loads it with
``num_ctx``, and cuts the front off whatever is longer without a word. So, in this order: what
``/api/ps`` says of a loaded model; ``num_ctx`` of its Modelfile; the server's usual size, which
depends on the graphics memory (4,096 below 24 GiB, 32k up to 48, else 256k) and on
``OLLAMA_CONTEXT_LENGTH``, and which no request tells, so the smallest is assumed
(https://docs.ollama.com/context-length, https://docs.ollama.com/api, read in November 2026).
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from pydantic import JsonValue

from agents.core.messages import JsonObject
from agents.core.protocols import ModelInfo
from agents.net import Guard, NetError, fetch
from agents.providers.loose import mapping, mappings, positive, string
from agents.providers.presets import OLLAMA_URL
from agents.providers.replies import encode

OLLAMA_PORT: Final = 11434
_URL_PORTS: Final = {"http": 80, "https": 443}
PROBE_S: Final = 1.0
OK: Final = 200
USUAL_WINDOW: Final = 4_096
MAX_BODY_BYTES: Final = 4 * 2**20
# A home server with more of them than one looks through.
MAX_MODELS: Final = 100

_NUM_CTX: Final = re.compile(r"^\s*num_ctx\s+(\d{1,9})\s*$", re.M)

Ask = Callable[[str, JsonObject | None], Awaitable[JsonValue]]


def root_of(base_url: str) -> str:
    """Return the server's own address for that of its OpenAI-compatible side."""
    return base_url.rstrip("/").removesuffix("/v1")


def address_of(host: str) -> str:
    """Return the OpenAI-compatible address of an Ollama, from what ``OLLAMA_HOST`` may hold.

    Its programs take a host, a port or a whole URL, and their usual port for one that is none; a
    server that listens everywhere is asked on this machine. Empty for the usual place.
    """
    host = host.strip().rstrip("/")
    is_url = "://" in host
    try:
        url = urlsplit(host if is_url else f"http://{host}")
    except ValueError:
        return OLLAMA_URL
    name = url.hostname or "127.0.0.1"
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - compared, not bound
    port = _port_of(url) or (_URL_PORTS.get(url.scheme) if is_url else None) or OLLAMA_PORT
    return f"{url.scheme}://{f'[{name}]' if ':' in name else name}:{port}/v1"


def _port_of(url: SplitResult) -> int | None:
    try:
        return url.port
    except ValueError:
        return None


async def probe(base_url: str = OLLAMA_URL, *, guard: Guard) -> tuple[ModelInfo, ...] | None:
    """Return the chat models of an Ollama; None where none answers there within a second.

    Whatever it does not say in that second stays unknown.
    """
    ends_s = time.monotonic() + PROBE_S

    async def ask(path: str, body: JsonObject | None) -> JsonValue:
        left_s = max(0.001, ends_s - time.monotonic())
        return await _fetch(root_of(base_url) + path, body, guard=guard, within_s=left_s)

    return await describe(ask)


async def describe(ask: Ask) -> tuple[ModelInfo, ...] | None:
    """Return the chat models of an Ollama, newest first; None where there is none.

    Args:
        ask: Gets a path and, for a POST, a body, and returns the answer; None where there is none.
    """
    tags = await ask("/api/tags", None)
    if not isinstance(tags, dict) or not isinstance(tags.get("models"), list):
        return None
    names = [
        string(tag.get("model")) or string(tag.get("name")) for tag in mappings(tags["models"])
    ]
    names = [name for name in names if name][:MAX_MODELS]
    running, *shown = await asyncio.gather(
        ask("/api/ps", None), *(ask("/api/show", {"model": name}) for name in names)
    )
    loaded = _loaded_windows(mapping(running))
    known = zip(names, map(mapping, shown), strict=True)
    return tuple(_info(name, show, loaded.get(name)) for name, show in known if _chats(show))


def _loaded_windows(running: JsonObject) -> dict[str, int]:
    windows = {}
    for model in mappings(running.get("models")):
        window = positive(model.get("context_length"))
        for name in (string(model.get("model")), string(model.get("name"))):
            if name and window:
                windows[name] = window
    return windows


def _chats(show: JsonObject) -> bool:
    """Return whether a model answers in words; one that does not say what it can, is taken."""
    can = show.get("capabilities")
    return not isinstance(can, list) or not can or "completion" in can


def _info(name: str, show: JsonObject, loaded: int | None) -> ModelInfo:
    can = show.get("capabilities")
    trained = _trained_window(mapping(show.get("model_info")))
    if string(show.get("remote_host")):
        # Their cloud runs a model with all that it has.
        loaded = loaded or trained
    asked = _NUM_CTX.search(string(show.get("parameters")))
    stated = int(asked[1]) if asked else USUAL_WINDOW
    window = loaded or (min(stated, trained) if trained else stated)
    return ModelInfo(
        name=name,
        window_tokens=window or None,
        supports_tools="tools" in can if isinstance(can, list) and can else None,
        supports_images="vision" in can if isinstance(can, list) and can else None,
        is_window_assumed=loaded is None and asked is None,
    )


def _trained_window(model_info: JsonObject) -> int | None:
    for name, value in model_info.items():
        if name.endswith(".context_length"):
            return positive(value)
    return None


async def _fetch(url: str, body: JsonObject | None, *, guard: Guard, within_s: float) -> JsonValue:
    """Return what the server answers; None where it does not, or makes no sense."""
    try:
        fetched = await fetch(
            url,
            guard=guard,
            method="GET" if body is None else "POST",
            body=None if body is None else encode(body),
            timeout_s=within_s,
            max_bytes=MAX_BODY_BYTES,
            max_redirects=0,
        )
        value: JsonValue = json.loads(fetched.body) if fetched.status == OK else None
    except (NetError, ValueError, RecursionError):
        return None
    return value
