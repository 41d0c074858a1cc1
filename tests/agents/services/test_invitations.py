"""Invitations: who makes them, how long they hold, and that each lets one person in."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone

from agents.models import AuditEvent, Invitation, Membership, Person, Team, User
from agents.services import invitations
from agents.services.invitations import InvitationOver, NameTaken, NotAllowed
from tests import factories

Role = Membership.Role
PASSWORD = "a long enough one 7"


def owner_of(team: Team) -> User:
    return factories.membership(team=team, role=Role.OWNER).user


def invite(team: Team, **given: object) -> str:
    _made, secret = invitations.invite(
        team=team,
        **{"role": Role.MEMBER, "by": owner_of(team), **given},  # type: ignore[arg-type]
    )
    return invitations.digest_of(secret)


def join(digest: str, name: str = "Anna") -> User:
    return invitations.accept_as_new(
        digest, username=name, display_name="Anna B.", password=PASSWORD, language="uz"
    )


@pytest.mark.django_db
def test_a_new_colleague_gets_the_role_a_person_and_nothing_else() -> None:
    team = factories.team()
    user = join(invite(team, role=Role.EDITOR))
    membership = Membership.objects.get(user=user)
    assert (membership.team, membership.role, membership.may_view_private) == (
        team,
        Role.EDITOR,
        False,
    )
    assert Person.objects.get(user=user).display_name == "Anna B."
    assert (user.is_staff, user.is_superuser, user.language) == (False, False, "uz")
    assert user.check_password(PASSWORD)
    actions = AuditEvent.objects.filter(team_id=team.pk).values_list("action", flat=True)
    assert set(actions) == {"invitation.made", "invitation.accepted"}


@pytest.mark.django_db
def test_the_secret_stands_nowhere() -> None:
    team = factories.team()
    made, secret = invitations.invite(team=team, role=Role.MEMBER, by=owner_of(team))
    stored = [str(row) for row in Invitation.objects.values_list()]
    stored += [str(row) for row in AuditEvent.objects.values_list()]
    assert secret not in " ".join(stored)
    assert secret not in repr(made)


@pytest.mark.django_db
@pytest.mark.parametrize("role", [Role.EDITOR, Role.OPERATOR, Role.MEMBER])
def test_only_owners_invite(role: Role) -> None:
    team, elsewhere = factories.team(), factories.team()
    other = factories.membership(team=team, role=role).user
    factories.membership(team=elsewhere, role=Role.OWNER, user=other)
    with pytest.raises(NotAllowed):
        invitations.invite(team=team, role=Role.MEMBER, by=other)


@pytest.mark.django_db
@pytest.mark.parametrize("lifetime", [timedelta(minutes=59), timedelta(days=31)])
def test_lifetimes_have_bounds(lifetime: timedelta) -> None:
    with pytest.raises(ValueError, match="30 days"):
        invite(factories.team(), lifetime=lifetime)


@pytest.mark.django_db
def test_a_link_works_once() -> None:
    digest = invite(factories.team())
    join(digest)
    with pytest.raises(InvitationOver):
        join(digest, "Bob")
    assert not User.objects.filter(username="Bob").exists()


@pytest.mark.django_db
def test_links_that_no_longer_hold() -> None:
    team = factories.team()
    by = owner_of(team)
    links = {
        name: invite(team, by=by) for name in ("expired", "revoked", "demoted", "inactive", "team")
    }
    rows = {name: Invitation.objects.get(digest=digest) for name, digest in links.items()}
    other = owner_of(team)
    for name in ("demoted", "inactive"):
        Invitation.objects.filter(pk=rows[name].pk).update(created_by=other)
    Invitation.objects.filter(pk=rows["expired"].pk).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert invitations.revoke(rows["revoked"], by=by)
    assert not invitations.revoke(rows["revoked"], by=by)
    Membership.objects.filter(user=other).update(role=Role.EDITOR)
    for name in ("expired", "revoked", "demoted"):
        with pytest.raises(InvitationOver):
            join(links[name])
    Membership.objects.filter(user=other).update(role=Role.OWNER)
    User.objects.filter(pk=other.pk).update(is_active=False)
    with pytest.raises(InvitationOver):
        join(links["inactive"])
    Team.objects.filter(pk=team.pk).update(archived_at=timezone.now())
    with pytest.raises(InvitationOver):
        join(links["team"])
    with pytest.raises(InvitationOver):
        join("nobody's")


@pytest.mark.django_db
def test_lists_say_the_same_of_a_links_state() -> None:
    team = factories.team()
    by = owner_of(team)
    invite(team, by=by)
    for role in (Role.OWNER, Role.EDITOR):
        Membership.objects.filter(user=by).update(role=role)
        alone = Invitation.objects.get()
        listed = invitations.with_backing(Invitation.objects.all()).get()
        assert invitations.state_of(listed) == invitations.state_of(alone)


@pytest.mark.django_db
def test_who_is_in_keeps_the_role_and_the_link() -> None:
    team = factories.team()
    user = factories.membership(team=team, role=Role.OPERATOR).user
    digest = invite(team, role=Role.OWNER)
    assert invitations.accept(digest, user=user).role == Role.OPERATOR
    join(digest)


@pytest.mark.django_db
def test_a_login_of_another_team_joins_as_a_stranger_there() -> None:
    theirs = factories.member()
    team = factories.team()
    assert theirs.user is not None
    invitations.accept(invite(team), user=theirs.user)
    assert set(theirs.user.people.values_list("team_id", flat=True)) == {theirs.team_id, team.pk}


@pytest.mark.django_db
def test_who_comes_back_finds_their_person_again() -> None:
    person = factories.member()
    assert person.user is not None
    Membership.objects.filter(user=person.user).delete()
    Person.objects.filter(pk=person.pk).update(archived_at=timezone.now())
    invitations.accept(invite(person.team), user=person.user)
    person.refresh_from_db()
    assert person.archived_at is None


@pytest.mark.django_db
def test_names_are_taken_in_any_letter_case_and_weak_passwords_refused() -> None:
    factories.user(username="anna")
    digest = invite(factories.team())
    with pytest.raises(NameTaken):
        join(digest, "ANNA")
    with pytest.raises(ValidationError):
        invitations.accept_as_new(
            digest, username="bob", display_name="Bob", password="12345678", language="en"
        )
    join(digest, "bob")


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_joins() -> None:
    digest = invite(factories.team())

    def attempt(name: str) -> bool:
        try:
            join(digest, name)
        except InvitationOver:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        joined = list(pool.map(attempt, ["a1", "a2", "a3", "a4"]))
    assert sum(joined) == 1
    assert User.objects.filter(username__startswith="a").count() == 1
