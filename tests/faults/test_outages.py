"""PostgreSQL restarts under load, and a message that kills: all are answered, or told.

`bench faults` has two more such points, a full disk and a second beat, which take longer.
"""

import pytest

from tests.faults.runs import Totals, check, run

POINTS = ("postgres_restarted", "poison")


@pytest.fixture(scope="module")
def figures() -> Totals:
    """Run every point once."""
    return run(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_fault(figures: Totals, point: str) -> None:
    check(figures, point)


def test_order_is_kept(figures: Totals) -> None:
    assert figures["totals"]["out_of_order"] == 0, figures["said"]
