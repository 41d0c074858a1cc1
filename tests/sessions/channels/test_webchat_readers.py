"""Who can read my chats."""

import pytest
from django.test import Client

from agents.models import AuditEvent, Membership, Person, User
from agents.services import audit
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> Person:
    return factories.member()


def page_of(person: Person) -> str:
    client = Client()
    assert person.user is not None
    client.force_login(person.user)
    answer = client.get("/chat/readers/")
    assert answer.status_code == 200
    return answer.content.decode()


def reader(person: Person, name: str, **given: object) -> User:
    user = factories.user(first_name=name, **given)
    factories.membership(team=person.team, user=user, may_view_private=True, role="operator")
    return user


def test_nobody_is_said_so(person: Person) -> None:
    reader(factories.member(), "Elsewhere")
    factories.membership(team=person.team, user=factories.user(first_name="Boss"), role="owner")
    body = page_of(person)
    assert "Nobody of your team" in body
    assert "Elsewhere" not in body
    assert "Boss" not in body
    assert "So far nobody has looked" in body


def test_readers_are_named_and_their_looks_listed(person: Person) -> None:
    ruth = reader(person, "Ruth")
    reader(person, "Gone", is_active=False)
    other = factories.member(team=person.team)
    for whose in (person, other):
        audit.record(
            team_id=person.team_id,
            actor=ruth,
            action="private.viewed",
            subject=f"chatsession:{whose.pk}00",
            reason=f"person:{whose.pk}",
        )
    body = page_of(person)
    assert "Ruth" in body
    assert "Gone" not in body
    assert f"chatsession:{person.pk}00" in body
    assert f"chatsession:{other.pk}00" not in body


def test_ones_own_right_is_not_a_reader_of_oneself(person: Person) -> None:
    Membership.objects.filter(user=person.user).update(may_view_private=True)
    assert "Nobody of your team" in page_of(person)


def test_links_for_a_new_password_are_told(person: Person) -> None:
    owner = factories.membership(
        team=person.team, role="owner", user=factories.user(first_name="Olga")
    ).user
    assert "Olga" not in page_of(person)
    audit.record(
        team_id=person.team_id,
        actor=owner,
        action="password.link",
        subject=f"user:{person.user_id}",
    )
    assert AuditEvent.objects.count() == 1
    assert "Olga" in page_of(person)


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    assert client.get("/chat/readers/").status_code == 302
