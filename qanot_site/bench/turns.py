"""`bench turns`: the platform's own time in a turn, its rate, its growth and its memory."""

import asyncio
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Final
from uuid import UUID

import aiohttp
from rich.table import Table

from agents.db import in_db
from agents.models import Agent
from qanot_site.bench import processes, report, seeding
from qanot_site.bench.deployment import Platform
from qanot_site.bench.tabs import NS_PER_MS, Exchange, Tab, Unanswered, new_client, open_all
from sessions.models import Turn

SESSIONS: Final = 100
EARLIER: Final = 20
TURNS_BEFORE_PSS: Final = 20

# The calm phase: one person after another, as in a small team at work.
CALM_TURNS: Final = 200
CALM_RATE: Final = 5.0
CALM_SHAPE: Final = "chunks=20 interval_ms=10"

# A conversation's 10th message, its 1,000th, and four more of each.
GROWN: Final = (9, 999)
GROWN_TALKS: Final = 5
GROWN_TURNS: Final = 5

# What a model needs for a short answer; the rest of a turn is ours.
QUICK_SHAPE: Final = "chunks=5 interval_ms=20"
RATE_S: Final = 30.0
PROBE_S: Final = 5.0
PROBED_RATES: Final = (10.0, 16.0, 20.0, 22.0, 25.0, 28.0, 31.0, 34.0, 38.0, 42.0, 47.0, 52.0)
SLOWEST_P95_MS: Final = 500.0
# How much lower the next try is when thirty seconds were more than a probe could tell.
STEP_DOWN: Final = 0.85
MOST_TRIES: Final = 4
LEAST_CPU_MS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Timing:
    """Where one turn's time went, milliseconds.

    Args:
        before: Accepted until the request was at the provider.
        after: The provider sent its last chunk until the answer was committed.
        first_token: Posted until the first text was in the browser's socket.
        whole: Posted until the browser was told that the turn is over.
    """

    before: float
    after: float
    first_token: float
    whole: float

    @property
    def platform(self) -> float:
        """Return the platform's own time."""
        return self.before + self.after


@dataclass(frozen=True, slots=True)
class Rate:
    """One run at an offered rate.

    Args:
        cpu_ms: Processor time a turn, by process.
    """

    offered: float
    finished_per_s: float
    p95_ms: float
    cpu_ms: Mapping[str, float]

    @property
    def is_kept(self) -> bool:
        """Return whether the platform kept up: the turns ended as they were asked for."""
        return self.p95_ms <= SLOWEST_P95_MS and self.finished_per_s >= 0.97 * self.offered


def measure(platform: Platform, provider_url: str) -> tuple[report.Figures, Table]:
    """Measure everything but the streams; return the figures and a table."""
    agent = seeding.agent_with(provider_url)
    report.say(f"Seeding {SESSIONS} conversations of {EARLIER} messages …")
    talks = seeding.talks(agent, SESSIONS, prefix="guest", earlier=EARLIER)
    return asyncio.run(_measure(platform, agent, talks))


async def _measure(
    platform: Platform, agent: Agent, talks: Sequence[seeding.Talk]
) -> tuple[report.Figures, Table]:
    async with new_client() as client:
        tabs = await open_all(client, platform.address, talks)
        for number in range(TURNS_BEFORE_PSS):
            await tabs[number % len(tabs)].ask(f"What is new? {CALM_SHAPE}")
        memory = _memory(platform)
        calm = await _timings(await _calm(tabs))
        grown = await _growth(client, platform, agent)
        rate = await _highest_rate(platform, tabs)
        for tab in tabs:
            await tab.close()
    measures: report.Figures = {
        "turn_overhead_ms": report.spread([timing.platform for timing in calm]),
        "first_token_added_ms": report.spread([timing.first_token for timing in calm]),
        "growth_ratio": round(median(grown[1]) / median(grown[0]), 2),
        "turns_per_s": round(rate.finished_per_s, 1),
        "pss_mb": round(sum(size for _, size in memory) / 1024),
    }
    report.show(_memory_table(memory))
    return measures, _table(calm, grown, rate, memory)


