"""The named points, and one run of each."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from agents.db import in_db
from qanot_site.bench import processes
from qanot_site.bench.faults import checks
from qanot_site.bench.faults.browser import Browser, Letter, deliver_at_once
from qanot_site.bench.faults.checks import Verdict
from qanot_site.bench.faults.eventlog import Event, NotSeen, Trap
from qanot_site.bench.faults.scene import Scene
from qanot_site.bench.seeding import Talk

# Longer than any recovery that may still pass.
ANSWER_S: Final = 60.0
EVENT_S: Final = 30.0
# The log's last lines are read within this time once their writer stands still.
DRAIN_S: Final = 0.03
MOST_MISSES: Final = 10
ACCEPT_S: Final = 1.0
# The fake provider's default: what a tool's result is answered with.
CHUNKS: Final = 20
INTERVAL_MS: Final = 50

# What the product writes about a message, in its order.
CHAIN: Final = frozenset(
    {
        "message.received",
        "message.committed",
        "bell.rung",
        "lease.taken",
        "request.sent",
        "text.first",
        "reply.stored",
        "tool.started",
        "tool.finished",
        "answer.committed",
        "events.ended",
        "delivery.called",
        "delivery.acknowledged",
        "answer.sent",
    }
)


class Missed(Exception):
    """The process did not die at the named point: the run is repeated."""


class Skipped(Exception):
    """This machine does not let the fault happen; the text says why."""


@dataclass(slots=True)
class Outcome:
    """What one run showed.

    Args:
        recovery_s: From the end of the fault to the last affected message answered.
        late_accepts: Messages that were accepted after more than a second.
    """

    verdict: Verdict
    recovery_s: float
    late_accepts: int = 0


Run = Callable[[Scene], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Point:
    """One named point.

    Args:
        workers: Worker processes of the platform.
    """

    name: str
    run: Run
    workers: int = 1


# --- messages ----------------------------------------------------------------------------------


def plain(scene: Scene, *, chunks: int = CHUNKS, wait_ms: int = 0) -> Letter:
    """Write a message with a fact in it, whose answer takes about a second."""
    shape = f"chunks={chunks} interval_ms={INTERVAL_MS} wait_ms={wait_ms}"
    return Letter(f"Remember that box {scene.number()} is blue. {shape}", chunks=chunks)


def _waiting(scene: Scene) -> Letter:
    """Write a message that the provider thinks about for a while."""
    return plain(scene, chunks=10, wait_ms=800)


def _tool(scene: Scene) -> Letter:
    """Write a message upon which the model calls a tool that must not run twice."""
    number = scene.number()
    fact = f"Shelf {number} is empty"
    call = f'[[tool remember_fact {{"fact": "{fact}"}}]]'
    text = f"Remember that box {number} is blue. {call}"
    return Letter(text, chunks=CHUNKS, fact=fact)


# --- kills -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill at one event.

    Args:
        event: The last thing that the dying processes did.
        dies: Jobs of the processes that die: the one that writes the event, and the worker.
        frozen_before: Event at which the worker is frozen already, so that it cannot be quicker
            than the event itself.
        pause_s: From the event to the freezing.
        letter: Writes the message.
        has_row: Whether the message is committed by then, so that its facts must be there.
        must_have_asked: Whether the request must have reached the provider by then.
    """

    event: str
    dies: tuple[str, ...] = ("worker",)
    frozen_before: str | None = None
    pause_s: float = 0.0
    letter: Callable[[Scene], Letter] = plain
    has_row: bool = True
    must_have_asked: bool = False

    async def __call__(self, scene: Scene) -> Outcome:
        """Run it once; a run whose process did not die at the point is repeated elsewhere.

        Raises:
            Missed: It did not.
        """
        talk, letter = await scene.talk(), self.letter(scene)
        async with scene.browser(talk) as browser:
            victims = await self._freeze(scene, browser, letter)
            died_at = await scene.kill(victims)
            has_wal = not self.has_row or await in_db(checks.has_wal, talk.session, letter)
            outcome = await conclude(scene, browser, [letter], since=died_at)
        if not has_wal:
            outcome.verdict.wal_missing = 1
            outcome.verdict.remarks.append("no WAL row when the process died")
        return outcome

    async def _freeze(self, scene: Scene, browser: Browser, letter: Letter) -> list[int]:
        """Bring the processes to stand at the point; return them."""
        victims = scene.pids(*self.dies)
        begun = len(scene.log.events)
        early = self._early_trap(scene, browser.talk)
        freeze_now = () if self.pause_s else victims
        trap = scene.log.trap(
            lambda event: event.name == self.event and is_of(event, browser.talk),
            lambda event: _freeze_all(freeze_now),
        )
        writing = asyncio.create_task(browser.write(letter))
        try:
            event = await scene.log.wait(trap, EVENT_S)
            await asyncio.sleep(self.pause_s)
            _freeze_all(victims)
            for pid in victims:
                await processes.wait_frozen(pid)
            await asyncio.sleep(DRAIN_S)
            await self._prove(scene, event, letter, victims, begun=begun, talk=browser.talk)
        except (Missed, NotSeen) as exc:
            for pid in victims:
                processes.thaw(pid)
            await conclude(scene, browser, [letter], since=time.monotonic())
            raise Missed(str(exc)) from exc
        finally:
            await writing
            if early is not None:
                scene.log.drop(early)
        return victims

    def _early_trap(self, scene: Scene, talk: Talk) -> Trap | None:
        if self.frozen_before is None:
            return None
        workers = scene.pids("worker")
        return scene.log.trap(
            lambda event: event.name == self.frozen_before and is_of(event, talk),
            lambda event: _freeze_all(workers),
        )

    async def _prove(
        self,
        scene: Scene,
        event: Event,
        letter: Letter,
        victims: Sequence[int],
        *,
        begun: int,
        talk: Talk,
    ) -> None:
        """Hold the log against the claim that the point is the last thing that was done."""
        done = [
            seen
            for seen in scene.log.events[begun:]
            if seen.process in victims and seen.name in CHAIN and is_of(seen, talk)
        ]
        if not done or done[-1] is not event:
            raise Missed(f"{done[-1].name if done else 'nothing'} was the last event")
        if self.must_have_asked and not await scene.has_asked_provider(letter.text):
            raise Missed("the request has not reached the provider")


