"""Who embeds a team's texts, in which space; what an account charged stands in the ledger."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from django.utils.module_loading import import_string

from agents.core.embedding import Embedded, Embedder
from agents.core.errors import RequestRefused
from agents.core.protocols import FREE, Charge
from agents.models import ProviderAccount
from agents.providers import embedding_builtin
from agents.providers.embedding_builtin import BuiltinEmbedder
from agents.services import ledger
from agents.services.chain import endpoint_of
from agents.services.keys import key_of
from agents.services.ledger import Spender
from memory.models import EmbeddingSpace, MemorySettings

if TYPE_CHECKING:
    from agents.providers.embedding_openai import OpenAIEmbedder

# Kinds of accounts whose wire has embeddings.
EMBEDDING_KINDS: Final = frozenset({ProviderAccount.Kind.OPENAI})
KIND: Final = "embedding"
ADAPTER: Final = "agents.providers.embedding_openai.OpenAIEmbedder"
_PROBE: Final = "How many dimensions has this?"


@dataclass(frozen=True, slots=True)
class _Known:
    edited_at: datetime
    embedder: Embedder


_open: dict[tuple[int, str, int | None], _Known] = {}
_opening: Final = Lock()


@dataclass(frozen=True, slots=True)
class Open:
    """An embedder with whom it is paid through; None for the built-in one."""

    embedder: Embedder
    account: ProviderAccount | None
    model: str


def space_of(settings: MemorySettings) -> EmbeddingSpace | None:
    """Return the space of a team's model; a model that is new is asked for its size.

    Returns:
        None where the team searches by words only, or this machine has no built-in model.

    Raises:
        ProviderError: The account does not answer.
    """
    identity = identity_of(settings)
    if identity is None:
        return None
    if settings.embedder == MemorySettings.Embedder.BUILTIN:
        return _space(identity, embedding_builtin.DIMENSIONS)
    known = EmbeddingSpace.objects.filter(identity=identity).first()
    if known is not None:
        return known
    opened = open_embedder(settings)
    probed = opened.embedder.query(_PROBE)
    charge(opened, probed, team_id=settings.team_id, origin=f"team:{settings.team_id}")
    return _space(identity, len(probed.vectors[0]))


def identity_of(settings: MemorySettings) -> str | None:
    """Return the name of the space of a team's model; None as for ``space_of``. Nobody is asked."""
    if settings.embedder == MemorySettings.Embedder.NONE:
        return None
    if settings.embedder == MemorySettings.Embedder.BUILTIN:
        return embedding_builtin.IDENTITY if embedding_builtin.is_installed() else None
    return _identity(settings)


def open_embedder(settings: MemorySettings) -> Open:
    """Return who embeds for a team.

    Raises:
        AuthenticationFailed: The account's key cannot be had.
        RequestRefused: The account's wire has no embeddings.
    """
    if settings.embedder == MemorySettings.Embedder.BUILTIN:
        return Open(BuiltinEmbedder(), None, "")
    account = settings.account
    if account is None or account.kind not in EMBEDDING_KINDS:
        raise RequestRefused("this kind of account has no embeddings")
    opened = _of_account(account, settings.model, settings.dimensions)
    return Open(opened, account, settings.model)


def charge(opened: Open, embedded: Embedded, *, team_id: int, origin: str) -> None:
    """Write what a request to an account used; the built-in one costs nothing."""
    if opened.account is None:
        return
    row = Charge(
        account_id=opened.account.pk,
        account_name=opened.account.name,
        model=opened.model,
        usage=embedded.usage,
        price=FREE if opened.account.is_free else None,
    )
    ledger.record(
        row,
        Spender(
            origin=origin, kind=KIND, team_id=team_id, agent_id=None, person_id=None, channel=""
        ),
    )


def _of_account(account: ProviderAccount, model: str, dimensions: int | None) -> Embedder:
    """Return the open embedder of a model; opened again when the account was edited."""
    key = (account.pk, model, dimensions)
    with _opening:
        known = _open.get(key)
        if known is not None and known.edited_at == account.updated_at:
            return known.embedder
        endpoint = endpoint_of(account, key_of(account))
        # Its key or address may be another one. Requests of the old one may still run: its
        # connections are closed with the process.
        opened = _load()(endpoint, model, dimensions=dimensions)
        _open[key] = _Known(account.updated_at, opened)
        return opened


@cache
def _load() -> type["OpenAIEmbedder"]:
    """Import the adapter with the first account that embeds: it costs a process 20 MB."""
    loaded: type[OpenAIEmbedder] = import_string(ADAPTER)
    return loaded


def _identity(settings: MemorySettings) -> str:
    address = settings.account.base_url if settings.account else ""
    host = urlsplit(address).netloc or "api.openai.com"
    size = str(settings.dimensions) if settings.dimensions else "full"
    return f"{host} {settings.model} {size}"[:300]


def _space(identity: str, dimensions: int) -> EmbeddingSpace:
    found = EmbeddingSpace.objects.filter(identity=identity).first()
    if found is not None:
        return found
    made, _ = EmbeddingSpace.objects.get_or_create(
        identity=identity, defaults={"dimensions": dimensions}
    )
    return made
