"""Sending from the rows: each chat in order, chats beside each other, nobody waits for a slow one.

Whoever has something to send wakes the courier; the database says which row of that chat is the
next and who is at work on it, so several processes may have a courier each.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

import structlog

from agents.db import in_db
from sessions import delivery
from sessions.delivery import Later, NotDelivered, OutcomeUnknown, Taken, Undeliverable
from sessions.models import Outgoing

_log = structlog.get_logger(__name__)

# Of one account, so that a bot whose server hangs holds up no other's.
AT_ONCE: Final = 64
_PERHAPS_SENT: Final = frozenset({Outgoing.State.SENDING, Outgoing.State.UNKNOWN})


@dataclass(slots=True)
class Courier:
    """Sends what is queued, on the event loop that made it.

    Args:
        worker_id: Under which rows are taken; what a dead worker had taken is settled.
    """

    worker_id: int
    is_closing: bool = False
    _sending: set[asyncio.Task[None]] = field(default_factory=set)
    _places: defaultdict[int, asyncio.Semaphore] = field(
        default_factory=lambda: defaultdict(lambda: asyncio.Semaphore(AT_ONCE))
    )
    # By the row that waits for its moment.
    _wakes: dict[int, asyncio.TimerHandle] = field(default_factory=dict)

    def wake(self, outgoing_id: int) -> None:
        """Begin to send what waits for a row's chat, and return at once."""
        if self.is_closing:
            return
        task = asyncio.create_task(self._empty_chat(outgoing_id), name=f"send {outgoing_id}")
        self._sending.add(task)
        task.add_done_callback(self._forget)

    async def aclose(self, timeout_s: float) -> None:
        """Begin nothing more, and let what is on its way arrive.

        What takes longer is cut off; another worker settles it.
        """
        self.is_closing = True
        for wake in self._wakes.values():
            wake.cancel()
        self._wakes.clear()
        if not self._sending:
            return
        _, late = await asyncio.wait(self._sending, timeout=timeout_s)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=1)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("task.failed", task=task.get_name(), exc_info=error)

    async def _empty_chat(self, outgoing_id: int) -> None:
        """Send a chat's rows until none is left, one must wait, or somebody else is at it."""
        account_id = await in_db(delivery.account_of, outgoing_id)
        # A place first: what is taken leaves at once, or nobody could tell it from a dead
        # process's.
        async with self._places[account_id]:
            while not self.is_closing:
                taken = await in_db(delivery.take_first, outgoing_id, worker_id=self.worker_id)
                if isinstance(taken, Later):
                    self._wake_later(taken)
                if not isinstance(taken, Taken):
                    return
                await _send(taken)

    def _wake_later(self, later: Later) -> None:
        if later.outgoing_id not in self._wakes and not self.is_closing:
            self._wakes[later.outgoing_id] = asyncio.get_running_loop().call_later(
                later.wait_s, self._wake_now, later.outgoing_id
            )

    def _wake_now(self, outgoing_id: int) -> None:
        del self._wakes[outgoing_id]
        self.wake(outgoing_id)


async def _send(taken: Taken) -> None:
    """Send a row's missing parts, and note what became of it."""
    outgoing = taken.outgoing
    progress = _Progress()
    try:
        await _send_parts(taken, progress)
    except NotDelivered as error:
        _log.warning("delivery.postponed", outgoing=outgoing.pk, error=str(error))
        await in_db(delivery.put_back, outgoing, progress.number, error, again=progress.again)
    except Undeliverable as error:
        await in_db(delivery.give_up, outgoing, progress.number, str(error), again=progress.again)
    except OutcomeUnknown as error:
        await in_db(delivery.leave_open, outgoing, progress.number, str(error), may_repeat=True)
    except Exception as error:
        await in_db(
            delivery.leave_open,
            outgoing,
            progress.number,
            type(error).__name__,
            may_repeat=False,
        )
        raise


@dataclass(slots=True)
class _Progress:
    """The part that is on its way, if one is.

    Args:
        again: It may have been sent before.
    """

    number: int | None = None
    again: bool = False


async def _send_parts(taken: Taken, progress: _Progress) -> None:
    outgoing = taken.outgoing
    sender = delivery.sender_of(outgoing.channel)
    letter = await sender.open(outgoing)
    if sender.is_live:
        # Nothing is known by its parts: sending twice shows nothing twice.
        await letter.send(1, again=False)
        await in_db(delivery.mark_sent, outgoing)
        return
    missing = [n for n in range(1, letter.count + 1) if taken.parts.get(n) != Outgoing.State.SENT]
    for number in missing:
        await in_db(delivery.begin_part, outgoing, number)
        progress.number = number
        progress.again = again = taken.parts.get(number) in _PERHAPS_SENT
        _log.info("delivery.called", outgoing=outgoing.pk, part=number, turn=outgoing.turn_id)
        external_id = await letter.send(number, again=again)
        _log.info("delivery.acknowledged", outgoing=outgoing.pk, part=number, turn=outgoing.turn_id)
        await in_db(
            delivery.end_part, outgoing, number, external_id, is_last=number == letter.count
        )
        progress.number = None
    if not missing or missing[-1] != letter.count:
        await in_db(delivery.mark_sent, outgoing)
