"""OpenAI's Chat Completions API through its own SDK, and every server that speaks it.

Compatible servers (Ollama, vLLM, llama.cpp, gateways) keep to the wire more or less: what is
known to come differently is taken here without complaint.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import httpx2
import openai
from pydantic import JsonValue

from agents.core.errors import ProviderError, RequestRefused
from agents.core.events import ProviderEvent
from agents.core.messages import JsonObject, Reply
from agents.core.protocols import ModelCall, ModelInfo
from agents.providers.endpoint import Endpoint
from agents.providers.listing import (
    LIST_S,
    NOTHING_ASKED,
    as_run_by_llama_cpp,
    openai_models,
    owners,
)
from agents.providers.ollama import describe, root_of
from agents.providers.openai_replies import CompletionReading
from agents.providers.openai_requests import request_body
from agents.providers.replies import encode
from agents.providers.transport import http_client
from agents.providers.wire import (
    CONNECTION_ERRORS,
    broken,
    check_key,
    plain_timeout,
    read_events,
    read_json,
    read_whole,
    refused,
    stream_timeout,
    valid_address,
)
from agents.providers.wishes import Wishes

PATH = "/chat/completions"
OPENAI_HOST = "api.openai.com"
# Servers without keys ignore it; without one the SDK would send the key of the environment.
NO_KEY = "none"
USAGE_OPTION = "stream_options"
# Whom Ollama's and llama.cpp's lists of models name as their owner.
OLLAMA_OWNER = "library"
OLLAMA_PORT = 11434
LLAMA_CPP_OWNER = "llamacpp"


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
        self._wishes = Wishes()

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
        """Ask, and yield events as they come; ``Done`` is the last."""
        check_key(self._api_key)
        with self._translated(call):
            response = await self._open(call, stream=True)
            events = read_events(response, self._reading(call))
            try:
                async for event in events:
                    yield event
            finally:
                await events.aclose()

    async def complete(self, call: ModelCall) -> Reply:
        """Ask without streaming."""
        check_key(self._api_key)
        with self._translated(call):
            response = await self._open(call, stream=False)
            return await read_whole(response, self._reading(call))

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models that one talks to, in the server's order."""
        check_key(self._api_key)
        with self._translated(NOTHING_ASKED):
            listed = await self._get("models")
            found = openai_models(listed)
            owned_by = owners(listed)
            if OLLAMA_OWNER in owned_by or self._client.base_url.port == OLLAMA_PORT:
                return await describe(self._ask_beside) or found
            if LLAMA_CPP_OWNER in owned_by:
                props = await self._ask_beside("/props", None)
                return tuple(as_run_by_llama_cpp(info, props) for info in found)
            return found

    async def aclose(self) -> None:
        """Give back connections."""
        await self._client.close()

    async def _open(self, call: ModelCall, *, stream: bool) -> httpx2.Response:
        """Ask, and ask again without what the server turns out not to know."""
        while True:
            fitting = self._wishes.fit(call)
            # Figures come at the end of a stream only where they were asked for.
            wants_usage = stream and self._knows_usage_option
            try:
                with self._translated(call):
                    return await self._post(fitting, stream=stream, wants_usage=wants_usage)
            except ProviderError as error:
                if wants_usage and _refuses_usage_option(error):
                    self._knows_usage_option = False
                elif not self._wishes.learn(fitting, error):
                    raise

    async def _post(self, call: ModelCall, *, stream: bool, wants_usage: bool) -> httpx2.Response:
        body = request_body(
            call, stream=stream, is_openai=self.is_openai, origin=self._origin(call)
        )
        if not stream:
            return await self._client.post(
                PATH,
                cast_to=httpx2.Response,
                content=encode(body),
                options={"timeout": self._plain_timeout},
            )
        if wants_usage:
            body[USAGE_OPTION] = {"include_usage": True}
        opened = await self._client.post(
            PATH,
            cast_to=object,
            content=encode(body),
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return opened.response

    def _reading(self, call: ModelCall) -> CompletionReading:
        return CompletionReading(call, api_key=self._api_key, origin=self._origin(call))

    def _origin(self, call: ModelCall) -> str:
        """Return whose additions to a call they are: signed ones hold for one model."""
        return f"openai {self._client.base_url.host} {call.model}"

    async def _get(self, path: str) -> JsonValue:
        response = await self._client.get(
            path, cast_to=httpx2.Response, options={"timeout": LIST_S}
        )
        return read_json(await response.aread())

    async def _ask_beside(self, path: str, body: JsonObject | None) -> JsonValue:
        """Return what the server says in its own API, beside OpenAI's; None where nothing."""
        url = root_of(str(self._client.base_url)) + path
        try:
            if body is None:
                return await self._get(url)
            response = await self._client.post(
                url,
                cast_to=httpx2.Response,
                content=encode(body),
                options={"timeout": LIST_S},
            )
            return read_json(await response.aread())
        except (openai.OpenAIError, ProviderError, *CONNECTION_ERRORS):
            return None

    @contextmanager
    def _translated(self, call: ModelCall) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as exc:
            raise refused(exc, api_key=self._api_key, call=call) from exc
        except (openai.OpenAIError, *CONNECTION_ERRORS) as exc:
            raise broken(exc, had_answer=False) from exc


def _refuses_usage_option(error: ProviderError) -> bool:
    return isinstance(error, RequestRefused) and USAGE_OPTION in error.detail
