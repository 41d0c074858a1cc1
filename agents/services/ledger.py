"""The ledger: what each model call used, and what it cost at the price of that moment."""

from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from typing import Final

import genai_prices

from agents import sql
from agents.core.messages import JsonObject, Usage
from agents.core.protocols import Charge, Price
from agents.models import UsageRecord
from agents.services.catalogue import listed_name
from agents.services.chain import NO_ACCOUNT

PRICE_SOURCE: Final = f"genai-prices {version('genai-prices')}"
MTOK: Final = 1_000_000
_RATES: Final = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
_HOUR_RATE: Final = "cache_write_1h_mtok"


@dataclass(frozen=True, slots=True)
class Spender:
    """Who spends: plain values, so that the ledger outlives what they name.

    Args:
        origin: Reference as text, ``turn:81``.
        kind: What the call was for, ``turn``.
    """

    origin: str
    kind: str
    team_id: int
    agent_id: int | None
    person_id: int | None
    channel: str


def record(charge: Charge, spender: Spender) -> None:
    """Write one usage row; call it in the transaction that completes or breaks off the step.

    The offline provider is no model, so it leaves no row.
    """
    if charge.account_id == NO_ACCOUNT:
        return
    price, cost = price_of(charge.model, charge.usage, own=charge.price)
    row = UsageRecord(
        origin=spender.origin,
        kind=spender.kind,
        team_id=spender.team_id,
        agent_id=spender.agent_id,
        person_id=spender.person_id,
        channel=spender.channel,
        account_id=charge.account_id,
        provider=charge.account_name,
        model=charge.model,
        input_tokens=charge.usage.input_tokens,
        cache_read_tokens=charge.usage.cache_read_tokens,
        cache_write_tokens=charge.usage.cache_write_tokens,
        output_tokens=charge.usage.output_tokens,
        reasoning_tokens=charge.usage.reasoning_tokens,
        is_estimate=charge.usage.is_estimate,
        was_broken=charge.was_broken,
        price=price,
        cost_usd=cost,
    )
    sql.insert(row)


def price_of(
    model: str, usage: Usage, *, own: Price | None = None
) -> tuple[JsonObject | None, Decimal | None]:
    """Return the rates used, dollars a million tokens, and the cost; both None where unknown.

    Args:
        own: What the team says; it goes before the list price.
    """
    if own is not None:
        return _own_price(usage, own)
    try:
        found = genai_prices.calc_price(_counted(usage), listed_name(model))
    except LookupError:
        return None, None
    rates: JsonObject = {"v": 1, "source": PRICE_SOURCE, "model": found.model.id}
    names = (*_RATES, _HOUR_RATE) if usage.cache_write_1h_tokens else _RATES
    listed = {name: getattr(found.model_price, name) for name in names}
    rates |= {name: str(rate) for name, rate in listed.items() if rate is not None}
    return rates, found.total_price


def _counted(usage: Usage) -> genai_prices.Usage:
    """Return tokens as genai-prices counts them: cached ones are input too."""
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    if usage.cache_write_1h_tokens:
        counted.cache_write_1h_tokens = usage.cache_write_1h_tokens
    return counted


def _own_price(usage: Usage, own: Price) -> tuple[JsonObject, Decimal]:
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cost = (read * own.input_usd_mtok + usage.output_tokens * own.output_usd_mtok) / MTOK
    rates: JsonObject = {
        "v": 1,
        "source": "team",
        "input_mtok": str(own.input_usd_mtok),
        "output_mtok": str(own.output_usd_mtok),
    }
    return rates, cost
