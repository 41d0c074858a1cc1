"""Death after the answer, servers gone, a worker asleep, crowds: nothing is lost or said twice.

`bench faults` has two more points, a full disk and a second beat, which take longer.
"""

import pytest

from tests.faults.runs import Totals, check, run

POINTS = (
    "answer_committed",
    "last_event_published",
    "redis_flushed",
    "redis_away",
    "worker_paused",
    "delivered_100_times",
    "five_at_once",
    "postgres_restarted",
    "poison",
    "delivery_acknowledged",
)


@pytest.fixture(scope="module")
def figures() -> Totals:
    """Run every point once."""
    return run(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_fault(figures: Totals, point: str) -> None:
    check(figures, point)


def test_order_is_kept(figures: Totals) -> None:
    assert figures["totals"]["out_of_order"] == 0, figures["said"]
