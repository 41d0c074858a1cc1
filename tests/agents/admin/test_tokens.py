"""Tokens made on their page: for whom, how long, and a secret that is shown once."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import ApiToken, AuditEvent, Membership, Person, User
from agents.services import tokens
from tests import factories
from tests.qanot_site.admin_scene import Side, build_side

pytestmark = pytest.mark.django_db

ADD = "/admin/agents/apitoken/add/"
LIST = "/admin/agents/apitoken/"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


def values(side: Side, **changed: Any) -> dict[str, Any]:
    given = {
        "name": "Script",
        "acts_for": f"me:{side.team.pk}",
        "scopes": ["chat", "agents:read"],
        "days": "30",
    }
    return given | changed


def offered(client: Client) -> set[str]:
    form = client.get(ADD).context["adminform"].form
    return {key for key, _words in form.fields["acts_for"].choices}


def secret_of(page: Any) -> str:
    found: str = page.context_data["secret"]
    return found


def test_a_token_for_oneself_is_shown_once_and_works(ours: Side) -> None:
    user = ours.users["operator"]
    client = client_of(user)
    page = client.post(ADD, values(ours))
    assert page.status_code == 200
    secret = secret_of(page)
    assert secret in page.content.decode()
    assert "no-store" in page["Cache-Control"]

    token = tokens.verify(secret)
    assert token is not None
    assert (token.person.user, token.team, token.scopes) == (
        user,
        ours.team,
        ["chat", "agents:read"],
    )
    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    for path in (LIST, f"{LIST}{token.pk}/change/", f"{LIST}{token.pk}/history/"):
        assert secret not in client.get(path).content.decode()
    event = AuditEvent.objects.get(action="token.made")
    assert (event.actor, event.team_id) == (f"user:{user.pk}", ours.team.pk)
    assert secret not in f"{event.changes}{event.reason}{event.subject}"


def test_nobody_makes_a_token_for_somebody_elses_login(ours: Side) -> None:
    theirs = build_side("theirs")
    bot = factories.person(team=ours.team, display_name="Bot")
    factories.person(team=theirs.team)
    # Whoever had a token of theirs would read what they write to the agents, and ask their memory.
    chatter = factories.identity(person=factories.person(team=ours.team)).person
    assert offered(client_of(ours.users["editor"])) == {f"me:{ours.team.pk}"}
    owner = client_of(ours.users["owner"])
    assert offered(owner) == {f"me:{ours.team.pk}", f"person:{bot.pk}"}
    for chosen in (
        f"person:{ours.one(Person).pk}",
        f"person:{theirs.one(Person).pk}",
        f"person:{chatter.pk}",
        f"me:{theirs.team.pk}",
    ):
        assert owner.post(ADD, values(ours, acts_for=chosen)).status_code == 200
    assert not ApiToken.objects.filter(name="Script").exists()


def test_an_owner_makes_one_for_a_person_without_a_login(ours: Side) -> None:
    bot = factories.person(team=ours.team, display_name="Bot")
    owner = client_of(ours.users["owner"])
    refused = values(ours, acts_for=f"person:{bot.pk}", scopes=["agents:write"])
    assert "has no login" in owner.post(ADD, refused).content.decode()
    page = owner.post(ADD, values(ours, acts_for=f"person:{bot.pk}", scopes=["chat"], days=""))
    token = tokens.verify(secret_of(page))
    assert token is not None
    assert (token.person, token.expires_at) == (bot, None)


def test_members_make_none(ours: Side) -> None:
    answer = client_of(ours.users["member"]).post(ADD, values(ours))
    assert answer.status_code == 302
    assert not ApiToken.objects.filter(name="Script").exists()


def test_ones_own_and_the_teams_tokens_are_revoked(ours: Side) -> None:
    operator = client_of(ours.users["operator"])
    secret = secret_of(operator.post(ADD, values(ours)))
    own = ApiToken.objects.get(name="Script")
    others = ours.one(ApiToken)

    def revoke(client: Client, token: ApiToken) -> int:
        address = reverse("admin:agents_apitoken_revoke", args=[token.pk])
        assert client.get(address).status_code == 405
        return client.post(address).status_code

    assert revoke(operator, others) == 403
    assert revoke(operator, own) == 302
    assert tokens.verify(secret) is None
    assert revoke(client_of(ours.users["editor"]), others) == 302
    theirs = build_side("theirs")
    assert revoke(client_of(theirs.users["owner"]), own) == 404
    assert AuditEvent.objects.filter(action="token.revoked").count() == 2


def test_a_token_is_never_changed(ours: Side) -> None:
    token = ours.one(ApiToken)
    for user in (ours.users["owner"], User.objects.create_superuser("root")):
        answer = client_of(user).post(f"{LIST}{token.pk}/change/", {"name": "Other"})
        assert answer.status_code == 403


def test_whoever_left_the_team_leaves_their_tokens_behind(ours: Side) -> None:
    secret = secret_of(client_of(ours.users["operator"]).post(ADD, values(ours)))
    Membership.objects.filter(user=ours.users["operator"]).delete()
    assert tokens.verify(secret) is None