def _memory(platform: Platform) -> list[tuple[str, int]]:
    """Return the name and PSS, kB, of each process of the deployment."""
    return [(item.name, processes.pss_kb(item.pid)) for item in platform.processes()]


async def _calm(tabs: Sequence[Tab]) -> list[Exchange]:
    """Post at a steady rate, always where no turn runs."""
    with report.bar("Turns in calm", CALM_TURNS) as count:

        async def ask(number: int) -> Exchange:
            await asyncio.sleep(number / CALM_RATE)
            exchange = await tabs[number % len(tabs)].ask(f"Message {number}. {CALM_SHAPE}")
            count()
            return exchange

        return await asyncio.gather(*(ask(number) for number in range(CALM_TURNS)))


async def _growth(
    client: aiohttp.ClientSession, platform: Platform, agent: Agent
) -> list[list[float]]:
    """Return platform times of turns early and late in a conversation, taken in alternation."""
    report.say(f"Seeding {GROWN_TALKS} conversations of {GROWN[1]} messages …")
    tabs = []
    for earlier in GROWN:
        talks = await in_db(
            seeding.talks, agent, GROWN_TALKS, prefix=f"grown{earlier}-", earlier=earlier
        )
        tabs.append(await open_all(client, platform.address, talks))
    taken: list[list[Exchange]] = [[] for _ in GROWN]
    with report.bar("Turns in long and short conversations", GROWN_TALKS * GROWN_TURNS) as count:
        for number in range(GROWN_TALKS * GROWN_TURNS):
            for exchanges, group in zip(taken, tabs, strict=True):
                tab = group[number % GROWN_TALKS]
                exchanges.append(await tab.ask(f"And now? {number}. {QUICK_SHAPE}"))
            count()
    for group in tabs:
        for tab in group:
            await tab.close()
    return [[timing.platform for timing in await _timings(exchanges)] for exchanges in taken]


async def _highest_rate(platform: Platform, tabs: Sequence[Tab]) -> Rate:
    """Find the highest rate that holds for thirty seconds: short probes up, long runs down."""
    kept = PROBED_RATES[0]
    with report.bar("Probing rates", len(PROBED_RATES)) as count:
        for offered in PROBED_RATES:
            probe = await _run_rate(platform, tabs, offered, PROBE_S)
            count(_told(probe))
            if not probe.is_kept:
                break
            kept = offered
    with report.bar(f"Rates held for {RATE_S:g} s", MOST_TRIES) as count:
        for left in reversed(range(MOST_TRIES)):
            held = await _run_rate(platform, tabs, kept, RATE_S)
            count(_told(held))
            if held.is_kept or not left:
                break
            kept *= STEP_DOWN
    # Where none held there is no sustained rate.
    return held if held.is_kept else replace(held, finished_per_s=0.0)


def _told(rate: Rate) -> str:
    return (
        f"{rate.offered:.1f}/s offered: {rate.finished_per_s:.1f}/s ended, p95 {rate.p95_ms:.0f} ms"
    )


async def _run_rate(
    platform: Platform, tabs: Sequence[Tab], offered: float, seconds: float
) -> Rate:
    """Post at an offered rate, at the moments of a Poisson process, whatever is still running.

    A person whose turn still runs does not write; the next free one does. Where all are waiting
    the platform is far behind, and what is posted late counts as late.
    """
    randomness = random.Random(7)  # noqa: S311 - moments, not secrets
    moments = []
    at = 0.0
    while (at := at + randomness.expovariate(offered)) < seconds:
        moments.append(at)
    free: asyncio.Queue[Tab] = asyncio.Queue()
    for tab in tabs:
        free.put_nowait(tab)
    used = platform.cpu_s()
    begun = time.monotonic()

    async def ask(moment: float) -> tuple[float, float]:
        await asyncio.sleep(max(0.0, begun + moment - time.monotonic()))
        tab = await free.get()
        try:
            exchange = await tab.ask(f"Quickly, please. {QUICK_SHAPE}")
        finally:
            free.put_nowait(tab)
        ended = exchange.ended_ns / 1e9
        return ended - begun, (ended - begun - moment) * 1000

    done = await asyncio.gather(*(ask(moment) for moment in moments))
    in_time = sum(1 for ended, _ in done if ended <= seconds + SLOWEST_P95_MS / 1000)
    return Rate(
        offered=len(moments) / seconds,
        finished_per_s=in_time / seconds,
        p95_ms=report.percentile([took for _, took in done], 0.95),
        cpu_ms={
            name: 1000 * (seconds_used - used.get(name, 0.0)) / len(done)
            for name, seconds_used in platform.cpu_s().items()
        },
    )


