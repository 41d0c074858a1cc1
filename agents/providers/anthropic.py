"""Anthropic's Messages API through its own SDK."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote

import anthropic
import httpx2

from agents.core.errors import ProviderError
from agents.core.events import ProviderEvent
from agents.core.messages import Reply
from agents.core.protocols import ModelCall, ModelInfo
from agents.providers.anthropic_replies import MessageReading
from agents.providers.anthropic_requests import request_body
from agents.providers.endpoint import Endpoint
from agents.providers.listing import LIST_S, NOTHING_ASKED, anthropic_models
from agents.providers.loose import mapping, string
from agents.providers.replies import encode
from agents.providers.thinking import Style, ThinkingStyles
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

HOST = "api.anthropic.com"
PATH = "/v1/messages"
MODELS_PATH = "/v1/models"
PAGE = 1000
MAX_PAGES = 10
# The SDK looks for a key in the environment and on disk unless it is given one.
NO_KEY = "none"


class AnthropicProvider:
    """Asks Anthropic, or a server that speaks its API; one SDK client for its whole life."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the client; its connections open at the first call, in that call's loop."""
        self._api_key = endpoint.api_key.strip()
        base_url = endpoint.base_url or None
        self._stream_timeout = stream_timeout(endpoint.limits)
        self._plain_timeout = plain_timeout(endpoint.limits)
        self._cache = endpoint.prompt_cache
        self._styles = ThinkingStyles()
        self._wishes = Wishes()
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
        """Return the account's models, the newest first."""
        check_key(self._api_key)
        found: list[ModelInfo] = []
        after = ""
        with self._translated(NOTHING_ASKED):
            for _ in range(MAX_PAGES):
                path = f"{MODELS_PATH}?limit={PAGE}{after}"
                response = await self._client.get(
                    path, cast_to=httpx2.Response, options={"timeout": LIST_S}
                )
                page = mapping(read_json(await response.aread()))
                found.extend(anthropic_models(page))
                last = string(page.get("last_id"))
                if page.get("has_more") is not True or not last:
                    break
                after = f"&after_id={quote(last, safe='')}"
        return tuple(found)

    async def aclose(self) -> None:
        """Give back connections."""
        await self._client.close()

    async def _open(self, call: ModelCall, *, stream: bool) -> httpx2.Response:
        """Ask, and ask again in another way where the model refuses how it is asked to think."""
        while True:
            fitting = self._wishes.fit(call)
            style = self._styles.style_for(fitting)
            try:
                with self._translated(call):
                    return await self._post(fitting, style, stream=stream)
            except ProviderError as error:
                if not (
                    self._styles.learn(call.model, style, error)
                    or self._wishes.learn(replace(fitting, effort=""), error)
                ):
                    raise

    async def _post(self, call: ModelCall, style: Style, *, stream: bool) -> httpx2.Response:
        body = request_body(
            call,
            stream=stream,
            style=style,
            cache=self._cache,
            origin=self._origin(call),
            is_anthropic=self._client.base_url.host == HOST,
        )
        if not stream:
            return await self._client.post(
                PATH,
                cast_to=httpx2.Response,
                content=encode(body),
                options={"timeout": self._plain_timeout},
            )
        opened = await self._client.post(
            PATH,
            cast_to=object,
            content=encode(body),
            options={"timeout": self._stream_timeout},
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )
        return opened.response

    def _reading(self, call: ModelCall) -> MessageReading:
        return MessageReading(call, api_key=self._api_key, origin=self._origin(call))

    def _origin(self, call: ModelCall) -> str:
        """Return whose reasoning it is: a signature holds for one server and one model."""
        return f"anthropic {self._client.base_url.host} {call.model}"

    @contextmanager
    def _translated(self, call: ModelCall) -> Iterator[None]:
        try:
            yield
        except anthropic.APIStatusError as exc:
            raise refused(exc, api_key=self._api_key, call=call) from exc
        except (anthropic.AnthropicError, *CONNECTION_ERRORS) as exc:
            raise broken(exc, had_answer=False) from exc
