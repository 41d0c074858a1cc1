"""An agent's chain, ready to be asked: rows become links with an open provider each."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from weakref import WeakKeyDictionary

from django.conf import settings

from agents import models, sql
from agents.core.errors import AuthenticationFailed
from agents.core.events import Done, ProviderEvent
from agents.core.messages import Reply
from agents.core.protocols import FREE, ChainLink, Effort, ModelCall, Price, Provider
from agents.providers import Endpoint, ProviderLimits, is_warm, open_provider, warm
from agents.providers.endpoint import PromptCache
from agents.providers.offline import OFFLINE_MODEL
from agents.services.keys import key_of
from agents.sql import Columns

_LINK = Columns(models.ChainLink, "l")
_ACCOUNT = Columns(models.ProviderAccount, "p")
_CHAIN = f"""
    SELECT {_LINK.text}, {_ACCOUNT.text} FROM agents_chainlink l
    JOIN agents_provideraccount p ON p.id = l.account_id
    WHERE l.agent_id = %s ORDER BY l.position, l.id
"""  # noqa: S608 — constants only

_EFFORTS: Final[Mapping[str, Effort]] = {"": "", "low": "low", "medium": "medium", "high": "high"}

_CACHES: Final[Mapping[str, PromptCache]] = {"off": "off", "5m": "5m", "1h": "1h"}

# The link of the offline provider belongs to no account.
NO_ACCOUNT = 0


def rows_of(agent_id: int) -> list[models.ChainLink]:
    """Return the agent's chain in its order, with accounts loaded."""
    links = []
    for row in sql.fetch(_CHAIN, [agent_id]):
        link, rest = _LINK.take(row)
        account, _ = _ACCOUNT.take(rest)
        if link is None or account is None:
            raise AssertionError("an inner join finds its rows")
        link.account = account
        links.append(link)
    return links


def kinds_in_use() -> list[str]:
    """Return the kinds of provider that any agent's chain asks."""
    kinds = models.ChainLink.objects.values_list("account__kind", flat=True)
    return list(kinds.order_by().distinct())


def limits(account: models.ProviderAccount) -> ProviderLimits:
    """Return the limits of one call to an account."""
    return ProviderLimits(
        first_event_s=account.first_event_s or settings.QANOT_FIRST_EVENT_S,
        between_events_s=settings.QANOT_BETWEEN_EVENTS_S,
        call_s=settings.QANOT_CALL_S,
    )


async def warm_up(rows: Sequence[models.ChainLink]) -> None:
    """Import what a chain's providers need, in a thread; call it before ``open_chain``.

    An import takes seconds on a busy machine, or waits for another thread's import of the same
    SDK. On the loop it would hold up every turn, and the heartbeat that keeps their leases.
    """
    for kind in {row.account.kind for row in rows}:
        if not is_warm(kind):
            await asyncio.to_thread(warm, kind)


def open_chain(rows: Sequence[models.ChainLink]) -> tuple[ChainLink, ...]:
    """Return the chain's links; without rows, the one of the offline provider.

    Providers are opened once for each event loop and account, and again when the account was
    edited. Call it on the loop.
    """
    if not rows:
        return (_offline(),)
    return tuple(link_of(row, _providers().of(row.account)) for row in rows)


def link_of(row: models.ChainLink, provider: Provider) -> ChainLink:
    """Return a row as the loop takes it; needs ``account`` loaded."""
    return ChainLink(
        account_id=row.account_id,
        account_name=row.account.name,
        provider=provider,
        model=row.model,
        window_tokens=row.window_tokens,
        max_output_tokens=row.max_output_tokens,
        effort=_EFFORTS[row.effort],
        supports_tools=row.supports_tools,
        supports_images=row.supports_images,
        price=price_of(row),
        first_event_s=row.account.first_event_s,
    )


def price_of(row: models.ChainLink) -> Price | None:
    """Return what the team says that a link costs; None for the known list price."""
    if row.account.is_free:
        return FREE
    if row.input_usd_mtok is None or row.output_usd_mtok is None:
        return None
    return Price(row.input_usd_mtok, row.output_usd_mtok)


def _offline() -> ChainLink:
    return ChainLink(
        account_id=NO_ACCOUNT,
        account_name=OFFLINE_MODEL,
        provider=open_provider("offline"),
        model=OFFLINE_MODEL,
        window_tokens=100_000,
        max_output_tokens=4_096,
    )


@dataclass(slots=True)
class _Open:
    provider: Provider
    edited_at: datetime


class _Providers:
    """The open providers of one event loop, by account."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def of(self, account: models.ProviderAccount) -> Provider:
        known = self._open.get(account.pk)
        if known is not None and known.edited_at == account.updated_at:
            return known.provider
        if known is not None:
            closing = asyncio.ensure_future(_close_later(known.provider))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        provider = _open(account)
        self._open[account.pk] = _Open(provider, account.updated_at)
        return provider

    async def aclose(self) -> None:
        for known in self._open.values():
            await known.provider.aclose()
        self._open.clear()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Providers] = WeakKeyDictionary()


def _providers() -> _Providers:
    return _by_loop.setdefault(asyncio.get_running_loop(), _Providers())


async def close_providers() -> None:
    """Close the running loop's providers, before the loop ends."""
    providers = _by_loop.pop(asyncio.get_running_loop(), None)
    if providers is not None:
        await providers.aclose()


async def _close_later(provider: Provider) -> None:
    # Turns that run on the old key may finish; no call is longer than this.
    await asyncio.sleep(settings.QANOT_CALL_S)
    await provider.aclose()


def _open(account: models.ProviderAccount) -> Provider:
    try:
        key = key_of(account)
    except AuthenticationFailed as refusal:
        return _Keyless(refusal.detail)
    return open_provider(account.kind, endpoint_of(account, key))


def endpoint_of(account: models.ProviderAccount, key: str) -> Endpoint:
    """Return where and how an account is asked; the key is in it in clear."""
    return Endpoint(
        api_key=key,
        base_url=account.base_url or None,
        limits=limits(account),
        may_reach_private=account.may_reach_private,
        private_hosts=settings.QANOT_PRIVATE_HOSTS,
        prompt_cache=_CACHES[account.prompt_cache],
    )


class _Keyless:
    """Stands for an account whose key cannot be had: asking it is refused, and nothing sent."""

    def __init__(self, refusal: str) -> None:
        self._refusal = refusal

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent]:
        yield Done(await self.complete(call))

    async def complete(self, call: ModelCall) -> Reply:
        raise AuthenticationFailed(self._refusal)

    async def aclose(self) -> None:
        """Hold nothing, so give nothing back."""
