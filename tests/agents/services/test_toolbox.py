"""Granted tools: what the model may call, and what it hears when a call goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from pydantic import BaseModel, Field

from agents.core.messages import JsonObject, ToolCall
from agents.core.repair import INTERRUPTED
from agents.core.tooling import Tool, ToolContext
from agents.core.viewer import Viewer
from agents.services.toolbox import GrantedTools, Where
from agents.tools import registry

WHERE = Where(
    viewer=Viewer(team_id=1, agent_id=2, person_id=3, is_private=True),
    agent="agent:2",
    session="session:4",
    turn="turn:5",
    time_zone="Asia/Tashkent",
)


class Dice(BaseModel):
    sides: int = Field(ge=2, le=100)


Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Register tools for one test."""
    monkeypatch.setattr(registry, "_tools", {})

    def register(
        name: str, run: Callable[[Dice, ToolContext], Awaitable[str]], **options: object
    ) -> None:
        # Options are Tool's own fields, checked by its constructor.
        registry.register(
            Tool(name=name, description="Rolls.", arguments=Dice, run=run, **options)  # type: ignore[arg-type]
        )

    return register


async def roll(arguments: Dice, context: ToolContext) -> str:
    return f"{arguments.sides} {context.turn} {context.call_id} {context.time_zone}"


async def wait(arguments: Dice, context: ToolContext) -> str:
    await asyncio.sleep(60)
    return "late"


async def stumble(arguments: Dice, context: ToolContext) -> str:
    raise RuntimeError("sk-secret in the text")


def tools(*names: str, timeout_s: float = 30) -> GrantedTools:
    return GrantedTools(WHERE, timeout_s, names)


def call(name: str, arguments: JsonObject | None = None, malformed: str | None = None) -> ToolCall:
    return ToolCall("c1", name, {"sides": 6} if arguments is None else arguments, malformed)


async def test_tool_gets_checked_arguments_and_where_it_runs(offer: Offer) -> None:
    offer("roll", roll)
    outcome = await tools("roll").run(call("roll"))
    assert (outcome.text, outcome.is_error) == ("6 turn:5 c1 Asia/Tashkent", False)


async def test_tool_without_a_grant_is_not_there(offer: Offer) -> None:
    offer("roll", roll)
    offer("flip", roll)
    granted = tools("flip", "gone")
    assert [spec.name for spec in granted.specs] == ["flip"]
    outcome = await granted.run(call("roll"))
    assert outcome.is_error
    assert "flip" in outcome.text


@pytest.mark.parametrize("arguments", [{}, {"sides": 1}, {"sides": "many"}])
async def test_arguments_that_do_not_fit_are_named(offer: Offer, arguments: JsonObject) -> None:
    offer("roll", roll)
    outcome = await tools("roll").run(call("roll", arguments))
    assert outcome.is_error
    assert "sides" in outcome.text


async def test_arguments_that_are_no_object_are_asked_for_again(offer: Offer) -> None:
    offer("roll", roll)
    outcome = await tools("roll").run(call("roll", {}, malformed='{"sides": '))
    assert outcome.is_error
    assert "JSON object" in outcome.text


async def test_tool_that_takes_too_long_is_ended_or_of_unknown_outcome(offer: Offer) -> None:
    offer("safe", wait, safe_to_repeat=True)
    offer("unsafe", wait)
    granted = tools("safe", "unsafe", timeout_s=0.01)
    safe, unsafe = await granted.run(call("safe")), await granted.run(call("unsafe"))
    assert safe.is_error
    assert INTERRUPTED not in safe.text
    assert INTERRUPTED in unsafe.text


async def test_tools_own_limit_wins(offer: Offer) -> None:
    offer("quick", wait, timeout_s=0.01)
    assert (await tools("quick").run(call("quick"))).is_error


async def test_bug_in_a_tool_is_told_without_its_text(offer: Offer) -> None:
    offer("broken", stumble)
    outcome = await tools("broken").run(call("broken"))
    assert outcome.is_error
    assert "RuntimeError" in outcome.text
    assert "sk-secret" not in outcome.text


async def test_tool_that_needs_approval_is_refused_while_nobody_can_give_it(offer: Offer) -> None:
    offer("pay", roll, needs_approval=True)
    outcome = await tools("pay").run(call("pay"))
    assert outcome.is_error
    assert "approval" in outcome.text
