"""Processes die between a message's arrival and its answer: nothing is lost or said twice."""

import pytest

from tests.faults.runs import Totals, check, run

POINTS = (
    "message_received",
    "row_committed",
    "bell_rung",
    "lease_taken",
    "request_sent",
    "mid_stream",
    "tool_started",
    "tool_finished",
)


@pytest.fixture(scope="module")
def figures() -> Totals:
    """Run every point once."""
    return run(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at(figures: Totals, point: str) -> None:
    check(figures, point)


def test_order_is_kept_and_no_tool_runs_twice(figures: Totals) -> None:
    assert figures["totals"]["out_of_order"] == 0, figures["said"]
    assert figures["totals"]["repeated_effects"] == 0, figures["said"]