async def _timings(exchanges: Sequence[Exchange]) -> list[Timing]:
    """Put together what the browser, the provider and the rows know of each turn."""
    rows = await in_db(_rows, [exchange.turn for exchange in exchanges])
    # The rows have the wall clock, the rest the monotonic one; both tick alike over a minute.
    offset_ns = time.time_ns() - time.monotonic_ns()
    return [_timing(exchange, rows[exchange.turn], offset_ns) for exchange in exchanges]


def _rows(turns: Iterable[UUID]) -> dict[UUID, Turn]:
    return {turn.public_id: turn for turn in Turn.objects.filter(public_id__in=list(turns))}


def _timing(exchange: Exchange, turn: Turn, offset_ns: int) -> Timing:
    chunks = exchange.chunks
    if turn.state != Turn.State.ANSWERED or turn.committed_at is None or not chunks:
        raise Unanswered(f"{exchange.text!r} ended as {turn.state}: {turn.notice}")
    sent = [stamp + offset_ns for stamp, _ in chunks]
    # From the request's arrival to the first chunk: not the platform's time.
    provider_ns = chunks[0][0] - exchange.received_ns
    return Timing(
        before=(exchange.received_ns + offset_ns - _ns(turn.accepted_at)) / NS_PER_MS,
        after=(_ns(turn.committed_at) - sent[-1]) / NS_PER_MS,
        first_token=(exchange.texts[0][0] - exchange.sent_ns - provider_ns) / NS_PER_MS,
        whole=(exchange.ended_ns - exchange.sent_ns) / NS_PER_MS,
    )


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1_000


# --- tables ------------------------------------------------------------------------------------


def _memory_table(memory: Sequence[tuple[str, int]]) -> Table:
    rows = [(name, f"{size / 1024:.1f}") for name, size in sorted(memory, key=_by_size)]
    total = sum(size for _, size in memory) / 1024
    title = f"Memory after {TURNS_BEFORE_PSS} turns"
    return report.table(title, ["process", "PSS, MB"], [*rows, ("all", f"{total:.1f}")])


def _by_cost(item: tuple[str, float]) -> float:
    return -item[1]


def _by_size(row: tuple[str, int]) -> int:
    return -row[1]


def _table(
    calm: Sequence[Timing],
    grown: Sequence[Sequence[float]],
    rate: Rate,
    memory: Sequence[tuple[str, int]],
) -> Table:
    def spread(what: str, values: Sequence[float]) -> tuple[str, str, str]:
        figures = report.spread(values)
        return what, str(figures["p50"]), str(figures["p95"])

    early, late = (median(values) for values in grown)
    rows = [
        spread("platform time in a turn, ms", [timing.platform for timing in calm]),
        spread("  accepted → request at the provider", [t.before for t in calm]),
        spread("  last chunk sent by the provider → committed", [t.after for t in calm]),
        spread("post → first text in the browser, ms", [t.first_token for t in calm]),
        (f"growth: {late:.1f} ms / {early:.1f} ms", f"{late / early:.2f}", ""),
        (f"turns a second, p95 {rate.p95_ms:.0f} ms", f"{rate.finished_per_s:.1f}", ""),
        *(
            (f"  processor time a turn: {name}, ms", f"{cost:.1f}", "")
            for name, cost in sorted(rate.cpu_ms.items(), key=_by_cost)
            if cost >= LEAST_CPU_MS
        ),
        ("memory, MB", f"{sum(size for _, size in memory) / 1024:.0f}", ""),
    ]
    return report.table("Turns", ["measure", "p50", "p95"], rows)
