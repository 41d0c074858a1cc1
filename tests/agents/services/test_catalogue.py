"""What is known about a model before it is asked."""

from decimal import Decimal

import pytest

from agents.core.messages import Usage
from agents.core.protocols import ModelInfo
from agents.services import catalogue, ledger
from agents.services.catalogue import ModelFacts


def test_a_listed_model_has_its_window_and_price() -> None:
    found = catalogue.facts("claude-sonnet-4-5", preset="anthropic")
    assert found == ModelFacts(
        name="claude-sonnet-4-5",
        window_tokens=200_000,
        is_window_known=True,
        max_output_tokens=8_192,
        supports_tools=True,
        supports_images=True,
        input_usd_mtok=Decimal(3),
        output_usd_mtok=Decimal(15),
    )


def test_an_unknown_model_gets_a_careful_window_and_no_price() -> None:
    found = catalogue.facts("nobody-knows-this")
    assert (found.window_tokens, found.is_window_known) == (32_000, False)
    assert (found.input_usd_mtok, found.output_usd_mtok) == (None, None)
    assert found.max_output_tokens == 8_000


def test_what_the_server_says_goes_first() -> None:
    said = ModelInfo("claude-sonnet-4-5", 1_000_000, 4_000, False)
    found = catalogue.facts("claude-sonnet-4-5", said=said, preset="anthropic")
    assert (found.window_tokens, found.is_window_known) == (1_000_000, True)
    assert (found.max_output_tokens, found.supports_tools) == (4_000, False)


def test_ones_own_model_sees_only_where_its_server_says_so() -> None:
    own = catalogue.facts("qwen3:8b", preset="ollama")
    seeing = ModelInfo("llava", supports_images=True)
    blind = ModelInfo("mistral-7b", supports_images=False)
    assert not own.supports_images
    assert catalogue.facts("llava", said=seeing, preset="ollama").supports_images
    assert not catalogue.facts("mistral-7b", said=blind, preset="openrouter").supports_images


def test_an_assumed_window_is_used_but_not_known() -> None:
    said = ModelInfo("qwen3:8b", 4_096, is_window_assumed=True)
    found = catalogue.facts("qwen3:8b", said=said, preset="ollama")
    assert (found.window_tokens, found.is_window_known) == (4_096, False)
    assert found.is_window_small
    assert found.max_output_tokens == 1_024


@pytest.mark.parametrize("model", ["qwen3:8b", "deepseek-r1:14b", "gpt-oss:20b"])
@pytest.mark.parametrize("preset", ["ollama", "local"])
def test_ones_own_model_costs_nothing_and_is_not_its_famous_namesake(
    model: str, preset: str
) -> None:
    found = catalogue.facts(model, preset=preset)
    assert (found.input_usd_mtok, found.output_usd_mtok) == (Decimal(0), Decimal(0))
    assert (found.window_tokens, found.is_window_known) == (32_000, False)


def test_a_price_is_that_of_whoever_runs_the_model() -> None:
    at_groq = catalogue.facts("llama-3.3-70b-versatile", preset="groq")
    assert at_groq.input_usd_mtok is not None
    by_address = catalogue.facts("deepseek-chat", base_url="https://api.deepseek.com/v1")
    assert by_address.input_usd_mtok is not None


def test_a_model_by_googles_own_name_is_found() -> None:
    found = catalogue.facts("models/gemini-2.5-flash", preset="gemini")
    assert found.is_window_known
    assert found.input_usd_mtok is not None


def test_the_ledger_finds_googles_own_names_too() -> None:
    _, cost = ledger.price_of("models/gemini-2.5-flash", Usage(input_tokens=1_000_000))
    assert cost is not None


def test_a_price_in_steps_shows_its_first() -> None:
    assert catalogue.facts("gemini-2.5-pro", preset="gemini").input_usd_mtok == Decimal("1.25")
