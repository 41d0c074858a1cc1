"""Prices: each kind of token once, the rates kept with the cost."""

from decimal import Decimal

from agents.core.messages import Usage
from agents.services import ledger


def test_cached_tokens_are_priced_apart_from_other_input() -> None:
    usage = Usage(
        input_tokens=3, cache_read_tokens=73_030, cache_write_tokens=2_124, output_tokens=1_059
    )
    rates, cost = ledger.price_of("claude-sonnet-4-6", usage)
    assert cost == Decimal("0.045768")
    assert rates is not None
    expected = {
        "input_mtok": "3",
        "cache_read_mtok": "0.3",
        "cache_write_mtok": "3.75",
        "output_mtok": "15",
    }
    assert {name: Decimal(str(rates[name])) for name in expected} == {
        name: Decimal(rate) for name, rate in expected.items()
    }


def test_model_without_a_known_price_costs_an_unknown_amount() -> None:
    assert ledger.price_of("qwen3:8b-of-ours", Usage(input_tokens=10)) == (None, None)


def test_what_is_cached_for_an_hour_costs_twice_the_input() -> None:
    usage = Usage(cache_write_tokens=1_000_000, cache_write_1h_tokens=400_000)
    rates, cost = ledger.price_of("claude-opus-4-7", usage)
    assert cost == Decimal("0.6") * Decimal("6.25") + Decimal("0.4") * 10
    assert rates is not None
    assert Decimal(str(rates["cache_write_1h_mtok"])) == 10
