"""Sending from the rows: an answer that is stored leaves once, whenever it can."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.core.events import Outcome
from sessions import delivery, outbox
from sessions.delivery import NotDelivered, OutcomeUnknown, Undeliverable
from sessions.models import ChannelAccount, Outgoing, OutgoingPart
from sessions.turns import finishing, leases
from sessions.turns.finishing import Times
from sessions.turns.worker import Worker
from tests import factories
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


class Recorder:
    """A channel that records what it was given, and fails as often as it is told."""

    is_live = False
    # Rows with their parts, and whether they said that they come again.
    sent: ClassVar[list[tuple[int, int, bool]]] = []
    failures: ClassVar[list[Exception]] = []
    hanging: ClassVar[set[int]] = set()
    # Rows that are more than one part.
    counts: ClassVar[dict[int, int]] = {}

    def warm(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def open(self, outgoing: Outgoing) -> "RecordedLetter":
        return RecordedLetter(outgoing, self.counts.get(outgoing.pk, 1))


@dataclass
class RecordedLetter:
    outgoing: Outgoing
    count: int

    async def send(self, number: int, *, again: bool) -> str:
        if self.outgoing.pk in Recorder.hanging:
            await asyncio.Event().wait()
        if Recorder.failures:
            failure = Recorder.failures.pop(0)
            if failure is not NOTHING:
                raise failure
        Recorder.sent.append((self.outgoing.pk, number, again))
        return f"m{len(Recorder.sent)}"


# Stands among the failures for a send that works.
NOTHING = Exception()


def sent_rows() -> list[int]:
    return [pk for pk, _, _ in Recorder.sent]


@pytest.fixture
def recorder(settings: Settings) -> Iterator[type[Recorder]]:
    """Put the recorder in the web chat's place."""
    settings.QANOT_CHANNELS = {"webchat": f"{__name__}.Recorder"}
    delivery.sender_of.cache_clear()
    Recorder.sent.clear()
    Recorder.failures.clear()
    Recorder.hanging.clear()
    Recorder.counts.clear()
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
    assert sent_rows() == [outgoing.pk]


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
    assert sent_rows() == [Outgoing.objects.get(turn=follower).pk]
    assert Outgoing.objects.get(turn=turn).error == "RuntimeError"


@dataclass(frozen=True)
class Interrupted:
    """How a send was when its process died, and what becomes of it."""

    policy: str
    part: str | None
    knows_channel: bool
    state: str


@pytest.mark.parametrize(
    "case",
    [
        Interrupted("resend", "sending", True, Outgoing.State.QUEUED),
        Interrupted("hold", "sending", True, Outgoing.State.UNKNOWN),
        # Nothing was on its way.
        Interrupted("hold", "sent", True, Outgoing.State.QUEUED),
        Interrupted("hold", None, True, Outgoing.State.QUEUED),
        Interrupted("resend", "sending", False, Outgoing.State.UNKNOWN),
    ],
)
def test_send_whose_process_died_is_settled_as_the_account_says(
    recorder: type[Recorder], settings: Settings, case: Interrupted
) -> None:
    outgoing = factories.outgoing(state=Outgoing.State.SENDING, tried_at=timezone.now(), sent_by=7)
    ChannelAccount.objects.update(unknown_policy=case.policy)
    if case.part:
        factories.outgoing_part(outgoing=outgoing, state=case.part)
    if not case.knows_channel:
        settings.QANOT_CHANNELS = {}
        Outgoing.objects.update(tried_at=timezone.now() - timedelta(minutes=10))
    delivery.settle_interrupted(living={7})
    outgoing.refresh_from_db()
    if case.knows_channel:
        assert outgoing.state == Outgoing.State.SENDING
    delivery.settle_interrupted(living={8})
    outgoing.refresh_from_db()
    assert outgoing.state == case.state
    if case.part == "sending":
        assert outgoing.parts.get().state == Outgoing.State.UNKNOWN


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


def in_chat(peer: str, count: int = 1, **given: object) -> list[int]:
    """Queue rows for one chat of the same account."""
    account = ChannelAccount.objects.first()
    made = []
    for _ in range(count):
        turn = factories.turn()
        made.append(factories.outgoing(turn=turn, account=account, peer=peer, **given).pk)
    return made


def states(rows: Sequence[int]) -> list[str]:
    return list(Outgoing.objects.filter(pk__in=rows).order_by("pk").values_list("state", flat=True))


