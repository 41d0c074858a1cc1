"""Messages that join a turn which waits, and those that must not."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents.models import Person
from sessions import conversations, inbox, resets
from sessions.inbox import Accepted, Inbound
from sessions.models import ChatSession, Generation, InboundMessage, Turn
from sessions.turns import stopping
from tests import factories

pytestmark = pytest.mark.django_db


def group() -> ChatSession:
    account = factories.telegram_account()
    assert account.agent is not None
    room = factories.chat(team=account.team)
    return conversations.open_group(agent=account.agent, account=account, chat=room)


def inbound(text: str, *, sender: str = "telegram:1", **given: Any) -> Inbound:
    """Return a message; Any: its fields."""
    made = Inbound(text=text, sender=sender, external_id=uuid.uuid4().hex, person=None, pause_s=3)
    return replace(made, **given)


def say(session: ChatSession, text: str = "Hello", *, join: bool = True, **given: Any) -> Accepted:
    return inbox.accept(inbound(text, **given), session=session, join=join)


def test_messages_of_one_person_join_the_turn_that_nobody_claimed() -> None:
    session = group()
    made = [say(session, text).turn.pk for text in "abc"]
    assert len(set(made)) == 1
    messages = InboundMessage.objects.order_by("pk")
    assert [message.content.text for message in messages] == ["a", "b", "c"]


def test_each_message_puts_the_turn_off_but_thirty_seconds_in_all() -> None:
    session = group()
    turn = say(session).turn
    first = Turn.objects.get().not_before
    assert first is not None
    assert timedelta(seconds=2) < first - turn.accepted_at < timedelta(seconds=4)
    Turn.objects.update(accepted_at=turn.accepted_at - timedelta(seconds=29))
    say(session)
    put_off = Turn.objects.get().not_before
    assert put_off is not None
    assert put_off <= turn.accepted_at + timedelta(seconds=3.1)
    Turn.objects.update(accepted_at=turn.accepted_at - timedelta(minutes=10))
    say(session)
    assert Turn.objects.get().not_before == put_off


def test_without_a_pause_nothing_waits_and_without_joining_nothing_joins() -> None:
    session = group()
    assert say(session, pause_s=0).turn.not_before is None
    assert say(session, pause_s=0, join=False).is_new
    assert Turn.objects.count() == 2


def test_authors_are_never_mixed() -> None:
    session = group()
    say(session, "mine")
    say(session, "hers", sender="telegram:2")
    say(session, "mine again")
    assert [list(turn.messages.values_list("sender", flat=True)) for turn in in_order()] == [
        ["telegram:1"],
        ["telegram:2"],
        ["telegram:1"],
    ]


def in_order() -> list[Turn]:
    return list(Turn.objects.order_by("pk"))


@pytest.mark.parametrize(
    "columns",
    [
        {"state": Turn.State.RUNNING, "attempt": 1},
        {"state": Turn.State.ANSWERED, "attempt": 1},
        # Handed back: the prompt of its first attempt is decided.
        {"state": Turn.State.QUEUED, "attempt": 1},
    ],
)
def test_turn_that_a_worker_saw_takes_no_more_messages(columns: dict[str, Any]) -> None:
    session = group()
    say(session)
    Turn.objects.update(**columns)
    say(session)
    assert Turn.objects.count() == 2


def test_turn_that_is_to_stop_takes_no_more_messages() -> None:
    session = group()
    stopping.request(say(session).turn)
    say(session)
    assert Turn.objects.count() == 2


def test_message_after_a_reset_begins_anew() -> None:
    session = group()
    say(session)
    resets.open_generation(session, "command:new")
    say(session)
    assert [turn.generation for turn in in_order()] == list(Generation.objects.order_by("pk"))


def test_turn_of_no_message_is_joined_by_none() -> None:
    session = group()
    factories.turn(session=session)
    say(session)
    assert Turn.objects.count() == 2


def test_message_that_comes_twice_joins_once() -> None:
    session = group()
    same = inbound("a")
    assert inbox.accept(same, session=session, join=True).is_new
    assert not inbox.accept(same, session=session, join=True).is_new
    assert InboundMessage.objects.count() == Turn.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_messages_at_once_make_one_turn() -> None:
    session = group()

    def deliver(n: int) -> int:
        try:
            return say(ChatSession.objects.get(pk=session.pk), f"message {n}").turn.pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(deliver, range(24)))
    assert len(made) == 1


def test_private_conversation_follows_its_person_to_another_name() -> None:
    account = factories.telegram_account()
    assert account.agent is not None
    one, other = (factories.person(team=account.team) for _ in range(2))

    def opened(person: Person) -> ChatSession:
        assert account.agent is not None
        return conversations.open_private(
            agent=account.agent, account=account, person=person, peer="501"
        )

    assert opened(one) == opened(other)
    assert ChatSession.objects.get().person == other


def test_said_at_is_kept_and_never_later_than_now() -> None:
    session = group()
    long_ago = timezone.now() - timedelta(hours=3)
    assert say(session, said_at=long_ago).message.received_at == long_ago
    tomorrow = timezone.now() + timedelta(days=1)
    assert say(session, said_at=tomorrow).message.received_at <= timezone.now()
