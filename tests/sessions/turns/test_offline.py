"""What is said without a model, in the language of whom it is said to."""

import pytest
from django.utils import timezone, translation
from pytest_django import Settings

from memory.models import WalEntry
from sessions.models import Turn
from sessions.turns import offline
from tests import factories

pytestmark = pytest.mark.django_db

BEGINNINGS = {
    "en": "**No model is set up yet**",
    "uz": "**Hali birorta model sozlanmagan**",
    "ru": "**Модель ещё не настроена**",
    "tr": "**Henüz bir model ayarlanmadı**",
    "pl": "**Żaden model nie jest jeszcze skonfigurowany**",
}


@pytest.mark.parametrize("language", BEGINNINGS)
@pytest.mark.parametrize(
    ("person", "user", "agent"),
    [("{}", "tr", "pl"), ("", "{}", "pl"), ("", "", "{}")],
    ids=["person", "user", "agent"],
)
def test_speaks_as_the_person_does_else_their_user_else_the_agent(
    language: str, person: str, user: str, agent: str
) -> None:
    login = factories.user(language=user.format(language))
    team = factories.team()
    session = factories.chat_session(
        agent=factories.agent(team=team, language=agent.format(language)),
        person=factories.person(team=team, user=login, language=person.format(language)),
    )
    # A worker has no browser whose language would be active.
    with translation.override("en"):
        said = offline.part(factories.turn(session=session), "Hello", now=timezone.now())
    assert BEGINNINGS[language] in said.text


@pytest.fixture
def at_home() -> Turn:
    """Return a turn of somebody who may connect a model."""
    login = factories.membership(role="owner").user
    team = login.memberships.get().team
    return factories.turn(
        session=factories.chat_session(
            agent=factories.agent(team=team), person=factories.person(team=team, user=login)
        )
    )


def say(turn: Turn) -> str:
    return offline.part(turn, "Hello", now=timezone.now()).text


@pytest.mark.parametrize(
    ("role", "may_connect"), [("owner", True), ("editor", True), ("operator", False)]
)
def test_who_may_connect_a_model_is_led_there(
    settings: Settings, role: str, may_connect: bool
) -> None:
    settings.QANOT_PUBLIC_URL = "https://qanot.example"
    login = factories.membership(role=role).user
    team = login.memberships.get().team
    session = factories.chat_session(
        agent=factories.agent(team=team), person=factories.person(team=team, user=login)
    )
    said = say(factories.turn(session=session))
    page = f"](https://qanot.example/admin/agents/provideraccount/connect/?agent={session.agent_id}"
    assert (page in said) == may_connect
    assert ("Ask an owner" in said) != may_connect


def test_without_a_public_address_the_way_is_said_in_words(
    settings: Settings, at_home: Turn
) -> None:
    settings.QANOT_PUBLIC_URL = ""
    said = say(at_home)
    assert "Connect one under Admin → Provider accounts" in said
    assert "](" not in said


def test_sentence_that_was_noted_for_two_reasons_is_told_once(at_home: Turn) -> None:
    message = factories.inbound_message(turn=at_home)
    for category in (WalEntry.Category.REMEMBER, WalEntry.Category.PREFERENCE):
        factories.wal_entry(
            agent=at_home.session.agent,
            person=at_home.session.person,
            source=message.ref,
            category=category,
            text="Tea, not coffee.",
        )
    assert say(at_home).partition("I noted:")[2].partition("In memory")[0].count("Tea") == 1
