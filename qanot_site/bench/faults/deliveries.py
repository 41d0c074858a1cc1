"""Workers die while an answer is on its way to Telegram, where nobody can promise both.

A send of unknown outcome is repeated, marked (the account's policy `resend`): that is neither a
message lost nor one doubled, and counted apart.
"""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

from agents.db import in_db
from memory.models import WalEntry
from qanot_site.bench import processes
from qanot_site.bench.faults.checks import Verdict
from qanot_site.bench.faults.eventlog import Event, NotSeen
from qanot_site.bench.faults.points import (
    ANSWER_S,
    CHAIN,
    CHUNKS,
    DRAIN_S,
    EVENT_S,
    INTERVAL_MS,
    Missed,
    Outcome,
    Point,
)
from qanot_site.bench.faults.scene import Scene
from qanot_site.bench.telegram.people import SENT, Writer
from sessions.models import InboundMessage, Outgoing, Turn

# A further copy would come within this time.
LATE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class DeliveryKill:
    """Kill the worker at one event of a send.

    Args:
        event: The last thing that it did.
    """

    event: str

    async def __call__(self, scene: Scene) -> Outcome:
        """Run it once; a run whose worker did not die at the point is repeated elsewhere.

        Raises:
            Missed: It did not.
        """
        writer = await scene.writer()
        text = f"Remember that box {scene.number()} is blue. "
        text += f"chunks={CHUNKS} interval_ms={INTERVAL_MS}"
        victims = await self._freeze(scene, writer, text)
        died_at = await scene.kill(victims)
        return await _conclude(scene, writer, text, since=died_at)

    async def _freeze(self, scene: Scene, writer: Writer, text: str) -> list[int]:
        """Bring the worker to stand at the point; return its process."""
        victims = scene.pids("worker")
        begun = len(scene.log.events)

        def freeze(event: Event) -> None:
            for pid in victims:
                processes.freeze(pid)

        trap = scene.log.trap(lambda event: event.name == self.event, freeze)
        await writer.say(text)
        try:
            event = await scene.log.wait(trap, EVENT_S)
            for pid in victims:
                await processes.wait_frozen(pid)
            await asyncio.sleep(DRAIN_S)
            done = [
                seen
                for seen in scene.log.events[begun:]
                if seen.process in victims and seen.name in CHAIN
            ]
            if done[-1] is not event:
                raise Missed(f"{done[-1].name} was the last event")
        except (Missed, NotSeen) as exc:
            for pid in victims:
                processes.thaw(pid)
            await _conclude(scene, writer, text, since=time.monotonic())
            raise Missed(str(exc)) from exc
        return victims


async def _conclude(scene: Scene, writer: Writer, text: str, *, since: float) -> Outcome:
    """Wait until the answer is sent for certain, then judge what the chat was sent."""
    deadline = time.monotonic() + ANSWER_S
    # Rows of other processes: nobody tells us when they change.
    while not await in_db(_is_sent, text) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    recovery_s = max(0.0, time.monotonic() - since)
    await asyncio.sleep(LATE_S)
    verdict = await in_db(_verdict, text)
    shown: list[str] = await scene.bot_api.tell("texts", writer.user)
    verdict.add(judge(shown))
    return Outcome(verdict, recovery_s)


def judge(shown: list[str]) -> Verdict:
    """Look at what a chat was sent for one message: its answer, and perhaps marked copies."""
    answers = [tuple(SENT.findall(text)) for text in shown]
    whole = [stamps for stamps in answers if len(stamps) >= CHUNKS]
    if not whole:
        return Verdict(lost=1, remarks=["the chat was not sent the answer"])
    verdict = Verdict()
    copies = Counter(whole)
    for stamps, count in copies.items():
        texts = {text for text in shown if tuple(SENT.findall(text)) == stamps}
        # A copy that says that it is one reads differently; copies that read alike do not say it.
        unmarked = count - len(texts)
        verdict.resent += len(texts) - 1
        verdict.doubled += unmarked
        verdict.remarks += ["the chat was sent a copy without a mark"] * bool(unmarked)
    if len(copies) > 1:
        verdict.doubled += 1
        verdict.remarks.append("the chat was sent two answers")
    return verdict


def _message(text: str) -> InboundMessage | None:
    found = InboundMessage.objects.select_related("turn").filter(content__text=text)
    return found.first()


def _is_sent(text: str) -> bool:
    message = _message(text)
    return (
        message is not None
        and Outgoing.objects.filter(turn=message.turn, state=Outgoing.State.SENT).exists()
    )


def _verdict(text: str) -> Verdict:
    message = _message(text)
    if message is None:
        return Verdict(lost=1, remarks=[f"{text!r} is not stored"])
    verdict = Verdict()
    stored = InboundMessage.objects.filter(content__text=text).count()
    if stored > 1:
        verdict.doubled, verdict.remarks = stored - 1, [f"stored {stored} times"]
    if message.turn.state != Turn.State.ANSWERED:
        verdict.remarks.append(f"turn {message.turn.pk} ended as {message.turn.state}")
    if not WalEntry.objects.filter(source=message.ref).exists():
        verdict.wal_missing = 1
        verdict.remarks.append("no WAL row")
    return verdict


POINTS: Final = (
    Point("delivery_called", DeliveryKill("delivery.called")),
    Point("delivery_acknowledged", DeliveryKill("delivery.acknowledged")),
)
