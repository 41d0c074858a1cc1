"""The right to run a session's turns: one holder, fenced, and free when its process is gone."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.conf import settings
from django.utils import timezone

from agents.core.errors import LeaseLost
from agents.core.events import Outcome
from sessions.models import ChatSession, Turn
from sessions.turns import finishing, freeze, leases
from sessions.turns.finishing import Times
from sessions.turns.worker import Worker
from tests.fakes.script import Say, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def living(worker_id: int) -> Iterator[None]:
    """Hold a worker's lock, as its process does while it lives."""
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s, %s)", [leases.WORKER_LOCKS, worker_id])
        yield


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the names of what was logged, in order."""
    return [record.msg["event"] for record in caplog.records if isinstance(record.msg, dict)]


def run_out(scene: Scene) -> None:
    ChatSession.objects.update(leased_until=timezone.now() - timedelta(seconds=1))


def test_session_is_one_workers_at_a_time(scene: Scene) -> None:
    scene.say("Hello")
    with living(1):
        assert leases.claim(scene.session.pk, worker_id=1) is not None
        assert leases.claim(scene.session.pk, worker_id=2) is None
        assert leases.free_sessions(10) == []


def test_session_of_a_process_that_died_is_free_at_once(scene: Scene) -> None:
    turn = scene.say("Hello").turn
    with living(1):
        leases.claim(scene.session.pk, worker_id=1)
    wait_until(lambda: leases.free_sessions(10) == [scene.session.pk])
    with living(2):
        claimed = leases.claim(scene.session.pk, worker_id=2)
    assert claimed is not None
    assert (claimed.turn.pk, claimed.turn.attempt, claimed.turn.orphaned) == (turn.pk, 2, 1)


def test_lease_is_renewed_by_the_databases_clock(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.say("Hello")
    an_hour_ago = timezone.now() - timedelta(hours=1)
    with living(1):
        claimed = leases.claim(scene.session.pk, worker_id=1)
        assert claimed is not None
        monkeypatch.setattr(timezone, "now", lambda: an_hour_ago)
        lost = replace(claimed, token=uuid.uuid4())
        assert leases.renew([claimed, lost]) == {claimed.token}
        assert leases.free_sessions(10) == []


def test_worker_that_slept_past_its_lease_writes_nothing(scene: Scene) -> None:
    turn = scene.say("Hello").turn
    with living(1), living(2):
        slept = leases.claim(scene.session.pk, worker_id=1)
        assert slept is not None
        run_out(scene)
        assert leases.claim(scene.session.pk, worker_id=2) is not None
        with pytest.raises(LeaseLost):
            finishing.finish(
                slept, Outcome("answered", "late"), asked="Hello", times=Times(), time_zone="UTC"
            )
    turn.refresh_from_db()
    assert turn.state == Turn.State.RUNNING
    assert not turn.entries.exists()


def test_turn_orphaned_twice_runs_in_quarantine_alone_and_fails_after_three(scene: Scene) -> None:
    first, second = scene.session, scene.conversation("second")
    scene.say("poison", session=first)
    scene.say("poison too", session=second)
    with living(1):
        for _ in range(2):
            assert leases.claim(first.pk, worker_id=1) is not None
            assert leases.claim(second.pk, worker_id=1) is not None
            run_out(scene)
        # Both were orphaned twice by now: only one is let in.
        held = leases.claim(first.pk, worker_id=1)
        assert held is not None
        assert held.turn.quarantine_attempts == 1
        assert leases.claim(second.pk, worker_id=1) is None
        for attempt in (2, 3):
            run_out(scene)
            again = leases.claim(first.pk, worker_id=1)
            assert again is not None
            assert (again.turn.quarantine_attempts, again.is_exhausted) == (attempt, False)
        run_out(scene)
        last = leases.claim(first.pk, worker_id=1)
        assert last is not None
        assert last.is_exhausted


def test_exhausted_turn_fails_with_words_and_the_queue_goes_on(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    turn = scene.say("poison").turn
    Turn.objects.filter(pk=turn.pk).update(
        state=Turn.State.RUNNING, orphaned=4, quarantine_attempts=3, attempt=5
    )
    follower = scene.say("Hello?").turn
    scene.fake.play("I am here")
    start_worker()
    wait_until(lambda: ended(turn) and ended(follower))
    assert (turn.state, follower.state) == (Turn.State.FAILED, Turn.State.ANSWERED)
    assert turn.notice is not None
    assert turn.notice["code"] == "crashed"


def test_turn_whose_prompt_cannot_be_made_ends_with_words_and_the_queue_goes_on(
    scene: Scene, start_worker: Callable[[], Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = scene.say("poison").turn
    prepare = freeze.prepare

    def stumble(claimed: leases.Claimed) -> freeze.Prepared:
        if claimed.turn.pk == turn.pk:
            raise RuntimeError("no prompt for this one")
        return prepare(claimed)

    monkeypatch.setattr(freeze, "prepare", stumble)
    follower = scene.say("Hello?").turn
    scene.fake.play("I am here")
    start_worker()
    wait_until(lambda: ended(turn) and ended(follower))
    assert (turn.state, follower.state) == (Turn.State.FAILED, Turn.State.ANSWERED)
    assert turn.notice is not None
    assert turn.notice["code"] == "crashed"


def test_case_stop_3_an_orphan_counts_as_recovered_only_when_it_has_ended(
    scene: Scene, start_worker: Callable[[], Worker], caplog: pytest.LogCaptureFixture
) -> None:
    turn = scene.say("Hello").turn
    with living(99):
        leases.claim(scene.session.pk, worker_id=99)
        run_out(scene)
    scene.fake.play(answer(Say("slowly " * 10, chunks=10, interval_s=0.05)), "And hello again")
    start_worker()
    follower = scene.say("Still there?").turn
    wait_until(lambda: ended(turn) and ended(follower))
    assert (turn.state, turn.orphaned) == (Turn.State.ANSWERED, 1)
    wait_until(lambda: "turn.recovered" in events(caplog))
    seen = events(caplog)
    assert seen.index("turn.orphaned") < seen.index("text.first") < seen.index("turn.recovered")


def test_two_workers_share_sessions_and_answer_each_message_once(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    scene.fake.rule = lambda request: answer("done")
    start_worker()
    start_worker()
    turns = [scene.say(f"m{n}", session=scene.conversation(f"t{n % 5}")).turn for n in range(30)]
    wait_until(lambda: all(ended(turn) for turn in turns), timeout_s=20)
    assert len(scene.fake.requests) == 30
    assert all(turn.entries.count() == 2 for turn in turns)
