"""Running a session's turns, one after the other, while this worker holds its lease."""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents.core.asking import Asker
from agents.core.context import NewestExchanges
from agents.core.errors import LeaseLost
from agents.core.events import (
    AnswerRestarted,
    Finished,
    LoopEvent,
    Outcome,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agents.core.loop import PARAGRAPH, Loop
from agents.core.protocols import RecordedStep
from agents.core.pump import Limits, StopSwitch
from agents.db import in_db
from agents.services import chain
from agents.services.caps import CappedPurse
from agents.services.cool_downs import SharedCoolDowns
from agents.services.toolbox import GrantedTools, Where, is_tainted
from sessions import attachments, delivery, presenting
from sessions.courier import Courier
from sessions.errors import NotDue
from sessions.events.feed import Feed, ToolState
from sessions.events.hub import Hub
from sessions.models import Outgoing, Turn, TurnStep
from sessions.presenting import Shown
from sessions.turns import finishing, freeze, history, journal, leases
from sessions.turns.finishing import Times
from sessions.turns.freeze import Prepared
from sessions.turns.journal import DatabaseJournal, recorded_steps
from sessions.turns.leases import Claimed

_log = structlog.get_logger(__name__)

# What waits for calm waits so long after the last turn.
LULL_S = 1.0
CRASHED = Outcome("failed", "", "crashed")
UNHEARD = Outcome("ended", "", "unheard")


@dataclass(slots=True)
class Running:
    """A turn that this process runs now."""

    claimed: Claimed
    task: asyncio.Task[None]
    stop: StopSwitch = field(default_factory=StopSwitch)
    shown: Shown | None = None
    # They know whether the model read text from outside.
    tools: GrantedTools | None = None
    # From here on the lease is given back by the turn's own end, and the task may be at work on
    # the session's next turn.
    is_ending: bool = False
    is_lost: bool = False

    def lose(self) -> None:
        """Break off: another worker has the session, and whatever is still here is void."""
        if not self.is_ending and not self.is_lost:
            self.is_lost = True
            self.task.cancel()


@dataclass(slots=True)
class Runner:
    """Runs turns on this process's event loop; ``running`` is what its heartbeat renews."""

    hub: Hub
    worker_id: int
    courier: Courier
    running: dict[int, Running] = field(default_factory=dict)
    is_closing: bool = False
    _ended_at: float = field(default=-1e9)
    # Other workers' turns are among them; only the newest can be ones that we are claiming.
    _early_stops: deque[int] = field(default_factory=lambda: deque(maxlen=256))
    _asked_again: dict[int, bool] = field(default_factory=dict)
    _not_due: dict[int, float] = field(default_factory=dict)

    def is_busy(self) -> bool:
        """Return whether turns run, or did a moment ago: where one was, the next is near."""
        return bool(self.running) or time.monotonic() - self._ended_at < LULL_S

    def hear_stop(self, turn_id: int) -> None:
        """Stop a turn; one that is only being claimed stops as soon as it runs."""
        running = self.running.get(turn_id)
        if running is None:
            self._early_stops.append(turn_id)
            return
        running.stop.throw()
        _log.info("stop.received", turn=turn_id)

    async def run_session(self, session_id: int) -> float | None:
        """Run the session's unfinished turns until none is left or another worker has it.

        A bell that rings for a session which already runs here makes it look once more before
        it ends, so that a message stored in the last moment waits for no sweep.

        Returns:
            In how many seconds to come again, where the next turn waits for more messages.
        """
        if session_id in self._asked_again:
            self._asked_again[session_id] = True
            return None
        self._asked_again[session_id] = True
        try:
            while self._asked_again[session_id] and not self.is_closing:
                self._asked_again[session_id] = False
                self._not_due.pop(session_id, None)
                while await self._run_next(session_id):
                    pass
        finally:
            del self._asked_again[session_id]
            wait_s = self._not_due.pop(session_id, None)
        return wait_s

    async def _run_next(self, session_id: int) -> bool:
        """Run the session's oldest waiting turn; return whether another one may wait."""
        if self.is_closing:
            return False
        try:
            taken = await self._take(session_id)
        except NotDue as early:
            self._not_due[session_id] = early.wait_s
            return False
        if taken is None:
            return False
        claimed, prepared = taken
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("a coroutine runs in a task")
        running = self.running[claimed.turn.pk] = Running(claimed, task)
        if claimed.turn.stop_requested_at is not None or claimed.turn.pk in self._early_stops:
            running.stop.throw()
        try:
            # What the turn logs anywhere, tools and providers included, says whose it is.
            with structlog.contextvars.bound_contextvars(turn=claimed.turn.pk, session=session_id):
                return await self._run(running, prepared)
        except LeaseLost:
            _log.warning("lease.lost", turn=claimed.turn.pk, attempt=claimed.turn.attempt)
        except asyncio.CancelledError:
            if not running.is_lost:
                raise
            task.uncancel()
            _log.warning("lease.lost", turn=claimed.turn.pk, attempt=claimed.turn.attempt)
        finally:
            running.is_ending = True
            if running.shown is not None:
                running.shown.end()
            del self.running[claimed.turn.pk]
            self._ended_at = time.monotonic()
        return True

    async def _take(self, session_id: int) -> tuple[Claimed, Prepared | None] | None:
        """Claim and prepare; what was claimed while this was cancelled is handed back.

        Where files came, preparing waits until they are fetched.
        """
        claiming = asyncio.ensure_future(in_db(_claim_and_prepare, session_id, self.worker_id))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The statement is on its way and cannot be called back.
            with suppress(NotDue):
                if (taken := await claiming) is not None:
                    await in_db(leases.hand_back, taken[0])
            raise

    async def _run(self, running: Running, decided: Prepared | None) -> bool:
        claimed = running.claimed
        turn = claimed.turn
        feed = self.hub.feed(
            turn=turn.public_id, session=turn.session.public_id, attempt=turn.attempt
        )
        shown = running.shown = None if claimed.is_exhausted else presenting.presenter_of(turn)
        await _begin(feed, claimed, shown)
        times = Times()
        prepared, is_unheard = (decided, False) if decided else await _with_files(claimed)
        outcome = UNHEARD if is_unheard else CRASHED
        if not claimed.is_exhausted and not is_unheard:
            outcome = await self._loop(running, prepared, feed, times)
        if shown is not None:
            shown.end()
        running.is_ending = True
        finished = await in_db(
            finishing.finish,
            claimed,
            outcome,
            asked=prepared.asked,
            times=times,
            time_zone=prepared.time_zone,
            is_tainted=running.tools is not None and running.tools.is_tainted,
        )
        feed.end(turn.state)
        await self.hub.flush()
        _log.info("events.ended", turn=turn.pk)
        await self._deliver(turn, finished.outgoing, feed)
        return finished.another_waits

    async def _loop(
        self, running: Running, prepared: Prepared, feed: Feed, times: Times
    ) -> Outcome:
        await chain.warm_up(prepared.links)
        loop = self._loop_of(running, prepared, times)
        async for event in loop.run():
            if isinstance(event, Finished):
                return event.outcome
            _publish(event, feed, loop)
            if running.shown is not None:
                running.shown.tell(event, loop)
            if isinstance(event, TextDelta):
                times.last_token_at = timezone.now()
                if times.first_token_at is None:
                    times.first_token_at = times.last_token_at
                    _log.info("text.first", turn=running.claimed.turn.pk)
        raise AssertionError("the loop ends with Finished or raises")

    def _loop_of(self, running: Running, prepared: Prepared, times: Times) -> Loop:
        turn = running.claimed.turn
        where = Where(
            viewer=turn.viewer,
            agent=f"agent:{turn.session.agent_id}",
            session=f"session:{turn.session_id}",
            turn=turn.ref,
            time_zone=prepared.time_zone,
            is_tainted=history.shows_foreign(prepared.messages)
            or is_tainted(prepared.messages, prepared.tool_names, attempt=turn.attempt),
        )
        asker = Asker(
            chain=chain.open_chain(prepared.links),
            journal=DatabaseJournal(running.claimed, times, noted_model=prepared.noted_model),
            purse=CappedPurse(prepared.allowance),
            cool_downs=SharedCoolDowns([link.account for link in prepared.links]),
            stop=running.stop,
            limits=Limits(
                settings.QANOT_FIRST_EVENT_S, settings.QANOT_BETWEEN_EVENTS_S, settings.QANOT_CALL_S
            ),
            retry_base_s=settings.QANOT_RETRY_BASE_S,
        )
        running.tools = GrantedTools(where, settings.QANOT_TOOL_S, prepared.tool_names)
        return Loop(
            asker=asker,
            tools=running.tools,
            keeper=NewestExchanges(),
            system=prepared.system,
            messages=prepared.messages,
            max_iterations=turn.session.agent.max_iterations,
        )

    async def _deliver(self, turn: Turn, outgoing: Outgoing, feed: Feed) -> None:
        """See to the answer's sending; a live channel's watchers have it, if Redis took it.

        Nothing else is waited for: the session's next turn begins, and its answer follows this
        one, as a chat's rows leave in order.
        """
        if not delivery.sender_of(turn.session.account.channel).is_live:
            self.courier.wake(outgoing.pk)
        elif feed.has_arrived:
            await in_db(delivery.mark_sent, outgoing)


def _claim_and_prepare(session_id: int, worker_id: int) -> tuple[Claimed, Prepared | None] | None:
    """Take a turn and decide its prompt, in one transaction.

    Where deciding fails the claim is made all the same, so that a turn which nobody can prepare
    counts as orphaned and ends, instead of being tried for ever.
    """
    try:
        with transaction.atomic():
            claimed = leases.claim(session_id, worker_id=worker_id)
            if claimed is None:
                return None
            if claimed.is_exhausted:
                return claimed, freeze.nothing(claimed.turn)
            return claimed, None if claimed.has_files else _prepare(claimed)
    except NotDue:
        raise
    except Exception:
        leases.claim(session_id, worker_id=worker_id)
        raise


def _prepare(claimed: Claimed) -> Prepared:
    prepared = freeze.prepare(claimed)
    return replace(prepared, noted_model=journal.note_first_call(claimed, prepared.links))


async def _with_files(claimed: Claimed) -> tuple[Prepared, bool]:
    """Fetch what came with a turn's messages, and then decide its prompt."""
    await attachments.fetch(claimed.turn)
    return await in_db(_prepare_with_files, claimed)


@transaction.atomic
def _prepare_with_files(claimed: Claimed) -> tuple[Prepared, bool]:
    """Decide the prompt of a turn whose files are fetched, and whether it says anything at all."""
    leases.hold(claimed.turn.session_id, claimed.token)
    if attachments.says_nothing_readable(claimed.turn.pk):
        return freeze.nothing(claimed.turn), True
    return _prepare(claimed), False


def _publish(event: LoopEvent, feed: Feed, loop: Loop) -> None:
    match event:
        case TextDelta(text):
            feed.text(text)
        case AnswerRestarted():
            feed.restart_answer(loop.said)
        case ToolStarted(call_id, name):
            feed.tool_started(call_id, name)
        case ToolFinished(call_id, name, is_error, duration_s):
            feed.tool_finished(call_id, name, is_error=is_error, seconds=duration_s)
        case Finished():
            raise AssertionError("the end is not published from here")


async def _begin(feed: Feed, claimed: Claimed, shown: Shown | None) -> None:
    """Announce the attempt; a later one shows at once what earlier ones had settled."""
    if claimed.turn.attempt == 1:
        feed.begin()
        if shown is not None:
            shown.begin("")
        return
    steps = await in_db(recorded_steps, claimed.turn.pk)
    done = [steps[number] for number in sorted(steps) if steps[number].is_finished]
    text = _text_of(done)
    feed.begin(text=text, tools=await in_db(_tools_of, claimed.turn.pk))
    if shown is not None:
        shown.begin(text)


def _text_of(steps: Sequence[RecordedStep]) -> str:
    said = [step.reply.message.text for step in steps if step.reply is not None]
    return PARAGRAPH.join(text for text in said if text)


def _tools_of(turn_id: int) -> list[tuple[str, str, ToolState]]:
    steps = TurnStep.objects.filter(
        turn_id=turn_id, kind=TurnStep.Kind.TOOL, finished_at__isnull=False
    ).order_by("number")
    return [(step.call_id, step.name, "error" if step.is_error else "done") for step in steps]
