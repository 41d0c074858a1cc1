"""One worker process: its event loop, its lease on life, its heartbeat and its sweep.

Celery's task threads are thin shells; every turn of a process runs on the one loop here.
"""

import asyncio
import os
import socket
import threading
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Final

import structlog
from django.conf import settings
from redis.exceptions import RedisError

from agents.core.errors import LeaseLost
from agents.db import in_db
from agents.providers import warm
from agents.services import chain
from sessions import delivery, tidying
from sessions.courier import Courier
from sessions.events.hub import Hub
from sessions.events.redis_client import close_redis_client, redis_client
from sessions.models import Turn, WorkerProcess
from sessions.turns import document_reading, extracting, indexing, leases, processes
from sessions.turns.life import Life
from sessions.turns.runner import Runner
from sessions.turns.stopping import STOP_CHANNEL

_log = structlog.get_logger(__name__)

# Turns that were handed back are asked to end within this time before the process does.
FAREWELL_S: Final = 2.0
SWEPT_OUTGOING: Final = 50
PRUNED_EVERY_S: Final = 3_600.0


class Worker:
    """Runs turns until it is closed; make one a process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="turns", daemon=True)
        self._tasks: list[asyncio.Task[None]] = []
        self._sessions: set[asyncio.Task[None]] = set()
        # Sessions whose next turn waits for more messages, by session.
        self._wakes: dict[int, asyncio.TimerHandle] = {}
        self._runner: Runner | None = None
        self._courier: Courier | None = None
        self._life: Life | None = None
        # Kinds of provider, and senders.
        self._warmed: set[object] = set()

    def start(self) -> None:
        """Begin to run: returns once the process may claim turns."""
        self._thread.start()
        self._submit(self._open()).result()

    @property
    def is_running(self) -> bool:
        """Return whether it was started and not closed."""
        return self._thread.is_alive()

    def run_session(self, session_id: int) -> None:
        """Run a session's turns on the loop, and wait for them; called from a task's thread."""
        self._submit(self._run_session(session_id)).result()

    def send(self, outgoing_id: int) -> None:
        """Begin to send a queued row on the loop; called from a task's thread."""
        if self._courier is not None:
            self._loop.call_soon_threadsafe(self._courier.wake, outgoing_id)

    def close(self) -> None:
        """Hand back what runs, publish what is left, and end the loop."""
        self._submit(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _submit(self, work: Coroutine[object, object, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    # --- on the loop ------------------------------------------------------------------------

    async def _open(self) -> None:
        await self._load()
        worker_id = await in_db(_register)
        self._life = Life(leases.WORKER_LOCKS, worker_id)
        await self._life.hold()
        self._courier = Courier(worker_id)
        self._runner = Runner(Hub(), worker_id, self._courier)
        self._tasks = [
            asyncio.create_task(_every(settings.QANOT_HEARTBEAT_S, self._beat), name="heartbeat"),
            asyncio.create_task(_every(settings.QANOT_SWEEP_S, self._sweep), name="sweep"),
            asyncio.create_task(_every(settings.QANOT_SWEEP_S, self._deliver), name="delivery"),
            asyncio.create_task(_every(PRUNED_EVERY_S, _forget_old), name="prune"),
            asyncio.create_task(self._listen_for_stops(), name="stops"),
            asyncio.create_task(_every(settings.QANOT_SWEEP_S, self._warm), name="warm"),
        ]
        is_busy = self._runner.is_busy
        if settings.QANOT_EXTRACTION_S:
            self._tasks.append(asyncio.create_task(extracting.keep(is_busy), name="extraction"))
        if settings.QANOT_INDEX_S:
            self._tasks.append(asyncio.create_task(indexing.keep(is_busy), name="index"))
            self._tasks.append(asyncio.create_task(document_reading.keep(), name="documents"))
        for task in self._tasks:
            task.add_done_callback(_log_failure)
        _log.info("worker.started", worker=worker_id)

    async def _load(self) -> None:
        """Load what turns need before any may be claimed.

        Importing an SDK holds the interpreter for up to a second, and for several where workers
        start together on a busy machine: leases that were held by then would run out.
        """
        for load in (self._warm, indexing.warm):
            try:
                await load()
            except Exception:
                # Loaded at its first use, which says what is wrong.
                _log.exception("worker.not_loaded", work=load.__name__)

    async def _run_session(self, session_id: int) -> None:
        if self._runner is None or self._runner.is_closing:
            return
        task = asyncio.current_task()
        if task is not None:
            self._sessions.add(task)
            task.add_done_callback(self._sessions.discard)
        try:
            # After PostgreSQL restarted all workers had lost their locks, took each other's turns
            # for orphans, and failed one after seven attempts within half a second.
            if self._life is None or not await self._life.hold():
                return
            wait_s = await self._runner.run_session(session_id)
        except asyncio.CancelledError:
            if not self._runner.is_closing:
                raise
        else:
            if wait_s is not None and not self._runner.is_closing:
                self._wake_later(session_id, wait_s)

    def _wake_later(self, session_id: int, wait_s: float) -> None:
        """Come back to a session at the moment when its turn may run; no sweep is as exact."""
        if (earlier := self._wakes.pop(session_id, None)) is not None:
            earlier.cancel()
        self._wakes[session_id] = self._loop.call_later(wait_s, self._wake, session_id)

    def _wake(self, session_id: int) -> None:
        del self._wakes[session_id]
        # A full process leaves it to the others, or to its own sweep once it has room.
        if len(self._opened().running) < settings.QANOT_STREAMS:
            task = self._loop.create_task(self._run_session(session_id))
            task.add_done_callback(_log_failure)

    async def _close(self) -> None:
        runner = self._opened()
        runner.is_closing = True
        for wake in self._wakes.values():
            wake.cancel()
        for task in self._tasks:
            task.cancel()
        handed = [running.claimed for running in runner.running.values()]
        for session in list(self._sessions):
            session.cancel()
        await asyncio.gather(*(self._hand_back(claimed) for claimed in handed))
        # All of them, as a task that the loop's end cuts off leaves its connection open.
        await asyncio.wait([*self._sessions, *self._tasks], timeout=FAREWELL_S)
        if self._courier is not None:
            await self._courier.aclose(FAREWELL_S)
        for name in settings.QANOT_CHANNELS:
            await delivery.sender_of(name).close()
        await runner.hub.aclose()
        await chain.close_providers()
        await close_redis_client()
        if self._life is not None:
            await self._life.release()
        _log.info("worker.stopped", worker=runner.worker_id, handed_back=len(handed))

    async def _hand_back(self, claimed: leases.Claimed) -> None:
        try:
            await in_db(leases.hand_back, claimed)
        except LeaseLost:
            # It ended in this very moment, or another worker has it already.
            _log.info("lease.gone", turn=claimed.turn.pk)

    async def _beat(self) -> None:
        """Show that this process lives, renew its leases, find stops that Redis did not bring."""
        runner = self._opened()
        if self._life is not None:
            await self._life.hold()
        running = {item.claimed.token: item for item in runner.running.values()}
        if not running:
            return
        held, stops = await in_db(_renew_and_look, [item.claimed for item in running.values()])
        for token, item in running.items():
            if token not in held:
                item.lose()
            elif item.claimed.turn.pk in stops:
                item.stop.throw()

    async def _sweep(self) -> None:
        """Look for work that no bell announced."""
        runner = self._opened()
        places = settings.QANOT_STREAMS - len(runner.running)
        if places > 0:
            for session_id in await in_db(leases.free_sessions, places):
                _log.info("sweep.found", session=session_id)
                task = asyncio.create_task(self._run_session(session_id))
                task.add_done_callback(_log_failure)

    async def _deliver(self) -> None:
        """Look for rows that no bell announced, and for those whose sender died."""
        if self._courier is not None:
            for outgoing_id in await in_db(_outgoing_to_send):
                self._courier.wake(outgoing_id)

    async def _warm(self) -> None:
        """Import the SDKs of the accounts in use, so that the first message waits for none.

        Again and again, as accounts are connected while we run.
        """
        for kind in await in_db(chain.kinds_in_use):
            if kind not in self._warmed:
                await asyncio.to_thread(warm, kind)
                self._warmed.add(kind)
        for sender in await in_db(delivery.used):
            if sender not in self._warmed:
                await asyncio.to_thread(sender.warm)
                self._warmed.add(sender)

    async def _listen_for_stops(self) -> None:
        runner = self._opened()
        # Looked at each time, as the client's own time-out can swallow a cancellation.
        while not runner.is_closing:
            try:
                async with redis_client().pubsub() as channel:
                    await channel.subscribe(STOP_CHANNEL)
                    while not runner.is_closing:
                        message = await channel.get_message(
                            ignore_subscribe_messages=True, timeout=1.0
                        )
                        if message is not None:
                            runner.hear_stop(int(message["data"]))
            except (RedisError, OSError, ValueError) as error:
                # The heartbeat finds stops meanwhile.
                _log.warning("stops.deaf", error=type(error).__name__)
                await asyncio.sleep(1)

    def _opened(self) -> Runner:
        if self._runner is None:
            raise AssertionError("the worker is open")
        return self._runner


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do something again and again; what goes wrong is logged, and tried again next time."""
    while True:
        try:
            await work()
        except Exception:
            _log.exception("worker.round_failed", work=work.__name__)
        await asyncio.sleep(seconds)


async def _forget_old() -> None:
    """Delete the rows of workers that ended days ago, and what else is kept for a time only."""
    await in_db(processes.forget_dead)
    await in_db(tidying.forget_old)


def _log_failure(task: asyncio.Task[None]) -> None:
    """Log what a task of the loop raised; nobody waits for it."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("task.failed", task=task.get_name(), exc_info=error)


def _register() -> int:
    return WorkerProcess.objects.create(name=f"{socket.gethostname()}:{os.getpid()}").pk


def _renew_and_look(claims: list[leases.Claimed]) -> tuple[set[uuid.UUID], set[int]]:
    held = leases.renew(claims)
    stops = Turn.objects.unfinished().filter(
        pk__in=[claimed.turn.pk for claimed in claims], stop_requested_at__isnull=False
    )
    return held, set(stops.values_list("pk", flat=True))


def _outgoing_to_send() -> list[int]:
    delivery.settle_interrupted(processes.living())
    return delivery.due(SWEPT_OUTGOING)
