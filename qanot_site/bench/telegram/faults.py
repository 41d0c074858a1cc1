"""`bench telegram-faults`: pollers die and come twice, at random, while people write."""

import asyncio
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from rich.table import Table

from agents.db import in_db
from memory.models import WalEntry
from qanot_site.bench import processes, report, seeding
from qanot_site.bench.deployment import START_S, Platform
from qanot_site.bench.faults.checks import Verdict
from qanot_site.bench.faults.eventlog import Event, EventLog
from qanot_site.bench.faults.measure import Tally
from qanot_site.bench.tabs import new_client
from qanot_site.bench.telegram.people import BotApi, Writer, make_bot, token_of
from qanot_site.embedded.processes import spawn, stop
from qanot_site.env import PROJECT
from qanot_site.home import Home
from sessions.models import ChannelAccount, InboundMessage, Outgoing, Turn

WORKERS: Final = 2
BOTS: Final = 3
PEOPLE_A_BOT: Final = 4
SHAPE: Final = "chunks=5 interval_ms=20"
# Between two messages of one person, at most; and between two faults.
LONGEST_SILENCE_S: Final = 1.5
FAULTS_APART_S: Final = (2.0, 6.0)
MOST_POLLERS: Final = 3
PATIENCE_S: Final = 120.0
# A message too much comes within this time.
LATE_S: Final = 3.0


@dataclass(slots=True)
class Letter:
    """One message of somebody."""

    account: int
    user: int
    text: str
    is_answered: bool = False


@dataclass(slots=True)
class Chaos:
    """Kills pollers and starts further ones, and remembers when.

    Args:
        killed_at: CLOCK_MONOTONIC seconds.
        taken_at: When updates were taken in.
    """

    platform: Platform
    log: EventLog
    own: list[subprocess.Popen[bytes]] = field(default_factory=list)
    killed_at: list[float] = field(default_factory=list)
    taken_at: list[float] = field(default_factory=list)
    doubled: int = 0

    def see(self, event: Event) -> None:
        """Note when an update was taken in."""
        if event.name == "update.committed":
            self.taken_at.append(time.monotonic())

    async def run(self, until: float) -> None:
        """Do something to the pollers again and again."""
        chance = random.Random()  # noqa: S311 — moments, not secrets
        while time.monotonic() < until:
            await asyncio.sleep(chance.uniform(*FAULTS_APART_S))
            living = self._living()
            what = chance.choice(("double", "kill", "kill", "kill all"))
            if not living or (what == "double" and len(living) < MOST_POLLERS):
                self._start_another()
            elif what == "kill all":
                await self._kill(living)
            else:
                await self._kill([chance.choice(living)])
        self._start_another()

    @property
    def recoveries_s(self) -> list[float]:
        """Return for each kill the seconds until the next update was taken in."""
        following = ((at, [seen for seen in self.taken_at if seen > at]) for at in self.killed_at)
        return [min(later) - at for at, later in following if later]

    def end(self) -> None:
        """End the pollers that were started here."""
        for process in self.own:
            stop(process, signal.SIGTERM, timeout_s=10)

    def _living(self) -> list[int]:
        own = [process.pid for process in self.own if process.poll() is None]
        return [*self.platform.pids("poller"), *own]

    def _start_another(self) -> None:
        self.doubled += 1
        self.own.append(
            spawn(
                [sys.executable, PROJECT / "manage.py", "poller"],
                death_signal=signal.SIGTERM,
                environment=os.environ | {"QANOT_LOG_FORMAT": "json"},
                folder=PROJECT,
                output=self.log.writer,
            )
        )

    async def _kill(self, pids: Sequence[int]) -> None:
        for pid in pids:
            died_at = await processes.kill(pid)
        self.killed_at.append(died_at)


def measure(
    home: Home, provider_url: str, telegram_url: str, *, seconds: float
) -> tuple[report.Figures, Table]:
    """Run it; return the figures, in the shape of ``bench faults``, and a table."""
    tally, chaos = asyncio.run(_measure(home, provider_url, telegram_url, seconds))
    for remark in tally.verdict.remarks:
        report.say(f"  {remark}")
    figures: report.Figures = {
        "points": {"poller_killed_and_doubled": tally.figures},
        "totals": tally.figures
        | {
            "out_of_order": tally.verdict.out_of_order,
            "repeated_effects": tally.verdict.repeated_effects,
        },
        "messages": tally.runs,
        "pollers_killed": len(chaos.killed_at),
        "pollers_added": chaos.doubled,
    }
    recovery = report.spread_or_none(tally.recoveries_s, digits=2)
    rows = [
        ("messages", tally.runs),
        ("kills", len(chaos.killed_at)),
        ("pollers added", chaos.doubled),
        ("lost", tally.verdict.lost),
        ("doubled", tally.verdict.doubled),
        ("no WAL", tally.verdict.wal_missing),
        ("recovery p50, s", recovery["p50"]),
        ("recovery p95, s", recovery["p95"]),
    ]
    return figures, report.table("Telegram faults", ["measure", "figure"], rows)


