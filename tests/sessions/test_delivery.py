"""Sending from the rows: an answer that is stored leaves once, whenever it can."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import ClassVar

import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.core.events import Outcome
from sessions import delivery
from sessions.delivery import NotDelivered
from sessions.models import Outgoing
from sessions.turns import finishing, leases
from sessions.turns.finishing import Times
from sessions.turns.worker import Worker
from tests import factories
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Recorder:
    """A channel that records what it was given, and fails as often as it is told."""

    is_live = False
    sent: ClassVar[list[int]] = []
    failures: ClassVar[list[Exception]] = []
    hanging: ClassVar[set[int]] = set()

    async def send(self, outgoing: Outgoing) -> None:
        if outgoing.pk in self.hanging:
            await asyncio.Event().wait()
        if self.failures:
            raise self.failures.pop()
        self.sent.append(outgoing.pk)


@pytest.fixture
def recorder(settings: Settings) -> Iterator[type[Recorder]]:
    """Put the recorder in the web chat's place."""
    settings.QANOT_CHANNELS = {"webchat": f"{__name__}.Recorder"}
    delivery.sender_of.cache_clear()
    Recorder.sent.clear()
    Recorder.failures.clear()
    Recorder.hanging.clear()
    yield Recorder
    delivery.sender_of.cache_clear()


def test_case_restart_1_an_answer_stored_but_not_sent_leaves_once_after_a_restart(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    scene.say("Hello")
    claimed = leases.claim(scene.session.pk, worker_id=99)
    assert claimed is not None
    outgoing = finishing.finish(
        claimed, Outcome("answered", "Hi"), asked="Hello", times=Times(), time_zone="UTC"
    ).outgoing
    assert outgoing.state == Outgoing.State.QUEUED

    start_worker()
    wait_until(lambda: Outgoing.objects.get().state == Outgoing.State.SENT)
    assert recorder.sent == [outgoing.pk]


def test_case_restart_3_a_send_that_could_not_leave_is_tried_again_and_leaves_once(
    scene: Scene, recorder: type[Recorder], worker: Worker
) -> None:
    recorder.failures.extend([NotDelivered("away"), NotDelivered("away")])
    scene.fake.play("Hi")
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn) and Outgoing.objects.get().state == Outgoing.State.SENT)
    assert len(recorder.sent) == 1
    turn.refresh_from_db()
    assert turn.delivered_at is not None


def test_send_that_hangs_holds_no_other_conversation_up(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    scene.say("Hello")
    claimed = leases.claim(scene.session.pk, worker_id=99)
    assert claimed is not None
    hanging = finishing.finish(
        claimed, Outcome("answered", "Hi"), asked="Hello", times=Times(), time_zone="UTC"
    ).outgoing
    recorder.hanging.add(hanging.pk)
    start_worker()
    wait_until(lambda: Outgoing.objects.get().state == Outgoing.State.SENDING)

    scene.fake.play("Hi again")
    turn = scene.say("Again", session=scene.conversation("second")).turn
    wait_until(lambda: ended(turn), timeout_s=15)


def test_sent_answers_are_not_sent_again_by_a_new_worker(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    scene.fake.play(*["answer"] * 5)
    first = start_worker()
    turns = [scene.say(f"m{n}").turn for n in range(5)]
    wait_until(lambda: all(ended(turn) for turn in turns))
    wait_until(lambda: Outgoing.objects.filter(state=Outgoing.State.SENT).count() == 5)
    first.close()
    count = len(recorder.sent)
    second = start_worker()
    follower = scene.conversation("again")
    scene.fake.play("more")
    last = scene.say("one more", session=follower).turn
    wait_until(lambda: ended(last) and Outgoing.objects.get(turn=last).sent_at is not None)
    assert count == 5
    assert len(recorder.sent) == 6
    assert second.is_running


def test_send_that_broke_off_is_unknown_and_not_repeated(
    scene: Scene, recorder: type[Recorder], worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.failures.append(RuntimeError("connection lost after the request"))
    scene.fake.play("Hi")
    turn = scene.say("Hello").turn
    wait_until(lambda: ended(turn) and Outgoing.objects.get().state == Outgoing.State.UNKNOWN)
    follower = scene.say("Again", session=scene.conversation("second")).turn
    scene.fake.play("Hi again")
    wait_until(lambda: Outgoing.objects.filter(turn=follower, sent_at__isnull=False).exists())
    assert recorder.sent == [Outgoing.objects.get(turn=follower).pk]
    assert Outgoing.objects.get(turn=turn).error == "RuntimeError"


@pytest.mark.parametrize("channels", [{"webchat": f"{__name__}.Recorder"}, {}])
def test_send_whose_process_died_is_unknown(
    scene: Scene, recorder: type[Recorder], settings: Settings, channels: dict[str, str]
) -> None:
    scene.say("Hello")
    claimed = leases.claim(scene.session.pk, worker_id=99)
    assert claimed is not None
    outgoing = finishing.finish(
        claimed, Outcome("answered", "Hi"), asked="Hello", times=Times(), time_zone="UTC"
    ).outgoing
    long_ago = timezone.now() - timedelta(seconds=delivery.LONGEST_SEND_S + 1)
    Outgoing.objects.update(state=Outgoing.State.SENDING, tried_at=long_ago)
    settings.QANOT_CHANNELS = channels
    delivery.settle_interrupted()
    outgoing.refresh_from_db()
    assert outgoing.state == Outgoing.State.UNKNOWN


@pytest.mark.parametrize(
    ("channels", "state"),
    [
        (None, Outgoing.State.QUEUED),
        ({"webchat": f"{__name__}.Recorder"}, Outgoing.State.SENDING),
    ],
)
def test_a_live_send_is_repeated_after_a_lease_and_a_slow_one_has_its_time(
    scene: Scene,
    recorder: type[Recorder],
    settings: Settings,
    channels: dict[str, str] | None,
    state: str,
) -> None:
    outgoing = factories.outgoing(
        turn=factories.turn(session=scene.session),
        state=Outgoing.State.SENDING,
        tried_at=timezone.now() - timedelta(seconds=settings.QANOT_LEASE_S + 1),
    )
    settings.QANOT_CHANNELS = channels or {"webchat": "sessions.channels.live.LiveSender"}
    delivery.sender_of.cache_clear()
    delivery.settle_interrupted()
    outgoing.refresh_from_db()
    assert outgoing.state == state
