"""An operator ends a turn or has it tried again, once, and both are written down."""

from collections.abc import Callable

import pytest
from django.db import connection

from agents import doorbell
from agents.models import AuditEvent, User
from memory.models import WalEntry
from sessions import bells, operating
from sessions.errors import AlreadyAnswered, NothingLeftToAsk, NotOver
from sessions.models import ChatSession, Content, InboundMessage, TranscriptEntry, Turn
from sessions.operating import Ended
from sessions.turns import leases
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import Say, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def operator(scene: Scene) -> User:
    return factories.user(username="operator")


def failed(scene: Scene, text: str = "Hello") -> Turn:
    """Return a turn that somebody ended before any worker had it."""
    turn = scene.say(text).turn
    assert operating.end(turn.pk, by=factories.user()) == Ended.ENDED
    turn.refresh_from_db()
    return turn


def acts() -> list[tuple[str, str]]:
    rows = AuditEvent.objects.filter(action__startswith="turn.").order_by("id")
    return list(rows.values_list("action", "subject"))


def test_turn_that_nobody_works_on_ends_as_failed_and_is_told(scene: Scene, operator: User) -> None:
    turn = scene.say("Hello").turn
    assert operating.end(turn.pk, by=operator) == Ended.ENDED
    turn.refresh_from_db()
    assert turn.state == Turn.State.FAILED
    assert turn.notice is not None
    assert turn.notice["code"] == "ended_by_operator"
    assert turn.messages.get().status == InboundMessage.Status.ANSWERED
    assert turn.outgoing.state == "queued"
    assert TranscriptEntry.objects.filter(turn=turn).count() == 1
    assert ChatSession.objects.get(pk=scene.session.pk).lease_token is None
    assert acts() == [("turn.ended", turn.ref)]
    assert AuditEvent.objects.get(action="turn.ended").actor == f"user:{operator.pk}"


def test_who_asked_is_told_at_once(
    scene: Scene, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = scene.say("Hello").turn
    rung: list[tuple[str, int]] = []
    monkeypatch.setattr(doorbell, "ring", lambda task, *args: rung.append((task, *args)))
    operating.end(turn.pk, by=operator)
    assert (bells.SEND, turn.outgoing.pk) in rung


def test_ending_twice_changes_nothing(scene: Scene, operator: User) -> None:
    turn = failed(scene)
    assert operating.end(turn.pk, by=operator) == Ended.WAS_OVER
    assert len(acts()) == 1
    assert leases.free_sessions(10) == []


def test_running_turn_is_stopped_by_its_worker(
    scene: Scene, worker: Worker, operator: User
) -> None:
    scene.fake.play(answer(Say("word " * 100, chunks=100, interval_s=0.05)))
    turn = scene.say("Count").turn
    wait_until(lambda: bool(scene.fake.requests) and scene.fake.last.first_sent_at_ns is not None)
    assert operating.end(turn.pk, by=operator) == Ended.ASKED
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.STOPPED


def test_retried_turn_asks_the_same_again_and_doubles_nothing(
    scene: Scene, start_worker: Callable[[], Worker], operator: User
) -> None:
    turn = failed(scene, "Remember that the gate opens at nine")
    contents, facts = Content.objects.count(), WalEntry.objects.count()
    first, second = (operating.retry(turn.pk, by=operator) for _ in range(2))
    assert (first.is_new, second.is_new) == (True, False)
    assert first.turn.pk == second.turn.pk != turn.pk
    assert (Content.objects.count(), WalEntry.objects.count()) == (contents, facts)
    assert ("turn.retried", turn.ref) in acts()
    scene.fake.play("Noted.")
    start_worker()
    again = first.turn
    wait_until(lambda: ended(again))
    assert again.state == Turn.State.ANSWERED
    assert again.viewer.person_id == scene.person.pk
    assert again.is_private


def test_retried_message_comes_with_what_it_came_with(scene: Scene, operator: User) -> None:
    turn = failed(scene)
    context = factories.content(team=scene.agent.team, text="[#1 sticker]")
    message = turn.messages.get()
    InboundMessage.objects.update(context=context, author_name="Ann", channel_message_id="7")
    for number, state in enumerate(("fetched", "failed"), start=1):
        factories.attachment(message=message, number=number, state=state, error="too_large")
    again = operating.retry(turn.pk, by=operator).turn.messages.get()
    assert (again.context, again.author_name, again.channel_message_id) == (context, "Ann", "7")
    assert [(each.number, each.state) for each in again.attachments.order_by("number")] == [
        (1, "fetched"),
        (2, "waiting"),
    ]
    assert message.attachments.count() == 2


def test_what_still_waits_or_has_its_answer_is_not_retried(scene: Scene, operator: User) -> None:
    turn = scene.say("Hello").turn
    with pytest.raises(NotOver):
        operating.retry(turn.pk, by=operator)
    Turn.objects.update(state=Turn.State.ANSWERED)
    with pytest.raises(AlreadyAnswered):
        operating.retry(turn.pk, by=operator)


def test_erased_messages_are_not_asked_again(scene: Scene, operator: User) -> None:
    turn = failed(scene)
    with connection.cursor() as cursor:
        for content in Content.objects.all():
            cursor.execute("SELECT qanot_erase_content(%s, 'user:1', 'asked')", [content.pk])
    with pytest.raises(NothingLeftToAsk):
        operating.retry(turn.pk, by=operator)
