"""`bench streams`: many answers at once, each of many chunks, through two workers."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rich.table import Table

from qanot_site.bench import report, seeding
from qanot_site.bench.deployment import Platform
from qanot_site.bench.tabs import NS_PER_MS, Exchange, Tab, new_client, open_all

STREAMS: Final = 150
EARLIER: Final = 20
CHUNKS: Final = 100
INTERVAL_MS: Final = 50
# All post within this time, so that all run together for the rest of their five seconds.
SPREAD_S: Final = 2.0
WARM_UP: Final = 10


@dataclass(frozen=True, slots=True)
class Streams:
    """What came of all streams.

    Args:
        at_once: The most that ran at one moment, by the provider's own clock.
        added_ms: For each chunk, its coming minus its sending.
    """

    at_once: int
    added_ms: list[float]
    lost: int
    out_of_order: int


def measure(platform: Platform, provider_url: str) -> tuple[report.Figures, Table]:
    """Run all streams; return the figures and a table."""
    agent = seeding.agent_with(provider_url)
    report.say(f"Seeding {STREAMS} conversations of {EARLIER} messages …")
    talks = seeding.talks(agent, STREAMS, prefix="guest", earlier=EARLIER)
    exchanges, busy = asyncio.run(_run(platform, talks))
    found = _read(exchanges)
    figures = {
        "count": found.at_once,
        "p95_added_ms": round(report.percentile(found.added_ms, 0.95), 1),
        "lost": found.lost,
        "out_of_order": found.out_of_order,
    }
    rows = [
        ("streams at once", found.at_once),
        ("added to a chunk, p50, ms", f"{report.percentile(found.added_ms, 0.5):.1f}"),
        ("added to a chunk, p95, ms", f"{figures['p95_added_ms']:.1f}"),
        ("added to a chunk, p99, ms", f"{report.percentile(found.added_ms, 0.99):.1f}"),
        ("chunks lost", found.lost),
        ("chunks out of order", found.out_of_order),
        *busy,
    ]
    shown = report.table("Streams", ["measure", "figure"], rows)
    return {"streams": figures}, shown


async def _run(
    platform: Platform, talks: Sequence[seeding.Talk]
) -> tuple[list[Exchange], list[tuple[str, str]]]:
    """Return all exchanges, and how busy each process was meanwhile."""
    async with new_client() as client:
        tabs = await open_all(client, platform.address, talks)
        # Both workers have loaded the SDK and opened their connections, as after any minute.
        await asyncio.gather(*(tab.ask("Hello. chunks=2 interval_ms=10") for tab in tabs[:WARM_UP]))
        before = platform.cpu_s()
        exchanges = await _all(tabs)
        busy = [
            (f"{name}, processor s", f"{used - before.get(name, 0.0):.1f}")
            for name, used in platform.cpu_s().items()
        ]
        for tab in tabs:
            await tab.close()
    return exchanges, busy


async def _all(tabs: Sequence[Tab]) -> list[Exchange]:
    with report.bar("Streams", len(tabs)) as count:

        async def ask(number: int, tab: Tab) -> Exchange:
            await asyncio.sleep(SPREAD_S * number / len(tabs))
            shape = f"chunks={CHUNKS} interval_ms={INTERVAL_MS}"
            exchange = await tab.ask(f"Tell me everything. {shape}")
            count()
            return exchange

        return await asyncio.gather(*(ask(*item) for item in enumerate(tabs)))


def _read(exchanges: Sequence[Exchange]) -> Streams:
    streams = [exchange.chunks for exchange in exchanges]
    added = [(came - sent) / NS_PER_MS for chunks in streams for sent, came in chunks]
    return Streams(
        at_once=_most_at_once(streams),
        added_ms=added,
        lost=sum(CHUNKS - len({sent for sent, _ in chunks}) for chunks in streams),
        out_of_order=sum(_out_of_order([sent for sent, _ in chunks]) for chunks in streams),
    )


def _most_at_once(streams: Sequence[Sequence[tuple[int, int]]]) -> int:
    """Count streams between their first and last chunk's sending; the highest count."""
    changes = [(chunks[0][0], 1) for chunks in streams if chunks]
    changes += [(chunks[-1][0], -1) for chunks in streams if chunks]
    running = most = 0
    for _, change in sorted(changes):
        running += change
        most = max(most, running)
    return most


def _out_of_order(stamps: Sequence[int]) -> int:
    return sum(1 for one, following in pairwise(stamps) if following <= one)
