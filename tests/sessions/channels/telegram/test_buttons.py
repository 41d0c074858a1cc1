"""Buttons do what they say for the person they were made for, and nothing for anybody else."""

import time
from typing import Any

import pytest
from django.utils.crypto import get_random_string
from pytest_django import Settings

from agents.models import Person
from sessions import outbox
from sessions.channels.telegram import buttons
from sessions.channels.telegram.buttons import Pressed
from sessions.models import ChatSession, Outgoing, Turn
from tests import factories
from tests.sessions.channels.telegram.incoming import Json, Wire, notices, private, user, wire

pytestmark = pytest.mark.django_db


def person(bot: Wire) -> Person:
    return Person.objects.get(identities__external_id="501", team=bot.account.team)


def press(bot: Wire, data: str, *, who: Json | None = None, **given: Any) -> None:
    """Press a button under one of the bot's messages; Any: JSON."""
    presser = who or user()
    below = {"message_id": 99, "date": 0, "from": bot.bot, "chat": private(user())}
    query = {"id": "q1", "from": presser, "chat_instance": "1", "data": data}
    assert bot.take(callback_query=query | {"message": below | given})


def asked(bot: Wire) -> Turn:
    """Let somebody ask; return their turn."""
    bot.say("Tell me a long story")
    return Turn.objects.get()


def is_stopped(turn: Turn) -> bool:
    turn.refresh_from_db()
    return turn.stop_requested_at is not None


def test_stop_button_stops_the_turn_of_whoever_asked() -> None:
    bot = wire()
    turn = asked(bot)
    press(bot, buttons.sign("stop", str(turn.pk), account=bot.account, person_id=person(bot).pk))
    assert is_stopped(turn)


def test_button_of_somebody_else_does_nothing() -> None:
    bot = wire()
    turn = asked(bot)
    data = buttons.sign("stop", str(turn.pk), account=bot.account, person_id=person(bot).pk)
    press(bot, data, who=user(777, "Mallory"))
    assert not is_stopped(turn)


def test_button_of_another_bot_and_a_changed_one_do_nothing() -> None:
    bot, other = wire(), wire()
    turn = asked(bot)
    data = buttons.sign("stop", str(turn.pk), account=bot.account, person_id=person(bot).pk)
    press(other, data)
    press(bot, buttons.sign("stop", str(turn.pk), account=other.account, person_id=person(bot).pk))
    press(bot, data.replace("stop:", "stop:1"))
    for made_up in ("", "stop", f"stop:{turn.pk}", f"stop:{turn.pk}:", "stop:ü:x", "a:b:c:d"):
        press(bot, made_up)
    assert not is_stopped(turn)


def test_blocked_people_press_nothing() -> None:
    bot = wire()
    turn = asked(bot)
    bot.account.contacts.update(access="blocked")
    press(bot, buttons.sign("stop", str(turn.pk), account=bot.account, person_id=person(bot).pk))
    assert not is_stopped(turn)


def test_stop_button_of_another_chat_does_nothing() -> None:
    bot = wire()
    turn = asked(bot)
    data = buttons.sign("stop", str(turn.pk), account=bot.account, person_id=person(bot).pk)
    press(bot, data, chat=private(user(888)))
    assert not is_stopped(turn)


def test_choices_of_a_command_are_buttons_that_do_it() -> None:
    bot = wire()
    bot.say("/lang", who=user(language_code="en"))
    rows = outbox.keyboard_of(Outgoing.objects.get())
    (russian,) = [button for row in rows for button in row if button.text == "Русский"]
    press(bot, russian.data)
    assert person(bot).language == "ru"
    assert len(notices()) == 2
    press(bot, russian.data, who=user(777, "Mallory"))
    assert len(notices()) == 2


def test_presses_count_as_messages_do_and_the_pause_is_told_once() -> None:
    bot = wire(messages_per_minute=3)
    bot.say("/lang", who=user(language_code="en"), date=int(time.time()))
    data = buttons.sign("cmd", "lang ru", account=bot.account, person_id=person(bot).pk)
    for _ in range(6):
        press(bot, data)
    # The command's own words, two presses, the pause.
    assert len(notices()) == 4


def test_telegrams_own_stop_button_stops_the_turn_of_its_draft() -> None:
    bot = wire()
    turn = asked(bot)
    stopped = {"chat": private(user()), "draft_id": turn.pk}
    bot.take(stopped_message_generation=stopped | {"draft_id": turn.pk + 1})
    bot.take(stopped_message_generation=stopped | {"chat": private(user(888))})
    assert not is_stopped(turn)
    bot.take(stopped_message_generation=stopped)
    assert is_stopped(turn)
    assert ChatSession.objects.count() == 1


def test_signature_is_good_while_keys_are_rotated(settings: Settings) -> None:
    account = factories.telegram_account()
    data = buttons.sign("cmd", "lang uz", account=account, person_id=7)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert buttons.verify(data, account=account, person_id=7) == Pressed("cmd", "lang uz")
    settings.SECRET_KEY_FALLBACKS = []
    assert buttons.verify(data, account=account, person_id=7) is None


def test_data_is_never_longer_than_telegram_takes() -> None:
    account = factories.telegram_account()
    for length in range(60):
        subject = get_random_string(length)
        if buttons.fits("cmd", subject):
            assert len(buttons.sign("cmd", subject, account=account, person_id=2**62)) <= 64
        else:
            with pytest.raises(ValueError, match="64 bytes"):
                buttons.sign("cmd", subject, account=account, person_id=1)
