"""Taking in messages: once each, checked, and never waiting for Redis."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from memory.models import WalEntry
from sessions.errors import EmptyMessage, KeyReused, MessageTooLong
from sessions.inbox import MAX_CHARACTERS
from sessions.models import ChatSession, Content, InboundMessage, Turn
from tests import factories
from tests.sessions.conftest import Scene, somebody_waits_for_a_lock, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_message_delivered_a_hundred_times_at_once_makes_one_turn(scene: Scene) -> None:
    def deliver(_: int) -> int:
        try:
            return scene.say("My name is Bobur", key="m-1").turn.pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        turns = set(pool.map(deliver, range(100)))
    assert len(turns) == 1
    assert InboundMessage.objects.count() == Turn.objects.count() == Content.objects.count() == 1
    assert WalEntry.objects.count() == 1


def test_second_delivery_gives_what_the_first_noted(scene: Scene) -> None:
    first = scene.say("My name is Bobur", key="m-1")
    second = scene.say("My name is Bobur", key="m-1")
    assert (first.is_new, second.is_new) == (True, False)
    assert [entry.pk for entry in second.noted] == [entry.pk for entry in first.noted] != []


def test_of_messages_at_once_the_one_that_commits_first_has_the_lower_turn(scene: Scene) -> None:
    def deliver() -> int:
        try:
            return scene.say("second").turn.pk
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            # As far as another message's acceptance has come that is not committed yet.
            ChatSession.objects.select_for_update().get(pk=scene.session.pk)
            second = pool.submit(deliver)
            wait_until(somebody_waits_for_a_lock)
            first = factories.turn(session=scene.session)
        assert first.pk < second.result()


def test_same_key_with_another_body_is_refused(scene: Scene) -> None:
    scene.say("one", key="m-1")
    with pytest.raises(KeyReused):
        scene.say("two", key="m-1")
    with pytest.raises(KeyReused):
        scene.say("one", key="m-1", session=scene.conversation("other"))
    assert InboundMessage.objects.count() == 1


@pytest.mark.parametrize("text", ["", "  ", "\n\t ", "\x00"])
def test_message_without_words_makes_no_turn(scene: Scene, text: str) -> None:
    with pytest.raises(EmptyMessage):
        scene.say(text)
    assert not Turn.objects.exists()


def test_message_beyond_the_limit_is_refused_with_the_limit(scene: Scene) -> None:
    with pytest.raises(MessageTooLong) as refused:
        scene.say("x" * (MAX_CHARACTERS + 1))
    assert refused.value.limit == MAX_CHARACTERS


def test_text_that_no_database_holds_is_cleaned(scene: Scene) -> None:
    turn = scene.say("a\x00b \ud800c").turn
    assert turn.messages.get().content.text == "ab ?c"


def test_first_message_names_the_conversation(scene: Scene) -> None:
    scene.say("What is   the\nplan for " + "x" * 100)
    scene.session.refresh_from_db()
    assert scene.session.title.startswith("What is the plan for xxx")
    assert len(scene.session.title) <= 60


def test_secret_in_the_first_message_is_masked_in_the_title(scene: Scene) -> None:
    accepted = scene.say("My password is hunter2!x and it must stay mine")
    scene.session.refresh_from_db()
    assert "hunter2" not in scene.session.title
    assert "hunter2!x" in accepted.message.content.text


def test_title_that_was_given_meanwhile_is_kept(scene: Scene) -> None:
    ChatSession.objects.filter(pk=scene.session.pk).update(title="Office hours")
    scene.say("When does it open?")
    assert scene.session.title == "Office hours"
    scene.session.refresh_from_db()
    assert scene.session.title == "Office hours"


def test_redis_that_is_away_does_not_hold_up_a_message(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object, **__: object) -> None:
        time.sleep(2)
        raise ConnectionError

    monkeypatch.setattr("agents.doorbell.current_app.send_task", hang)
    began = time.monotonic()
    assert scene.say("Hello").is_new
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("columns", "scopes"),
    [({}, {"person"}), ({"keeps_memory": False}, set()), ({"private_facts": "agent"}, {"agent"})],
)
def test_agents_policy_says_what_is_noted_for_whom(
    scene: Scene, columns: dict[str, object], scopes: set[str]
) -> None:
    for name, value in columns.items():
        setattr(scene.session.agent, name, value)
    scene.say("My name is Bobur")
    assert set(WalEntry.objects.values_list("scope", flat=True)) == scopes