def is_of(event: Event, talk: Talk) -> bool:
    # One message is under way at a time, so an event that names only a turn is its own.
    return event.is_about(session=talk.session.pk, turn=None)


def _freeze_all(pids: Sequence[int]) -> None:
    for pid in pids:
        processes.freeze(pid)


async def conclude(
    scene: Scene, browser: Browser, letters: Sequence[Letter], *, since: float
) -> Outcome:
    """Wait for the answers of one conversation, then judge it."""
    ends = []
    for letter in letters:
        await browser.wait_accepted(letter, ANSWER_S)
        view = await browser.wait_over(letter, ANSWER_S)
        ends.append(ANSWER_S if view is None or view.over_at is None else view.over_at - since)
    await scene.settle(browser.talk)
    verdict = await in_db(checks.judge, browser.talk.session, letters, browser.views)
    return Outcome(verdict=verdict, recovery_s=max(0.0, *ends))


# --- Redis -------------------------------------------------------------------------------------


async def _flush(scene: Scene) -> Outcome:
    """Empty Redis while one answer streams and another message is being taken in."""
    first, second = await scene.talk(), await scene.talk()
    letters = plain(scene), plain(scene)
    async with scene.browser(first) as one, scene.browser(second) as other:
        streaming = scene.log.trap(lambda event: event.name == "text.first")
        await one.write(letters[0])
        await scene.log.wait(streaming, EVENT_S)
        taken_in = scene.log.trap(
            lambda event: event.name == "message.received" and is_of(event, second)
        )
        await other.write(letters[1])
        await scene.log.wait(taken_in, EVENT_S)
        flushed_at = await scene.flush_redis()
        outcomes = [
            await conclude(scene, one, [letters[0]], since=flushed_at),
            await conclude(scene, other, [letters[1]], since=flushed_at),
        ]
    return together(outcomes)


async def _away(scene: Scene) -> Outcome:
    """Take Redis away while an answer streams; go on writing until it is back."""
    talks = [await scene.talk() for _ in range(4)]
    letters: list[list[Letter]] = [[] for _ in talks]
    async with scene.browsers(talks) as browsers:
        streaming = scene.log.trap(lambda event: event.name == "text.first")
        await write(browsers[0], plain(scene), letters[0])
        await scene.log.wait(streaming, EVENT_S)
        await scene.take_redis_away()
        until = time.monotonic() + scene.lengths.away_s
        for number in range(12):
            await asyncio.sleep(scene.lengths.away_s / 14)
            await write(browsers[number % 4], plain(scene), letters[number % 4])
        await asyncio.sleep(max(0.0, until - time.monotonic()))
        scene.bring_redis_back()
        back_at = time.monotonic()
        outcomes = [
            await conclude(scene, browser, written, since=back_at)
            for browser, written in zip(browsers, letters, strict=True)
        ]
    late = [
        letter
        for written in letters
        for letter in written
        if letter.accepted_at is None or letter.accepted_at - letter.written_at > ACCEPT_S
    ]
    outcome = together(outcomes)
    outcome.late_accepts = len(late)
    outcome.verdict.remarks += [f"{letter.text!r} was accepted late" for letter in late]
    return outcome


