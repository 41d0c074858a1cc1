"""Buttons on a person's page: export everything, erase; and one's own data."""

import io
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import AuditEvent, Membership, Person
from tests import factories

pytestmark = pytest.mark.django_db
Role = Membership.Role


@pytest.fixture
def person() -> Person:
    made = factories.person(display_name="Aziza <b>")
    session = factories.chat_session(agent=factories.agent(team=made.team), person=made)
    factories.inbound_message(session=session, content=factories.content(text="Zaytun"))
    return made


def client_of(person: Person, role: str, **membership: Any) -> Client:
    user = factories.user()
    factories.membership(user=user, team=person.team, role=role, **membership)
    client = Client()
    client.force_login(user)
    return client


def address(person: Person, what: str) -> str:
    return reverse(f"admin:agents_person_{what}_everything", args=[person.pk])


def archive_of(answer: Any) -> str:
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def test_owner_erases_by_typing_the_name(person: Person) -> None:
    client = client_of(person, Role.OWNER)
    shown = client.get(address(person, "erase")).content.decode()
    assert "Aziza &lt;b&gt;" in shown
    assert "Zaytun" not in shown

    answer = client.post(address(person, "erase"), {"name": "Aziza"})
    assert "Nothing was erased" in answer.content.decode()
    person.refresh_from_db()
    assert person.display_name == "Aziza <b>"

    answer = client.post(address(person, "erase"), {"name": " Aziza <b> "}, follow=True)
    assert "Erased:" in answer.content.decode()
    person.refresh_from_db()
    assert person.display_name == f"person:{person.pk}"
    assert AuditEvent.objects.get(action="person.erased").actor.startswith("user:")


@pytest.mark.parametrize("role", [Role.EDITOR, Role.OPERATOR, Role.MEMBER])
@pytest.mark.parametrize("what", ["export", "erase"])
def test_only_owners_may(person: Person, role: str, what: str) -> None:
    client = client_of(person, role, may_view_private=True)
    for answer in (
        client.get(address(person, what)),
        client.post(address(person, what), {"name": person.display_name}),
    ):
        assert answer.status_code in (302, 403, 404)
    person.refresh_from_db()
    assert person.archived_at is None
    assert not AuditEvent.objects.filter(action__startswith="person.").exists()


def test_owner_without_the_right_to_private_texts_exports_nobody_else(person: Person) -> None:
    client = client_of(person, Role.OWNER)
    assert "view private content" in client.get(address(person, "export")).content.decode()
    assert client.post(address(person, "export")).status_code == 403
    assert not AuditEvent.objects.filter(action="person.exported").exists()


def test_owner_with_the_right_to_private_texts_downloads_the_archive(person: Person) -> None:
    client = client_of(person, Role.OWNER, may_view_private=True)
    answer = client.post(address(person, "export"))
    assert answer["Content-Disposition"].startswith('attachment; filename="qanot-person-')
    assert "no-store" in answer["Cache-Control"]
    assert "Zaytun" in archive_of(answer)
    assert AuditEvent.objects.get(action="person.exported").subject == f"person:{person.pk}"


def test_everybody_exports_their_own_data_and_nobody_elses(person: Person) -> None:
    user = factories.user()
    Person.objects.filter(pk=person.pk).update(user=user)
    other = factories.person(team=person.team)
    client = Client()
    assert client.get(reverse("account-data")).status_code == 302
    client.force_login(user)
    assert person.team.name in client.get(reverse("account-data")).content.decode()
    assert "Zaytun" in archive_of(
        client.post(reverse("account-data"), {"person": person.public_id})
    )
    for wanted in (other.public_id, "", "x"):
        assert client.post(reverse("account-data"), {"person": wanted}).status_code == 404
