"""The clock, and the registry it is offered in; plain."""

from datetime import UTC, datetime

import pytest
import time_machine
from pydantic import ValidationError

from agents.core.tooling import Tool, ToolContext
from agents.core.viewer import Viewer
from agents.tools import registry

CONTEXT = ToolContext(
    viewer=Viewer(1, 1),
    agent="agent:1",
    session="session:1",
    turn="turn:1",
    call_id="call_1",
    time_zone="Asia/Tashkent",
    timeout_s=30,
)


def clock() -> Tool:
    tool = registry.get("current_time")
    assert tool is not None
    return tool


async def tell(**arguments: str) -> str:
    with time_machine.travel(datetime(2025, 1, 15, 20, 30, tzinfo=UTC), tick=False):
        return await clock().run(clock().arguments.model_validate(arguments), CONTEXT)


async def test_time_is_the_persons_unless_another_zone_is_named() -> None:
    assert await tell() == "2025-01-16T01:30:00+05:00 (Thursday, Asia/Tashkent)"
    assert await tell(time_zone="UTC") == "2025-01-15T20:30:00+00:00 (Wednesday, UTC)"


@pytest.mark.parametrize("name", ["Tashkent", "../etc/passwd", "", "Asia"])
def test_unknown_zone_does_not_fit(name: str) -> None:
    with pytest.raises(ValidationError, match="no IANA time zone"):
        clock().arguments.model_validate({"time_zone": name})


def test_name_taken_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="current_time"):
        registry.register(clock())
    assert "current_time" in registry.names()


def test_unknown_tool_is_none() -> None:
    assert registry.get("no_such_tool") is None