async def write(browser: Browser, letter: Letter, written: list[Letter]) -> None:
    written.append(letter)
    await browser.write(letter)


def together(outcomes: Sequence[Outcome]) -> Outcome:
    verdict = Verdict()
    for outcome in outcomes:
        verdict.add(outcome.verdict)
    return Outcome(verdict, max(outcome.recovery_s for outcome in outcomes))


# --- a worker asleep, and crowds ---------------------------------------------------------------


async def _asleep(scene: Scene) -> Outcome:
    """Pause a worker in the middle of an answer until another has taken its turn; wake it then."""
    talk, letter = await scene.talk(), plain(scene, chunks=40)
    async with scene.browser(talk) as browser:
        streaming = scene.log.trap(lambda event: event.name == "text.first")
        await browser.write(letter)
        sleeper = (await scene.log.wait(streaming, EVENT_S)).process
        await asyncio.sleep(0.2)
        taken = scene.log.trap(
            lambda event: (
                event.name == "lease.taken" and is_of(event, talk) and event.process != sleeper
            )
        )
        processes.freeze(sleeper)
        try:
            await processes.wait_frozen(sleeper)
            asleep_from = len(scene.log.events)
            await scene.log.wait(taken, scene.lengths.lease_s + EVENT_S)
            # Both would write now, if both could.
            await asyncio.sleep(0.3)
        finally:
            processes.thaw(sleeper)
        woken_at = time.monotonic()
        outcome = await conclude(scene, browser, [letter], since=woken_at)
    wrote = {
        event.name
        for event in scene.log.events[asleep_from:]
        if event.process == sleeper and event.name in CHAIN and is_of(event, talk)
    }
    # What another has taken it may neither store nor end.
    if wrote & {"reply.stored", "answer.committed", "events.ended"}:
        outcome.verdict.doubled += 1
        outcome.verdict.remarks.append(f"the woken worker wrote: {sorted(wrote)}")
    return outcome


async def _hundred_times(scene: Scene) -> Outcome:
    """Deliver one message a hundred times in the same moment, over as many sockets."""
    talk, letter = await scene.talk(), plain(scene)
    async with scene.browser(talk) as browser:
        turns = await deliver_at_once(scene.client, scene.platform.address, talk, [letter] * 100)
        outcome = await conclude(scene, browser, [letter], since=time.monotonic())
    if len(set(turns)) != 1:
        outcome.verdict.doubled += 1
        outcome.verdict.remarks.append(f"a hundred deliveries made {sorted(set(turns))}")
    return outcome


async def _five_at_once(scene: Scene) -> Outcome:
    """Write five messages to one conversation in the same moment."""
    talk = await scene.talk()
    letters = [plain(scene, chunks=10) for _ in range(5)]
    async with scene.browser(talk) as browser:
        await deliver_at_once(scene.client, scene.platform.address, talk, letters)
        return await conclude(scene, browser, letters, since=time.monotonic())


# --- all of them -------------------------------------------------------------------------------

_BOTH: Final = ("web", "worker")

POINTS: Final = (
    Point("message_received", Kill("message.received", dies=_BOTH, has_row=False)),
    Point("row_committed", Kill("message.committed", dies=_BOTH)),
    Point("bell_rung", Kill("bell.rung", dies=_BOTH, frozen_before="message.committed")),
    Point("lease_taken", Kill("lease.taken")),
    Point(
        "request_sent",
        Kill("request.sent", pause_s=0.3, letter=_waiting, must_have_asked=True),
    ),
    Point("mid_stream", Kill("text.first", pause_s=0.4)),
    Point("tool_started", Kill("tool.started", letter=_tool)),
    Point("tool_finished", Kill("tool.finished", letter=_tool)),
    Point("answer_committed", Kill("answer.committed")),
    Point("last_event_published", Kill("events.ended")),
    Point("redis_flushed", _flush),
    Point("redis_away", _away),
    Point("worker_paused", _asleep, workers=4),
    Point("delivered_100_times", _hundred_times, workers=4),
    Point("five_at_once", _five_at_once, workers=4),
)
