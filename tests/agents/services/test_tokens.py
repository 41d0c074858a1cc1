"""API tokens."""

import hashlib
import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agents.models import ApiToken, Membership, Person, Team, User
from agents.services import people, tokens

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Team", slug="team-of-tokens")


@pytest.fixture
def person(team: Team) -> Person:
    return Person.objects.create(team=team, display_name="Sardor")


@pytest.fixture
def member(team: Team) -> Person:
    user = User.objects.create_user("member")
    Membership.objects.create(user=user, team=team)
    return people.person_of(user, team)


def issued(person: Person, **more: object) -> tuple[ApiToken, str]:
    return tokens.issue(
        team=person.team,
        person=person,
        name="test",
        scopes=[ApiToken.Scope.CHAT],
        **more,  # type: ignore[arg-type]  # only expires_at
    )


def test_the_secret_is_kept_as_a_digest_only(person: Person) -> None:
    token, secret = issued(person)

    assert secret.startswith("qanot_")
    assert token.digest == hashlib.sha256(secret.encode()).hexdigest()
    assert secret.startswith(token.prefix)
    assert len(token.prefix) == 12
    assert tokens.verify(secret) == token


def test_an_unknown_secret_is_nobodys(person: Person) -> None:
    _, secret = issued(person)

    for wrong in ("", "qanot_", secret + "x", secret[:-1], "x" + secret, "qanot_\ud800"):
        assert tokens.verify(wrong) is None


def test_a_person_of_another_team_is_refused(person: Person) -> None:
    other = Team.objects.create(name="Other", slug="other-team")

    with pytest.raises(ValueError, match="own team"):
        tokens.issue(team=other, person=person, name="", scopes=[])


def test_a_token_ends_when_revoked(person: Person) -> None:
    token, secret = issued(person)

    tokens.revoke(token)
    first = token.revoked_at
    tokens.revoke(token)

    token.refresh_from_db()
    assert tokens.verify(secret) is None
    assert token.revoked_at == first


def test_a_token_ends_at_its_time(person: Person) -> None:
    now = timezone.now()
    _, past = issued(person, expires_at=now - timedelta(seconds=1))
    _, future = issued(person, expires_at=now + timedelta(minutes=1))

    assert tokens.verify(past) is None
    assert tokens.verify(future) is not None


@pytest.mark.parametrize("archived", ["person", "team"])
def test_a_token_ends_with_its_person_or_team(person: Person, archived: str) -> None:
    _, secret = issued(person)

    row = person if archived == "person" else person.team
    row.archived_at = timezone.now()
    row.save()

    assert tokens.verify(secret) is None


def test_a_token_ends_with_the_login_it_acts_for(member: Person) -> None:
    _, secret = issued(member)
    assert tokens.verify(secret) is not None

    User.objects.filter(people=member).update(is_active=False)

    assert tokens.verify(secret) is None


def test_a_token_ends_with_the_membership(member: Person) -> None:
    _, secret = issued(member)

    Membership.objects.filter(user=member.user).delete()

    assert tokens.verify(secret) is None


def test_a_use_is_written_at_most_once_a_minute(person: Person) -> None:
    token, secret = issued(person)
    tokens.verify(secret)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None

    tokens.verify(secret)
    token.refresh_from_db()
    assert token.last_used_at == first

    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    tokens.verify(secret)
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at >= first


def test_the_command_prints_the_secret_once(member: Person) -> None:
    out, err = io.StringIO(), io.StringIO()

    call_command("token", "member", "--name", "curl", "--days", "3", stdout=out, stderr=err)

    found = tokens.verify(out.getvalue().strip())
    assert found is not None
    assert found.person == member
    assert found.name == "curl"
    assert found.expires_at is not None


@pytest.mark.parametrize(
    "arguments", [["nobody"], ["member", "--team", "missing"], ["member", "--days", "0"]]
)
def test_the_command_refuses_in_a_sentence(member: Person, arguments: list[str]) -> None:
    with pytest.raises(CommandError, match=r"\.$"):
        call_command("token", *arguments)
