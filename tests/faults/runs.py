"""Fault runs of the tests: `bench faults` itself, its lengths a tenth, each point once."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from qanot_site.env import PROJECT
from tests.qanot_site.running import clean_environment

# The JSON of `bench faults`, read by key.
Totals = dict[str, Any]

RUN_S = 300


def run(points: Sequence[str]) -> Totals:
    """Run points on a platform of their own; return what the command prints."""
    done = subprocess.run(
        [
            *(sys.executable, PROJECT / "manage.py", "bench", "faults", "--json", "-"),
            *("--tenth", "--runs", "1", "--points", ",".join(points)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_S,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr[-4000:]
    figures: Totals = json.loads(done.stdout)
    figures["said"] = done.stderr
    return figures


def check(figures: Totals, name: str) -> None:
    """Hold one point's figures against what is promised."""
    point = figures["points"][name]
    assert point["runs"] == 1, figures["said"]
    wrong = {key: point[key] for key in ("lost", "doubled", "wal_missing") if point[key]}
    assert not wrong, figures["said"]
