"""A turn that waits for more messages runs at its moment: not earlier, and not at a sweep."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from sessions import inbox
from sessions.errors import NotDue
from sessions.inbox import Inbound
from sessions.models import Turn
from sessions.turns import leases, stopping
from sessions.turns.worker import Worker
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def say(scene: Scene, text: str, *, pause_s: float) -> Turn:
    inbound = Inbound(
        text=text, sender="person:1", external_id=text, person=scene.person, pause_s=pause_s
    )
    return inbox.accept(inbound, session=scene.session, join=True).turn


def put(turn: Turn, **columns: object) -> None:
    Turn.objects.filter(pk=turn.pk).update(**columns)


def test_turn_that_is_not_due_is_neither_free_nor_claimed(scene: Scene) -> None:
    turn = say(scene, "Hello", pause_s=20)
    assert leases.free_sessions(10) == []
    with pytest.raises(NotDue) as early, transaction.atomic():
        leases.claim(scene.session.pk, worker_id=1)
    assert 15 < early.value.wait_s <= 20
    scene.session.refresh_from_db()
    assert scene.session.lease_token is None
    put(turn, not_before=timezone.now() - timedelta(milliseconds=1))
    assert leases.free_sessions(10) == [scene.session.pk]
    assert leases.claim(scene.session.pk, worker_id=1) is not None


def test_turn_behind_one_that_runs_waits_for_its_place_and_its_moment(scene: Scene) -> None:
    first = scene.say("first").turn
    put(say(scene, "second", pause_s=20), not_before=timezone.now() + timedelta(hours=1))
    assert leases.free_sessions(10) == [scene.session.pk]
    put(first, state=Turn.State.ANSWERED)
    assert leases.free_sessions(10) == []


def test_turn_that_is_to_stop_waits_no_longer(scene: Scene) -> None:
    stopping.request(say(scene, "Hello", pause_s=20))
    assert leases.free_sessions(10) == [scene.session.pk]


def test_worker_comes_back_at_the_moment_without_a_sweep(
    scene: Scene, start_worker: Callable[[], Worker], settings: Settings
) -> None:
    settings.QANOT_SWEEP_S = 3600
    worker = start_worker()
    scene.fake.play("All three")
    turn = say(scene, "a", pause_s=0.3)
    # The bell's task ends at once: no thread is held while the turn waits.
    worker.run_session(scene.session.pk)
    say(scene, "b", pause_s=0.3)
    say(scene, "c", pause_s=0.3)
    worker.run_session(scene.session.pk)
    wait_until(lambda: ended(turn))
    assert turn.claimed_at is not None
    assert turn.not_before is not None
    late = turn.claimed_at - turn.not_before
    assert timedelta(0) <= late + timedelta(milliseconds=20)
    assert len(scene.fake.requests) == 1


def test_follow_up_that_waits_is_answered_after_the_turn_that_ran(
    scene: Scene, start_worker: Callable[[], Worker], settings: Settings
) -> None:
    settings.QANOT_SWEEP_S = 3600
    worker = start_worker()
    scene.fake.play("one", "two")
    first = scene.say("first").turn
    second = say(scene, "second", pause_s=0.3)
    worker.run_session(scene.session.pk)
    wait_until(lambda: ended(first) and ended(second))
    assert (first.state, second.state) == (Turn.State.ANSWERED, Turn.State.ANSWERED)


def test_worker_that_closes_leaves_what_waits_to_the_next(
    scene: Scene, start_worker: Callable[[], Worker]
) -> None:
    worker = start_worker()
    turn = say(scene, "Hello", pause_s=20)
    worker.run_session(scene.session.pk)
    worker.close()
    put(turn, not_before=timezone.now())
    scene.fake.play("Hi")
    start_worker()
    wait_until(lambda: ended(turn))
    assert (turn.attempt, turn.orphaned) == (1, 0)
