"""Faults that last: PostgreSQL restarts, a message that kills, a full disk, a second beat."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from django_celery_beat.models import IntervalSchedule, PeriodicTask
from redis.asyncio import Redis

from agents.db import in_db
from qanot_site.bench.faults import checks
from qanot_site.bench.faults.browser import Letter
from qanot_site.bench.faults.checks import Verdict
from qanot_site.bench.faults.eventlog import Event
from qanot_site.bench.faults.points import (
    ANSWER_S,
    EVENT_S,
    Missed,
    Outcome,
    Point,
    Skipped,
    conclude,
    plain,
    together,
    write,
)
from qanot_site.bench.faults.scene import Scene
from qanot_site.bench.seeding import Talk
from qanot_site.embedded.place import settle
from qanot_site.embedded.processes import spawn, stop
from qanot_site.env import PROJECT
from sessions.turns.leases import ATTEMPTS_IN_QUARANTINE, ORPHANED_BEFORE_QUARANTINE

# --- PostgreSQL restarts -----------------------------------------------------------------------

TURNS_PER_S: Final = 20.0
TALKS: Final = 20
# At full length; a tenth in tests.
LOAD_S: Final = 30.0


async def _postgres_restarted(scene: Scene) -> Outcome:
    """Restart PostgreSQL while twenty messages a second are written."""
    talks = [await scene.talk() for _ in range(TALKS)]
    letters: list[list[Letter]] = [[] for _ in talks]
    count = int(TURNS_PER_S * max(LOAD_S * scene.lengths.scale, 3.0))
    async with scene.browsers(talks) as browsers:
        begun = time.monotonic()
        restarting: asyncio.Task[float] | None = None
        for number in range(count):
            await asyncio.sleep(max(0.0, begun + number / TURNS_PER_S - time.monotonic()))
            letter = Letter(
                f"Remember that box {scene.number()} is blue. chunks=5 interval_ms=20", chunks=5
            )
            await write(browsers[number % TALKS], letter, letters[number % TALKS])
            if number == count // 2:
                restarting = asyncio.create_task(_restart_postgres(scene))
        back_at = await restarting if restarting is not None else time.monotonic()
        outcomes = await asyncio.gather(
            *(
                conclude(scene, browser, written, since=back_at)
                for browser, written in zip(browsers, letters, strict=True)
            )
        )
    return together(outcomes)


async def _restart_postgres(scene: Scene) -> float:
    """Stop it as an operator does, "fast", and start it again; return when it answered."""
    await _stop_postgres(scene)
    await _start_postgres(scene)
    return time.monotonic()


async def _stop_postgres(scene: Scene) -> None:
    await asyncio.to_thread(scene.servers.postgres.stop, timeout_s=ANSWER_S)


async def _start_postgres(scene: Scene) -> None:
    # On this thread: the kernel ends a child with the thread that started it.
    scene.servers.postgres.spawn()
    await asyncio.to_thread(scene.servers.postgres.wait)


# --- a message that kills ----------------------------------------------------------------------

HEALTHY: Final = 20
# The first attempt, the orphaned ones that are not in quarantine yet, and those that are.
KILLS: Final = ORPHANED_BEFORE_QUARANTINE + ATTEMPTS_IN_QUARANTINE


class _Killer:
    """Kills whichever worker asks the model for one conversation's turn."""

    def __init__(self, scene: Scene, talk: Talk) -> None:
        self._scene = scene
        self._talk = talk
        self._turn: object = None
        self.kills = 0
        self.last_at = time.monotonic()

    def see(self, event: Event) -> None:
        """Learn the turn's number from its lease, and kill at its request."""
        if event.name == "lease.taken" and event.values.get("session") == self._talk.session.pk:
            self._turn = event.values["turn"]
        elif event.name == "request.sent" and event.values.get("turn") == self._turn:
            self.kills += 1
            self.last_at = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(event.process, signal.SIGKILL)