async def _measure(
    home: Home, provider_url: str, telegram_url: str, seconds: float
) -> tuple[Tally, Chaos]:
    log = EventLog()
    log.open()
    platform = Platform(
        home, workers=WORKERS, environment={"QANOT_LOG_FORMAT": "json"}, output=log.writer
    )
    chaos = Chaos(platform, log)
    try:
        platform.start()
        await log.wait_for_line("Ready after", START_S)
        await log.wait_for_line('"worker.started"', START_S, times=WORKERS)
        with log.watched(chaos.see):
            async with new_client() as client:
                letters = await _people(client, provider_url, telegram_url, chaos, seconds)
                tally = await _judged(BotApi(client, telegram_url), letters)
    finally:
        chaos.end()
        # In a thread: its processes' last words must be read, or a full pipe holds them up.
        await asyncio.to_thread(platform.stop)
        log.close()
    tally.recoveries_s = chaos.recoveries_s
    return tally, chaos


async def _people(
    client: aiohttp.ClientSession,
    provider_url: str,
    telegram_url: str,
    chaos: Chaos,
    seconds: float,
) -> list[Letter]:
    """Let people write while pollers die; return what they wrote."""
    api = BotApi(client, telegram_url)
    agent = await in_db(seeding.agent_with, provider_url)
    bots = []
    for number in range(BOTS):
        await api.tell("bot", {"token": token_of(number)})
        polled = ChannelAccount.Receives.POLLING
        bots.append(await in_db(make_bot, agent, number, telegram_url, receives=polled))
    numbers = itertools.count(1)
    until = time.monotonic() + seconds
    writing = [
        _write(Writer(api, number, 10_000 + 100 * number + person), bot.pk, numbers, until)
        for number, bot in enumerate(bots)
        for person in range(PEOPLE_A_BOT)
    ]
    with report.bar(f"{len(writing)} people write for {seconds:g} s", 1):
        *written, _ = await asyncio.gather(*writing, chaos.run(until))
    await asyncio.sleep(LATE_S)
    return [letter for letters in written if letters for letter in letters]


async def _write(
    writer: Writer, account: int, numbers: Iterator[int], until: float
) -> list[Letter]:
    """Write, wait for the answer, be silent for a moment, and write again."""
    chance = random.Random(writer.user)  # noqa: S311 — moments, not secrets
    letters = []
    while time.monotonic() < until:
        letter = Letter(account, writer.user, f"Remember that box {next(numbers)} is blue. {SHAPE}")
        letters.append(letter)
        await writer.say(letter.text)
        letter.is_answered = await writer.wait(PATIENCE_S)
        await asyncio.sleep(chance.uniform(0, LONGEST_SILENCE_S))
    return letters


async def _judged(api: BotApi, letters: Sequence[Letter]) -> Tally:
    """Hold the rows and what the chats were sent against what was written."""
    sent = Counter[int]()
    for user in {letter.user for letter in letters}:
        sent[user] = await api.tell("wait", {"chat": user, "count": 0, "seconds": 0})
    tally = Tally(runs=len(letters))
    tally.verdict = await in_db(_verdict, letters)
    written = Counter(letter.user for letter in letters)
    for user, count in written.items():
        if sent[user] > count:
            tally.verdict.doubled += sent[user] - count
            tally.verdict.remarks.append(f"chat {user}: {sent[user]} answers to {count} messages")
    return tally


def _verdict(letters: Sequence[Letter]) -> Verdict:
    verdict = Verdict()
    for letter in letters:
        verdict.add(_verdict_on(letter))
    return verdict


def _verdict_on(letter: Letter) -> Verdict:
    found = InboundMessage.objects.select_related("turn").filter(
        account_id=letter.account, content__text=letter.text
    )
    messages = list(found)
    if not messages:
        return Verdict(lost=1, remarks=[f"{letter.text!r} is not stored"])
    turn = messages[0].turn
    is_sent = Outgoing.objects.filter(turn=turn, state=Outgoing.State.SENT).exists()
    is_lost = turn.state != Turn.State.ANSWERED or not is_sent or not letter.is_answered
    has_wal = WalEntry.objects.filter(source=messages[0].ref).exists()
    remarks = [
        f"turn {turn.pk}: {what}"
        for what, is_so in (
            (f"{turn.state}, sent: {is_sent}, shown: {letter.is_answered}", is_lost),
            (f"stored {len(messages)} times", len(messages) > 1),
            ("no WAL row", not has_wal),
        )
        if is_so
    ]
    return Verdict(
        lost=int(is_lost),
        doubled=len(messages) - 1,
        wal_missing=int(not has_wal),
        remarks=remarks,
    )
