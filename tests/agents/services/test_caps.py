"""The daily cap: what was spent today, whose day it is, and which calls are still let through."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine

from agents.core.errors import CapReached
from agents.core.messages import Usage, UserMessage
from agents.core.protocols import FREE, ModelCall, Price
from agents.services import caps
from agents.services.caps import Allowance, CappedPurse
from tests import factories
from tests.fakes.scripted import ScriptedProvider
from tests.fakes.seams import link

NOW = datetime(2026, 11, 30, 20, 30, tzinfo=UTC)
DEAR = Price(Decimal(10), Decimal(100))
# 1,000 tokens of answer at most: 0.10 $, and the question next to nothing.
CALL = ModelCall("m", (), (UserMessage("Hello."),), (), 1_000)


def spent(agent_id: int, at: datetime, **columns: object) -> None:
    with time_machine.travel(at, tick=False):
        factories.usage_record(agent_id=agent_id, **columns)


@pytest.mark.django_db
def test_a_day_is_that_of_the_agents_own_zone() -> None:
    agent = factories.agent(time_zone="Asia/Tashkent")  # 01:30 on December 1st
    spent(agent.pk, NOW - timedelta(hours=1), cost_usd=Decimal("0.25"))
    spent(agent.pk, NOW - timedelta(hours=2), cost_usd=Decimal("4.00"))
    spent(factories.agent().pk, NOW, cost_usd=Decimal("1.00"))
    found = caps.allowance(agent, now=NOW)
    assert found == Allowance(Decimal("5.00"), Decimal("0.25"), "00:00 (Asia/Tashkent)")


@pytest.mark.django_db
def test_tokens_of_unknown_price_count_as_expensive_ones() -> None:
    agent = factories.agent()
    spent(agent.pk, NOW, cost_usd=None, input_tokens=200_000, output_tokens=10_000)
    assert caps.allowance(agent, now=NOW).spent_usd == Decimal("3.75")


@pytest.mark.django_db
def test_without_a_cap_nothing_is_counted() -> None:
    agent = factories.agent(daily_cap_usd=None)
    spent(agent.pk, NOW, cost_usd=Decimal(100))
    assert caps.allowance(agent, now=NOW).cap_usd is None


def purse(spent_usd: str, cap_usd: str | None = "5.00") -> CappedPurse:
    cap = Decimal(cap_usd) if cap_usd else None
    return CappedPurse(Allowance(cap, Decimal(spent_usd), "00:00 (UTC)"))


async def test_what_a_model_may_think_is_counted_with_its_answer() -> None:
    thinks = replace(link(ScriptedProvider(), price=DEAR), effort="medium")
    await purse("4.05").reserve(thinks, CALL)
    with pytest.raises(CapReached):
        await purse("4.10").reserve(thinks, CALL)


async def test_a_call_that_fits_goes_through_and_one_that_might_not_is_refused() -> None:
    asked = link(ScriptedProvider(), price=DEAR)
    await purse("4.89").reserve(asked, CALL)
    with pytest.raises(CapReached) as refused:
        await purse("4.95").reserve(asked, CALL)
    assert refused.value.values == {"cap": "5.00", "resets": "00:00 (UTC)"}


async def test_what_the_turn_itself_spends_counts_at_once() -> None:
    asked, own = link(ScriptedProvider(), price=DEAR), purse("4.50")
    await own.reserve(asked, CALL)
    charge = own.settle(asked, Usage(output_tokens=4_500), reservation=None)
    assert charge.price == DEAR
    with pytest.raises(CapReached):
        await own.reserve(asked, CALL)


async def test_a_free_model_may_be_asked_when_the_money_is_gone() -> None:
    assert await purse("9.00").reserve(link(ScriptedProvider(), price=FREE), CALL) is None


async def test_an_unknown_price_does_not_open_the_purse() -> None:
    with pytest.raises(CapReached):
        await purse("4.95").reserve(link(ScriptedProvider()), CALL)


async def test_no_cap_refuses_nothing() -> None:
    assert await purse("900", None).reserve(link(ScriptedProvider(), price=DEAR), CALL) is None