def test_a_chats_rows_leave_in_order_and_a_limited_chat_holds_no_other_up(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    limited = in_chat("1", 2)
    recorder.failures.append(NotDelivered("429", retry_after_s=30))
    start_worker()
    wait_until(lambda: Outgoing.objects.filter(not_before__isnull=False).exists())
    others = [pk for peer in "234" for pk in in_chat(peer, 3)]
    wait_until(lambda: set(states(others)) == {"sent"})
    assert states(limited) == ["queued", "queued"]
    for peer in range(3):
        of_chat = others[peer * 3 : peer * 3 + 3]
        assert [pk for pk in sent_rows() if pk in of_chat] == of_chat

    # Its moment comes: both leave, in order.
    Outgoing.objects.filter(pk__in=limited).update(not_before=None)
    wait_until(lambda: set(states(limited)) == {"sent"})
    assert [pk for pk in sent_rows() if pk in limited] == limited


def test_a_row_goes_on_at_the_part_that_is_missing(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    (row,) = in_chat("1")
    recorder.counts[row] = 3
    recorder.failures.extend([NOTHING, NotDelivered("429", retry_after_s=0.05)])
    start_worker()
    wait_until(lambda: states([row]) == ["sent"])
    assert recorder.sent == [(row, 1, False), (row, 2, False), (row, 3, False)]
    parts = OutgoingPart.objects.filter(outgoing=row).order_by("number")
    assert [(part.external_id, part.attempts) for part in parts] == [
        ("m1", 1),
        # What never left is no attempt.
        ("m2", 1),
        ("m3", 1),
    ]


def test_a_send_of_unknown_outcome_comes_again_marked_and_is_held_after_three(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    rows = in_chat("1", 2)
    recorder.failures.append(OutcomeUnknown("HTTP 502"))
    start_worker()
    wait_until(lambda: set(states(rows)) == {"sent"})
    assert recorder.sent == [(rows[0], 1, True), (rows[1], 1, False)]

    recorder.failures.extend(OutcomeUnknown("HTTP 502") for _ in range(3))
    (row,) = in_chat("1")
    wait_until(lambda: states([row]) == ["unknown"])
    assert recorder.failures == []


def test_a_limit_after_an_unknown_outcome_does_not_make_it_forgotten(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    (row,) = in_chat("1")
    recorder.failures.extend([OutcomeUnknown("HTTP 502"), NotDelivered("429", retry_after_s=0.05)])
    start_worker()
    wait_until(lambda: states([row]) == ["sent"])
    assert recorder.sent == [(row, 1, True)]


def test_what_failed_after_an_unknown_outcome_comes_marked_when_it_is_sent_anew(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    (row,) = in_chat("1")
    recorder.failures.extend([OutcomeUnknown("HTTP 502"), Undeliverable("blocked")])
    start_worker()
    wait_until(lambda: states([row]) == ["failed"])
    outbox.send_again(Outgoing.objects.get(pk=row), by=factories.user())
    wait_until(lambda: states([row]) == ["sent"])
    assert recorder.sent == [(row, 1, True)]


def test_limits_are_no_sends_of_unknown_outcome(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    (row,) = in_chat("1")
    limits = [NotDelivered("429", retry_after_s=0.05) for _ in range(delivery.MOST_SENDS)]
    recorder.failures.extend([*limits, OutcomeUnknown("HTTP 502")])
    start_worker()
    wait_until(lambda: states([row]) == ["sent"])
    assert recorder.sent == [(row, 1, True)]
    assert OutgoingPart.objects.get(outgoing=row).attempts == 2


def test_a_send_of_unknown_outcome_is_held_where_the_account_says_so_and_holds_nothing_up(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    ChannelAccount.objects.update(unknown_policy="hold")
    rows = in_chat("1", 2)
    recorder.failures.append(OutcomeUnknown("time-out"))
    start_worker()
    wait_until(lambda: states(rows) == ["unknown", "sent"])
    assert sent_rows() == rows[1:]

    outbox.send_again(Outgoing.objects.get(pk=rows[0]), by=factories.user())
    wait_until(lambda: states(rows) == ["sent", "sent"])
    assert recorder.sent[-1] == (rows[0], 1, True)


def test_what_can_never_leave_fails_with_its_reason_and_is_not_tried_again(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    rows = in_chat("1", 2)
    recorder.failures.append(Undeliverable("blocked"))
    start_worker()
    wait_until(lambda: states(rows) == ["failed", "sent"])
    failed = Outgoing.objects.get(pk=rows[0])
    assert (failed.error, failed.attempts) == ("blocked", 1)
    assert failed.parts.get().state == Outgoing.State.FAILED


def test_a_hanging_send_lets_the_same_sessions_next_turn_run_and_its_answer_wait(
    scene: Scene,
    recorder: type[Recorder],
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = threading.Event()

    async def wait(self: RecordedLetter, number: int, *, again: bool) -> str:
        await asyncio.to_thread(gate.wait, 60)
        Recorder.sent.append((self.outgoing.pk, number, again))
        return ""

    monkeypatch.setattr(RecordedLetter, "send", wait)
    scene.fake.play("one", "two")
    turns = [scene.say("Hello").turn]
    wait_until(lambda: ended(turns[0]))
    turns.append(scene.say("Again").turn)
    wait_until(lambda: ended(turns[1]))
    assert states([row.pk for row in Outgoing.objects.all()]) == ["sending", "queued"]
    gate.set()
    wait_until(lambda: Outgoing.objects.filter(state="sent").count() == 2)
    assert sent_rows() == [Outgoing.objects.get(turn=turn).pk for turn in turns]


def test_case_telegram_outbound_1_twenty_sent_rows_are_not_sent_again(
    scene: Scene, recorder: type[Recorder], start_worker: Callable[[], Worker]
) -> None:
    sent = in_chat("1", 20, state=Outgoing.State.SENT, sent_at=timezone.now())
    start_worker().close()
    start_worker()
    (new,) = in_chat("1")
    wait_until(lambda: states([new]) == ["sent"])
    assert sent_rows() == [new]
    assert set(states(sent)) == {"sent"}


def test_what_could_not_leave_for_days_is_given_up(recorder: type[Recorder]) -> None:
    outgoing = factories.outgoing(
        state=Outgoing.State.SENDING,
        created_at=timezone.now() - delivery.KEPT_TRYING - timedelta(minutes=1),
    )
    delivery.put_back(outgoing, None, NotDelivered("away"))
    outgoing.refresh_from_db()
    assert (outgoing.state, outgoing.error) == (Outgoing.State.FAILED, "expired")
