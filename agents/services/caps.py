"""The daily cap: what an agent may still spend today, asked before each call to a model.

The ledger says what was spent. A turn looks once, when it is claimed, and counts on by itself, so
that several turns at once may go over the cap by what each of them was spending; none begins a
call above it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from agents import models, sql
from agents.core.asking import Question
from agents.core.errors import CapReached
from agents.core.messages import Usage
from agents.core.protocols import THINKING_TOKENS, ChainLink, Charge, ModelCall, Price
from agents.models import Agent
from agents.services import chain, ledger
from agents.services.chain import NO_ACCOUNT

# An unknown price must not open the purse: it counts as that of a large model. Dearer ones exist,
# but the list knows their prices (genai-prices 0.2, November 2026).
CEILING: Final = Price(Decimal(15), Decimal(75))

_SPENT = """
    SELECT coalesce(sum(coalesce(cost_usd,
        ((input_tokens + cache_read_tokens + cache_write_tokens)::numeric * %s
            + output_tokens * %s) / 1000000)), 0)
    FROM agents_usagerecord WHERE agent_id = %s AND created_at >= %s
"""
_SPENT_ON = f"{_SPENT} AND kind = %s"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an agent may spend today.

    Args:
        cap_usd: None where nothing limits it.
        resets: When its day ends, for people: ``00:00 (Asia/Tashkent)``.
    """

    cap_usd: Decimal | None
    spent_usd: Decimal
    resets: str


UNLIMITED: Final = Allowance(None, Decimal(0), "")


def allowance(agent: Agent, *, now: datetime) -> Allowance:
    """Return what the agent may spend and has spent in its own zone's day."""
    resets = f"00:00 ({agent.time_zone})"
    if agent.daily_cap_usd is None:
        return Allowance(None, Decimal(0), resets)
    return Allowance(agent.daily_cap_usd, spent_since(agent.pk, _day_began(agent, now)), resets)


def part_of_allowance(
    agent: Agent, *, kind: str, share: Decimal, without_cap_usd: Decimal, now: datetime
) -> Allowance:
    """Return what calls of one kind may cost today: a share of the cap, of what is left at most.

    Args:
        kind: As the ledger names them.
        without_cap_usd: What a day may cost where no cap limits the agent.
    """
    whole = allowance(agent, now=now)
    cap_usd = without_cap_usd if whole.cap_usd is None else whole.cap_usd * share
    spent_usd = spent_since(agent.pk, _day_began(agent, now), kind=kind)
    if whole.cap_usd is not None:
        spent_usd = max(spent_usd, cap_usd - max(whole.cap_usd - whole.spent_usd, Decimal(0)))
    return Allowance(cap_usd, spent_usd, whole.resets)


def day_ends(agent: Agent, now: datetime) -> datetime:
    """Return when the agent may spend again: the next midnight of its zone."""
    # Added to a local time it keeps the clock, whatever the zone does that night.
    return _day_began(agent, now) + timedelta(days=1)


def spent_since(agent_id: int, began_at: datetime, *, kind: str = "") -> Decimal:
    """Return what an agent spent since then, unknown prices counted at the ceiling.

    Args:
        kind: Of which kind of call alone; empty for all.
    """
    values: list[object] = [CEILING.input_usd_mtok, CEILING.output_usd_mtok, agent_id, began_at]
    if kind:
        ((spent,),) = sql.fetch(_SPENT_ON, [*values, kind])
    else:
        ((spent,),) = sql.fetch(_SPENT, values)
    return Decimal(spent)


def _day_began(agent: Agent, now: datetime) -> datetime:
    local = now.astimezone(ZoneInfo(agent.time_zone))
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


class CappedPurse:
    """The ``Purse`` of one turn or try-out.

    Args:
        allowance: As it stood when the work began; what the work itself spends is added here.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._spent_usd = allowance.spent_usd

    async def reserve(self, link: ChainLink, call: ModelCall) -> str | None:
        """Let the call through, or refuse it; nothing is set aside."""
        cap_usd = self._allowance.cap_usd
        if cap_usd is None or link.account_id == NO_ACCOUNT:
            return None
        left_usd = max(cap_usd - self._spent_usd, Decimal(0))
        # Counting a long conversation takes milliseconds: only where it could matter.
        if _at_most(link, link.window_tokens) > left_usd and _at_most(link, _size(call)) > left_usd:
            raise CapReached({"cap": f"{cap_usd:.2f}", "resets": self._allowance.resets})
        return None

    def settle(
        self, link: ChainLink, usage: Usage, *, reservation: str | None, was_broken: bool = False
    ) -> Charge:
        """Return what the call used, for the journal to write, and count it."""
        if self._allowance.cap_usd is not None and link.account_id != NO_ACCOUNT:
            self._spent_usd += cost_of(link, usage)
        return Charge(
            account_id=link.account_id,
            account_name=link.account_name,
            model=link.model,
            usage=usage,
            reservation=reservation,
            was_broken=was_broken,
            price=link.price,
        )


def cost_of(link: ChainLink, usage: Usage) -> Decimal:
    """Return what tokens cost with a link, at the ceiling where its price is not known."""
    return _cost_of(link.model, usage, link.price)


def cost_of_row(row: models.ChainLink, usage: Usage) -> Decimal:
    """Return the same for a link that was not opened; needs ``account`` loaded."""
    return _cost_of(row.model, usage, chain.price_of(row))


def _cost_of(model: str, usage: Usage, price: Price | None) -> Decimal:
    _, cost = ledger.price_of(model, usage, own=price)
    if cost is None:
        _, cost = ledger.price_of(model, usage, own=CEILING)
    return cost or Decimal(0)


def _at_most(link: ChainLink, input_tokens: int) -> Decimal:
    output_tokens = link.max_output_tokens + THINKING_TOKENS[link.effort]
    return cost_of(link, Usage(input_tokens=input_tokens, output_tokens=output_tokens))


def _size(call: ModelCall) -> int:
    return Question(call.system, call.messages, call.tools).estimated_tokens()
