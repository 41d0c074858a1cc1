"""Which model is proposed, and what the ticket of a test is worth."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from agents.core.events import ProviderEvent
from agents.core.protocols import ModelCall
from agents.models import ProviderAccount, Team
from agents.services import catalogue, connecting
from agents.services.connecting import Draft
from tests.fakes.scripted import ScriptedProvider


def draft(preset: str, *, base_url: str = "", key: str = "sk-a") -> Draft:
    account = ProviderAccount(team=Team(pk=1), kind="openai", preset=preset, base_url=base_url)
    return Draft(account, key)


@pytest.mark.parametrize(
    ("preset", "names", "proposed"),
    [
        (
            "anthropic",
            ["claude-opus-5", "claude-sonnet-4-20250514", "claude-sonnet-5-5"],
            "claude-sonnet-5-5",
        ),
        ("openai", ["gpt-4o", "gpt-6-sol", "gpt-5.1", "gpt-6-sol-preview", "o9"], "gpt-6-sol"),
        (
            "gemini",
            ["models/gemini-2.5-flash", "models/gemini-3-flash-preview", "models/gemini-2.5-pro"],
            "models/gemini-2.5-flash",
        ),
        (
            "groq",
            ["whisper", "llama-3.3-70b-versatile", "openai/gpt-oss-120b"],
            "openai/gpt-oss-120b",
        ),
        ("openai", ["house-model"], "house-model"),
        ("compatible", ["b", "a"], "b"),
    ],
)
def test_a_sensible_model_is_proposed(preset: str, names: list[str], proposed: str) -> None:
    found = connecting.preferred(draft(preset), [catalogue.facts(name) for name in names])
    assert found is not None
    assert found.name == proposed


def test_nothing_is_proposed_where_there_is_nothing() -> None:
    assert connecting.preferred(draft("openai"), []) is None


def test_a_ticket_is_for_one_account_one_key_and_one_model() -> None:
    tested = draft("compatible", base_url="https://house.example/v1")
    facts = catalogue.facts("gpt-4o")
    ticket = connecting.ticket_of(tested, facts)
    assert "sk-a" not in ticket
    assert connecting.redeem(ticket, tested, "gpt-4o") == facts
    assert connecting.redeem(ticket, tested, "gpt-6-sol") is None
    for other in (
        draft("compatible", base_url="https://elsewhere.example/v1"),
        draft("compatible", base_url="https://house.example/v1", key="sk-b"),
    ):
        assert connecting.redeem(ticket, other, "gpt-4o") is None
    for forged in ("", "x", ticket[:-2] + "xx"):
        assert connecting.redeem(forged, tested, "gpt-4o") is None


def test_a_ticket_is_good_for_an_hour() -> None:
    tested = draft("openai")
    ticket = connecting.ticket_of(tested, catalogue.facts("gpt-4o"))
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        assert connecting.redeem(ticket, tested, "gpt-4o") is None


async def test_an_answer_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = ScriptedProvider("OK")
    ends: list[str] = []

    class Watched(ScriptedProvider):
        async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
            async for event in provider.stream(call):
                yield event
            ends.append("read")

        async def aclose(self) -> None:
            ends.append("closed")

    monkeypatch.setattr(connecting, "open_provider", lambda *_: Watched())
    await connecting.test(draft("compatible", base_url="https://house.example/v1"), "m")
    assert ends == ["read", "closed"]


def test_a_draft_does_not_show_its_key() -> None:
    assert "sk-a" not in repr(draft("openai"))