async def _poison(scene: Scene) -> Outcome:
    """One message kills its worker each time; twenty others are answered beside it."""
    poisoned, talks = await scene.talk(), [await scene.talk() for _ in range(HEALTHY)]
    poison = plain(scene, wait_ms=300)
    letters = [plain(scene, chunks=40) for _ in talks]
    killer = _Killer(scene, poisoned)
    async with scene.browser(poisoned) as victim, scene.browsers(talks) as browsers:
        with scene.log.watched(killer.see):
            await victim.write(poison)
            for browser, letter in zip(browsers, letters, strict=True):
                await browser.write(letter)
            view = await victim.wait_over(poison, 2 * ANSWER_S)
        over_at = time.monotonic()
        outcomes = await asyncio.gather(
            *(
                conclude(scene, browser, [letter], since=killer.last_at)
                for browser, letter in zip(browsers, letters, strict=True)
            )
        )
    scene.deaths += killer.kills
    outcome = together(outcomes)
    outcome.recovery_s = max(outcome.recovery_s, over_at - killer.last_at)
    state = view.state if view is not None else "not over"
    # Attempts by the row: a starved worker may lose its lease before it asks, or while it writes
    # that they are used up, which the last claim finds. What counts is how often it killed.
    attempts, told = await in_db(_attempts_and_told, poisoned, poison)
    if state != "failed" or attempts <= KILLS or not 0 < killer.kills <= KILLS:
        outcome.verdict.lost += 1
        outcome.verdict.remarks.append(
            f"the poison is {state} after {attempts} attempts and {killer.kills} deaths"
        )
    outcome.verdict.add(told)
    return outcome


def _attempts_and_told(talk: Talk, letter: Letter) -> tuple[int, Verdict]:
    """Return how often a message was tried, and whether its person was told that it failed."""
    (message,) = checks.stored(talk.session, letter)
    turn = message.turn
    if turn.state == "failed" and turn.notice:
        return turn.attempt, Verdict()
    remark = f"the person was not told: {turn.notice}"
    return turn.attempt, Verdict(lost=1, remarks=[remark])


# --- a full disk -------------------------------------------------------------------------------

# Beside what is there: room for a little work, so that a small file fills the rest.
ROOM_BYTES: Final = 160_000_000
FULL_S: Final = 30.0
_NO_SPACE: Final = b"No space left on device"
_BLOCK: Final = b"\0" * (1 << 20)


async def _disk_full(scene: Scene) -> Outcome:
    """Let the disk below PostgreSQL's data fill up while people write, and free it again.

    Raises:
        Missed: Nothing failed for want of space.
    """
    log = scene.home.logs / "postgres.log"
    async with _small_disk(scene) as folder:
        begun = log.stat().st_size
        talks = [await scene.talk() for _ in range(4)]
        letters: list[list[Letter]] = [[] for _ in talks]
        async with scene.browsers(talks) as browsers:
            await write(browsers[0], plain(scene), letters[0])
            ballast = folder / "ballast"
            await asyncio.to_thread(_fill, ballast)
            for number in range(12):
                await write(browsers[number % 4], plain(scene), letters[number % 4])
                await asyncio.sleep(FULL_S * scene.lengths.scale / 12)
                await asyncio.to_thread(_fill, ballast)
            ballast.unlink()
            back_at = await _keep_postgres(scene)
            outcomes = await asyncio.gather(
                *(
                    conclude(scene, browser, written, since=back_at)
                    for browser, written in zip(browsers, letters, strict=True)
                )
            )
        said = log.read_bytes()[begun:]
    if _NO_SPACE not in said:
        raise Missed("PostgreSQL wanted no space while there was none")
    return together(outcomes)


@contextlib.asynccontextmanager
async def _small_disk(scene: Scene) -> AsyncIterator[Path]:
    """Move PostgreSQL's data to a small disk in memory, and back again.

    Raises:
        Skipped: Only root can mount one.
    """
    if os.geteuid() != 0 or shutil.which("mount") is None:
        raise Skipped("a small disk can be mounted by root only")
    folder = settle(scene.home).postgres
    aside = folder.with_name("postgres.aside")
    await scene.stop()
    await _stop_postgres(scene)
    # Copied with its owner and modes.
    await asyncio.to_thread(_copy, folder, aside)
    size = sum(path.stat().st_size for path in aside.rglob("*") if path.is_file()) + ROOM_BYTES
    try:
        await asyncio.to_thread(
            _run, "mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)
        )
    except OSError as error:
        await _start_postgres(scene)
        raise Skipped(f"no small disk can be mounted ({error})") from error
    try:
        await asyncio.to_thread(_copy, aside, folder)
        await _start_postgres(scene)
        await scene.use(1)
        yield folder
    finally:
        await scene.stop()
        await _stop_postgres(scene)
        shutil.rmtree(aside)
        await asyncio.to_thread(_copy, folder, aside)
        await asyncio.to_thread(_run, "umount", str(folder))
        shutil.rmtree(folder / "data")
        await asyncio.to_thread(_copy, aside, folder)
        shutil.rmtree(aside)
        await _start_postgres(scene)


