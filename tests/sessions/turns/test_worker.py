"""A worker process: known to PostgreSQL for as long as it lives, and gone in good order."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.db import transaction
from pytest_django import Settings

from agents import sql
from sessions.channels.telegram.sending import TelegramSender
from sessions.models import ChatSession, Turn, WorkerProcess
from sessions.turns import leases
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import Silence, answer
from tests.sessions.conftest import Scene, ended, somebody_waits_for_a_lock, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def holders() -> list[sql.Row]:
    """Return the connections that hold the newest worker's lock, by their own names."""
    statement = """
        SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %s AND l.objid = %s
            AND a.datname = current_database()
    """
    return sql.fetch(statement, [leases.WORKER_LOCKS, WorkerProcess.objects.latest("id").pk])


def test_lock_is_held_over_a_connection_with_all_that_the_settings_say(worker: Worker) -> None:
    assert holders() == [("qanot",)]


def test_worker_whose_broken_connection_still_holds_its_lock_works_all_the_same(
    scene: Scene, start_worker: Callable[[], Worker], settings: Settings
) -> None:
    number = WorkerProcess.objects.create(name="the one before").pk + 1
    scene.fake.play("Hi")
    turn = scene.say("Hello").turn
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as old:
        old.execute("SELECT pg_advisory_lock(%s, %s)", [leases.WORKER_LOCKS, number])
        start_worker()
        wait_until(lambda: ended(turn))
    wait_until(lambda: holders() == [("qanot",)])


def test_lock_whose_connection_broke_is_taken_again_by_the_next_heartbeat(
    start_worker: Callable[[], Worker], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.QANOT_HEARTBEAT_S = 3.0
    start_worker()
    statement = """
        SELECT pg_terminate_backend(l.pid) FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = %s AND l.objid = %s
    """
    assert sql.fetch(statement, [leases.WORKER_LOCKS, WorkerProcess.objects.get().pk]) == [(True,)]
    wait_until(lambda: "process.lock_lost" in caplog.text)
    wait_until(lambda: holders() == [("qanot",)], timeout_s=2.5)


def test_workers_that_lost_their_locks_do_not_take_each_others_turns(
    scene: Scene, start_worker: Callable[[], Worker], settings: Settings
) -> None:
    """As after PostgreSQL restarted, before the next heartbeat."""
    settings.QANOT_HEARTBEAT_S, settings.QANOT_SWEEP_S = 30.0, 0.05
    scene.fake.play(answer("Here ", Silence(0.5), "I am."))
    start_worker()
    start_worker()
    # Of this database alone: other tests run beside this one.
    terminate = """
        SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.classid = %s AND a.datname = current_database()
    """
    assert len(sql.fetch(terminate, [leases.WORKER_LOCKS])) == 2
    turn = scene.say("Where are you?").turn
    wait_until(Turn.objects.filter(pk=turn.pk, state=Turn.State.ANSWERED).exists)
    turn.refresh_from_db()
    assert (turn.attempt, turn.orphaned) == (1, 0)


def test_channel_that_is_connected_while_a_worker_runs_is_ready_for_its_first_answer(
    start_worker: Callable[[], Worker], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.QANOT_SWEEP_S = 0.05
    warmed: list[TelegramSender] = []
    monkeypatch.setattr(TelegramSender, "warm", lambda sender: warmed.append(sender))
    start_worker()
    factories.telegram_account()
    wait_until(lambda: len(warmed) == 1)


def test_worker_has_loaded_what_turns_need_before_it_may_claim_one(
    scene: Scene, start_worker: Callable[[], Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.fake.play(answer("Hello."))
    turn = scene.say("Hello").turn
    factories.telegram_account()
    states: list[str] = []

    def load(sender: TelegramSender) -> None:
        # Two heartbeats' time, in which nothing may be held that could run out.
        time.sleep(0.2)
        states.append(Turn.objects.get(pk=turn.pk).state)

    monkeypatch.setattr(TelegramSender, "warm", load)
    start_worker()
    assert states == [Turn.State.QUEUED]
    wait_until(Turn.objects.filter(pk=turn.pk, state=Turn.State.ANSWERED).exists)


def test_turn_that_is_claimed_while_the_worker_closes_is_handed_back(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    turn = scene.say("Hello").turn
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            ChatSession.objects.select_for_update().get(pk=scene.session.pk)
            worker = start_worker()
            wait_until(somebody_waits_for_a_lock)
            closing = pool.submit(worker.close)
            # Long enough for everything that does not wait for the claim.
            end = time.monotonic() + 0.5
            wait_until(lambda: closing.done() or time.monotonic() > end)
        closing.result()
    wait_until(Turn.objects.filter(pk=turn.pk, attempt=1).exists)
    turn.refresh_from_db()
    scene.session.refresh_from_db()
    assert (turn.state, turn.orphaned) == (Turn.State.QUEUED, 0)
    assert scene.session.lease_token is None
