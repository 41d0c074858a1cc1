"""Embeddings over OpenAI's wire: OpenAI, Gemini's compatible address, Ollama, vLLM and others."""

import asyncio
import atexit
import math
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import TimeoutError as NotInTime
from functools import cache
from typing import Any, Final, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from agents.core.embedding import Embedded, TooSlow
from agents.core.errors import ProviderError, StreamBroken
from agents.core.messages import Usage
from agents.providers.endpoint import Endpoint
from agents.providers.failures import as_error, read_failure
from agents.providers.listing import NOTHING_ASKED
from agents.providers.transport import http_client
from agents.providers.wire import CONNECTION_ERRORS, broken, check_key, plain_timeout, read_json

OPENAI_URL: Final = "https://api.openai.com/v1"
# What every model takes (8,192 tokens), whatever the script.
CHARACTERS: Final = 8_000
# Models that want to be told which side of the search a text is on, by a part of their name.
_PREFIXES: Final = {
    "e5": ("query: ", "passage: "),
    "nomic-embed": ("search_query: ", "search_document: "),
}

CLOSED_S: Final = 2.0

T = TypeVar("T")
_clients: set[httpx2.AsyncClient] = set()


class _Row(BaseModel):
    index: int = 0
    embedding: list[float]


class _Usage(BaseModel):
    prompt_tokens: int = 0


class _Answer(BaseModel):
    data: list[_Row]
    usage: _Usage | None = None


class OpenAIEmbedder:
    """Asks one model of one account.

    Args:
        dimensions: To ask for another number than the model's own; not every model can.
    """

    def __init__(self, endpoint: Endpoint, model: str, *, dimensions: int | None = None) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimensions = dimensions
        self._client: httpx2.AsyncClient | None = None
        self._prefixes = next((pair for part, pair in _PREFIXES.items() if part in model), ("", ""))

    def query(self, text: str, *, deadline_s: float | None = None) -> Embedded:
        """Return the vector of what is sought.

        Raises:
            ProviderError: The account does not answer, or not with a vector.
            TooSlow: It did not come in time.
        """
        return _on_loop(self._embed([self._prefixes[0] + text]), deadline_s)

    def passages(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of what shall be found, from one request.

        Raises:
            ProviderError: The account does not answer, or not with as many vectors.
        """
        return _on_loop(self._embed([self._prefixes[1] + text for text in texts]), None)

    def close(self) -> None:
        """Give back connections."""
        client, self._client = self._client, None
        if client is not None:
            _clients.discard(client)
            _on_loop(client.aclose(), None)

    async def _embed(self, texts: Sequence[str]) -> Embedded:
        answer = await self._ask(texts)
        rows = sorted(answer.data, key=lambda row: row.index)
        if len(rows) != len(texts) or len({len(row.embedding) for row in rows}) != 1:
            raise StreamBroken("the answer has not one vector a text")
        tokens = answer.usage.prompt_tokens if answer.usage else 0
        return Embedded([_of_length_one(row.embedding) for row in rows], Usage(input_tokens=tokens))

    async def _ask(self, texts: Sequence[str]) -> _Answer:
        key = self._endpoint.api_key.strip()
        check_key(key)
        if self._client is None:
            self._client = http_client(self._endpoint)
            _clients.add(self._client)
        body: dict[str, object] = {
            "model": self._model,
            "input": [_clean(text) for text in texts],
            "encoding_format": "float",
        }
        if self._dimensions:
            body["dimensions"] = self._dimensions
        base = (self._endpoint.base_url or OPENAI_URL).rstrip("/")
        try:
            response = await self._client.post(
                f"{base}/embeddings",
                json=body,
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=plain_timeout(self._endpoint.limits),
            )
        except CONNECTION_ERRORS as exc:
            raise broken(exc, had_answer=False) from exc
        if not response.is_success:
            raise self._refusal(response, key)
        try:
            return _Answer.model_validate(read_json(response.content))
        except ValidationError as exc:
            raise StreamBroken("the answer has no vectors") from exc

    def _refusal(self, response: httpx2.Response, key: str) -> ProviderError:
        try:
            body = read_json(response.content)
        except StreamBroken:
            body = None
        failure = read_failure(body, status=response.status_code, headers=response.headers)
        return as_error(failure, api_key=key, call=NOTHING_ASKED)


def _clean(text: str) -> str:
    return text[:CHARACTERS].encode("utf-8", "replace").decode() or " "


def _of_length_one(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector))
    if not math.isfinite(length) or length == 0:
        raise StreamBroken("the answer has a vector of no length")
    return [value / length for value in vector]


def _on_loop(work: Coroutine[Any, Any, T], deadline_s: float | None) -> T:
    """Run it on the one loop of embedding requests, so that connections are kept."""
    running = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return running.result(deadline_s)
    except NotInTime as exc:
        running.cancel()
        raise TooSlow("the query's vector did not come in time") from exc


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="embedding-requests", daemon=True)
    thread.start()
    atexit.register(_end, loop, thread)
    return loop


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Close what is open and end the loop, before the process does."""
    for client in list(_clients):
        asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(CLOSED_S)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSED_S)
    loop.close()
