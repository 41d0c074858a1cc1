"""Voice to text, by OpenAI's ``POST /audio/transcriptions`` and every server that speaks it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import openai

from agents.core.errors import ProviderError
from agents.core.messages import JsonObject, Usage
from agents.providers.endpoint import Endpoint
from agents.providers.listing import NOTHING_ASKED
from agents.providers.loose import mapping, positive, string
from agents.providers.openai_compatible import NO_KEY
from agents.providers.transport import http_client
from agents.providers.wire import (
    CONNECTION_ERRORS,
    broken,
    check_key,
    plain_timeout,
    read_json,
    refused,
    valid_address,
)

LONGEST_TEXT: Final = 100_000


@dataclass(frozen=True, slots=True)
class Heard:
    """What a recording says, and what hearing it used.

    Args:
        usage: Zero tokens and an estimate where the server tells only seconds, or nothing.
    """

    text: str
    usage: Usage


class Hearing:
    """One account that turns speech into text; close it after use."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the client; its connection opens at the first call."""
        self._api_key = endpoint.api_key.strip()
        with valid_address():
            self._client = openai.AsyncOpenAI(
                api_key=self._api_key or NO_KEY,
                admin_api_key="",
                base_url=endpoint.base_url or None,
                timeout=plain_timeout(endpoint.limits),
                max_retries=0,
                http_client=http_client(endpoint),
            )

    async def hear(self, recording: bytes, *, name: str, media_type: str, model: str) -> Heard:
        """Return what a recording says.

        Args:
            name: Its ending tells many servers which kind of recording it is.

        Raises:
            ProviderError: It was not heard.
        """
        check_key(self._api_key)
        with self._translated():
            response = await self._client.audio.transcriptions.with_raw_response.create(
                model=model, file=(name, recording, media_type), response_format="json"
            )
            answered = mapping(read_json(response.http_response.content))
        return Heard(string(answered.get("text")).strip()[:LONGEST_TEXT], _usage(answered))

    async def aclose(self) -> None:
        """Give back the connection."""
        await self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as exc:
            raise refused(exc, api_key=self._api_key, call=NOTHING_ASKED) from exc
        except ProviderError:
            raise
        except (openai.OpenAIError, *CONNECTION_ERRORS) as exc:
            raise broken(exc, had_answer=False) from exc


def _usage(answered: JsonObject) -> Usage:
    told = mapping(answered.get("usage"))
    read, written = positive(told.get("input_tokens")), positive(told.get("output_tokens"))
    return Usage(read or 0, output_tokens=written or 0, is_estimate=read is None)
