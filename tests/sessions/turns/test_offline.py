"""What is said without a model, in the language of whom it is said to."""

import pytest
from django.utils import timezone, translation

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


@pytest.mark.parametrize(
    ("role", "may_connect"), [("owner", True), ("editor", True), ("operator", False)]
)
def test_who_may_connect_a_model_is_led_there(role: str, may_connect: bool) -> None:
    login = factories.membership(role=role).user
    team = login.memberships.get().team
    session = factories.chat_session(
        agent=factories.agent(team=team), person=factories.person(team=team, user=login)
    )
    said = offline.part(factories.turn(session=session), "Hello", now=timezone.now()).text
    page = f"/admin/agents/provideraccount/connect/?agent={session.agent_id}"
    assert (page in said) == may_connect
    assert ("Ask an owner" in said) != may_connect
