"""Voice to text by one of the team's accounts."""

from importlib import import_module
from typing import Protocol, cast

from agents.core.errors import ProviderError
from agents.core.messages import Usage
from agents.core.protocols import Charge
from agents.db import in_db
from agents.models import ProviderAccount
from agents.providers.endpoint import Endpoint
from agents.services.chain import endpoint_of
from agents.services.keys import key_of


class NotHeard(Exception):
    """A recording was not turned into text; the text is the provider's error code."""


class _Heard(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def usage(self) -> Usage: ...


class _Hearing(Protocol):
    async def hear(self, recording: bytes, *, name: str, media_type: str, model: str) -> _Heard: ...
    async def aclose(self) -> None: ...


class _Speech(Protocol):
    def Hearing(self, endpoint: Endpoint, /) -> _Hearing: ...  # a class of the module


async def hear(
    account: ProviderAccount, recording: bytes, *, name: str, media_type: str, model: str
) -> tuple[str, Charge]:
    """Return what a recording says, and what hearing it used.

    Raises:
        NotHeard: The account did not do it.
    """
    # By its name, as it imports the SDK (a second).
    speech = cast(_Speech, import_module("agents.providers.speech"))
    try:
        endpoint = endpoint_of(account, await in_db(key_of, account))
        hearing = speech.Hearing(endpoint)
        try:
            heard = await hearing.hear(recording, name=name, media_type=media_type, model=model)
        finally:
            await hearing.aclose()
    except ProviderError as error:
        raise NotHeard(error.code) from error
    return heard.text, Charge(account.pk, account.name, model, heard.usage)
