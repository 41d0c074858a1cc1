"""Running the points, and adding up what they showed."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.table import Table

from qanot_site.bench import report
from qanot_site.bench.deployment import OwnServers
from qanot_site.bench.faults import deliveries, outages
from qanot_site.bench.faults.checks import Verdict
from qanot_site.bench.faults.eventlog import Event
from qanot_site.bench.faults.points import MOST_MISSES, POINTS, Missed, Point, Skipped
from qanot_site.bench.faults.scene import Lengths, Scene
from qanot_site.bench.tabs import new_client
from qanot_site.home import Home

ALL_POINTS: Final = (*POINTS, *deliveries.POINTS, *outages.POINTS)
# What is shown of the log where a run went wrong; people's text is in none of them.
STORY_VALUES: Final = ("session", "turn", "attempt", "orphaned", "step", "state", "error", "code")


@dataclass(slots=True)
class Tally:
    """All runs of one point."""

    runs: int = 0
    misses: int = 0
    late_accepts: int = 0
    verdict: Verdict = field(default_factory=Verdict)
    recoveries_s: list[float] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add another point's runs."""
        self.runs += other.runs
        self.misses += other.misses
        self.late_accepts += other.late_accepts
        self.verdict.add(other.verdict)
        self.recoveries_s += other.recoveries_s

    @property
    def figures(self) -> report.Figures:
        """Return the JSON of a point."""
        return {
            "runs": self.runs,
            "lost": self.verdict.lost,
            "doubled": self.verdict.doubled,
            "wal_missing": self.verdict.wal_missing,
            "recovery_s": report.spread_or_none(self.recoveries_s, digits=2),
        }


def chosen(names: str) -> list[Point]:
    """Return the points of these names, all of them where none is named.

    Raises:
        ValueError: There is no point of such a name.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {point.name: point for point in ALL_POINTS}
    if unknown := [name for name in wanted if name not in known]:
        raise ValueError(f"there is no point {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in wanted] or list(ALL_POINTS)


def measure(
    home: Home,
    servers: OwnServers,
    provider_url: str,
    telegram_url: str,
    *,
    runs: int,
    points: Sequence[Point],
    lengths: Lengths,
) -> tuple[report.Figures, Table]:
    """Run each point so often; return the JSON's figures and a table."""

    async def measured() -> dict[str, Tally]:
        async with new_client() as client:
            scene = Scene(home, servers, provider_url, telegram_url, lengths, client)
            return await _run_all(scene, runs=runs, points=points)

    tallies = asyncio.run(measured())
    totals = Tally()
    for tally in tallies.values():
        totals.add(tally)
    figures: report.Figures = {
        "points": {name: tally.figures for name, tally in tallies.items()},
        "totals": totals.figures
        | {
            "out_of_order": totals.verdict.out_of_order,
            "repeated_effects": totals.verdict.repeated_effects,
            "resent": totals.verdict.resent,
            "late_accepts": totals.late_accepts,
            "misses": totals.misses,
        },
    }
    for remark in totals.verdict.remarks:
        report.say(f"  {remark}")
    return figures, _table({**tallies, "all": totals})


async def _run_all(scene: Scene, *, runs: int, points: Sequence[Point]) -> dict[str, Tally]:
    scene.log.open()
    tallies = {point.name: Tally() for point in points}
    try:
        with report.bar("Faults", runs * len(points)) as count:
            # Points on the same number of workers follow each other: starting takes seconds.
            for point in sorted(points, key=lambda point: point.workers):
                for _ in range(runs):
                    await _run_once(scene, point, tallies[point.name])
                    count(_told(point, tallies[point.name]))
    finally:
        await scene.stop()
        scene.log.close()
    return tallies


async def _run_once(scene: Scene, point: Point, tally: Tally) -> None:
    for _ in range(MOST_MISSES):
        await scene.use(point.workers)
        begun = len(scene.log.events)
        try:
            outcome = await point.run(scene)
        except Skipped as reason:
            report.say(f"  {point.name}: not run, {reason}")
            return
        except Missed as miss:
            tally.misses += 1
            report.say(f"  {point.name}: missed, {miss}")
            continue
        if outcome.verdict.remarks:
            _tell_story(scene.log.events[begun:])
        tally.runs += 1
        tally.verdict.add(outcome.verdict)
        tally.late_accepts += outcome.late_accepts
        tally.recoveries_s.append(outcome.recovery_s)
        return


def _tell_story(events: Sequence[Event]) -> None:
    """Show what the product wrote in a run that went wrong."""
    for event in events:
        values = {
            name: event.values[name] for name in STORY_VALUES if event.values.get(name) is not None
        }
        report.say(f"    {event.values.get('timestamp')} {event.process} {event.name} {values}")


def _told(point: Point, tally: Tally) -> str:
    verdict = tally.verdict
    return (
        f"{time.strftime('%H:%M:%S')} {point.name}: lost {verdict.lost}, "
        f"doubled {verdict.doubled}, WAL missing {verdict.wal_missing}, "
        f"recovery {tally.recoveries_s[-1] if tally.recoveries_s else float('nan'):.1f} s"
    )


def _table(tallies: dict[str, Tally]) -> Table:
    heads = ["point", "runs", "misses", "lost", "doubled", "no WAL", "order", "effects twice"]
    rows = []
    for name, tally in tallies.items():
        verdict = tally.verdict
        spread = report.spread_or_none(tally.recoveries_s, digits=2)
        rows.append(
            (
                *(name, tally.runs, tally.misses, verdict.lost, verdict.doubled),
                *(verdict.wal_missing, verdict.out_of_order, verdict.repeated_effects),
                *(spread["p50"], spread["p95"]),
            )
        )
    return report.table("Faults", [*heads, "recovery p50, s", "p95"], rows)