def _copy(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    _run("cp", "-a", f"{source}/.", str(target))
    shutil.copystat(source, target)
    status = source.stat()
    os.chown(target, status.st_uid, status.st_gid)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        raise OSError(done.stderr.strip())


async def _keep_postgres(scene: Scene) -> float:
    """Start PostgreSQL where it died, as `up` would; return when it answers."""
    process = scene.servers.postgres.process
    if process is None or process.poll() is not None:
        await _start_postgres(scene)
    return time.monotonic()


def _fill(ballast: Path) -> None:
    """Take what space is left."""
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as stream:
        while stream.write(_BLOCK):
            pass


# --- a second beat -----------------------------------------------------------------------------

# Nobody reads this queue: what beats ring stays there and can be counted.
QUEUE: Final = "bench.beats"
EVERY_S: Final = 0.5
BEATS_S: Final = 20.0


async def _two_beats(scene: Scene) -> Outcome:
    """Run a second beat, then kill the first: each due time rings once, and somebody rings on."""
    verdict = Verdict()
    async with _periodic(), Redis.from_url(scene.servers.valkey.url) as redis:
        seconds = max(BEATS_S * scene.lengths.scale, 4.0)
        second = _start_beat(scene)
        try:
            waiting = scene.log.trap(lambda event: event.name == "beat_waits")
            await scene.log.wait(waiting, EVENT_S)
            await _first_ring(redis)
            await _count(redis, seconds, verdict)
            died_at = await scene.kill(scene.pids("beat"))
            await _first_ring(redis)
            recovery_s = time.monotonic() - died_at
            await _count(redis, seconds, verdict)
        finally:
            await asyncio.to_thread(stop, second, signal.SIGTERM, timeout_s=EVENT_S)
    return Outcome(verdict, recovery_s)


def _start_beat(scene: Scene) -> "subprocess.Popen[bytes]":
    return spawn(
        [sys.executable, "-m", "qanot_site.beat_process"],
        environment=os.environ | {"QANOT_LOG_FORMAT": "json", "QANOT_HOME": str(scene.home.folder)},
        folder=PROJECT,
        output=scene.log.writer,
    )


@contextlib.asynccontextmanager
async def _periodic() -> AsyncIterator[None]:
    task = await in_db(_make_task)
    try:
        yield
    finally:
        await in_db(task.delete)


def _make_task() -> PeriodicTask:
    every, _ = IntervalSchedule.objects.get_or_create(
        every=int(timedelta(seconds=EVERY_S) / timedelta(microseconds=1)),
        period=IntervalSchedule.MICROSECONDS,
    )
    return PeriodicTask.objects.create(
        name="bench", task="bench.nobody", interval=every, queue=QUEUE, args=json.dumps([])
    )


async def _first_ring(redis: Redis) -> None:
    """Wait for the next ring, after which all are counted.

    Raises:
        TimeoutError: No beat rings.
    """
    await redis.delete(QUEUE)
    async with asyncio.timeout(ANSWER_S):
        # A list of another process: nobody tells us when it grows.
        while not await redis.llen(QUEUE):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def _count(redis: Redis, seconds: float, verdict: Verdict) -> None:
    """Count rings: about as many as due times."""
    await redis.delete(QUEUE)
    begun = time.monotonic()
    await asyncio.sleep(seconds)
    rung, due = int(await redis.llen(QUEUE)), (time.monotonic() - begun) / EVERY_S
    if rung > due + 2:
        verdict.doubled += 1
        verdict.remarks.append(f"{rung} rings for {due:.1f} due times")
    if rung < due / 2:
        verdict.lost += 1
        verdict.remarks.append(f"only {rung} rings for {due:.1f} due times")


POINTS: Final = (
    Point("postgres_restarted", _postgres_restarted, workers=4),
    Point("two_beats", _two_beats),
    Point("disk_full", _disk_full),
    Point("poison", _poison, workers=4),
)
