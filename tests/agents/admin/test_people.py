"""People of a team, as their page takes them."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Membership, Person
from tests import factories

pytestmark = pytest.mark.django_db


def test_somebody_who_is_there_already_is_not_added_twice(client: Client) -> None:
    editor = factories.membership(role=Membership.Role.EDITOR)
    client.force_login(editor.user)
    values = {"team": editor.team_id, "display_name": "Anna", "user": editor.user_id}
    page = reverse("admin:agents_person_add")
    assert client.post(page, values).status_code == 302
    again = client.post(page, values)
    assert again.status_code == 200
    assert "already" in again.content.decode()
    assert Person.objects.filter(user=editor.user).count() == 1
