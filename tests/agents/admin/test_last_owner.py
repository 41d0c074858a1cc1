"""A team keeps its last owner, whoever asks and on whichever page."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from agents.models import Membership, Team, User
from agents.services import memberships
from agents.services.memberships import LastOwner
from tests import factories

Role = Membership.Role
WORDS = "needs an owner"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def root() -> Client:
    return client_of(User.objects.create_superuser("root"))


def values_of(team: Team, *rows: tuple[Membership, str, bool]) -> dict[str, object]:
    """What the team's page sends: each membership with its role, and whether it goes."""
    values: dict[str, object] = {
        "name": team.name,
        "slug": team.slug,
        "time_zone": "UTC",
        "memberships-TOTAL_FORMS": len(rows),
        "memberships-INITIAL_FORMS": len(rows),
    }
    for number, (row, role, goes) in enumerate(rows):
        prefix = f"memberships-{number}-"
        values |= {f"{prefix}id": row.pk, f"{prefix}user": row.user_id, f"{prefix}role": role}
        if goes:
            values[f"{prefix}DELETE"] = "on"
    return values


@pytest.mark.django_db
def test_the_last_owner_is_neither_demoted_nor_removed() -> None:
    last = factories.membership(role=Role.OWNER)
    other = factories.membership(team=last.team, role=Role.MEMBER)
    inactive = factories.membership(team=last.team, role=Role.OWNER)
    User.objects.filter(pk=inactive.user_id).update(is_active=False)
    team_page = reverse("admin:agents_team_change", args=[last.team_id])
    page = reverse("admin:agents_membership_change", args=[last.pk])
    for client in (root(), client_of(last.user)):
        tries = (
            (page, {"role": Role.EDITOR}),
            (team_page, values_of(last.team, (last, Role.EDITOR, False))),
            (team_page, values_of(last.team, (last, Role.OWNER, True))),
            (
                reverse("admin:agents_membership_changelist"),
                {"action": "delete_selected", "_selected_action": [last.pk, other.pk], "post": "y"},
            ),
            (reverse("admin:agents_membership_delete", args=[last.pk]), {"post": "yes"}),
        )
        for path, values in tries:
            answer = client.post(path, values)
            assert answer.status_code == 200, path
            assert WORDS in answer.content.decode(), path
            last.refresh_from_db()
            assert last.role == Role.OWNER
            assert Membership.objects.filter(pk=other.pk).exists()


@pytest.mark.django_db
def test_the_last_owners_login_is_not_switched_off() -> None:
    last = factories.membership(role=Role.OWNER)
    page = reverse("admin:agents_user_change", args=[last.user_id])
    answer = root().post(page, {"username": last.user.username})
    assert WORDS in answer.content.decode()
    last.user.refresh_from_db()
    assert last.user.is_active


@pytest.mark.django_db
def test_an_owner_goes_when_another_stays_or_comes() -> None:
    first = factories.membership(role=Role.OWNER)
    second = factories.membership(team=first.team, role=Role.EDITOR)
    client = root()
    page = reverse("admin:agents_team_change", args=[first.team_id])
    swap = values_of(first.team, (first, Role.MEMBER, False), (second, Role.OWNER, False))
    assert client.post(page, swap).status_code == 302
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.role, second.role) == (Role.MEMBER, Role.OWNER)


@pytest.mark.django_db
def test_a_membership_does_not_pass_to_another_user() -> None:
    last = factories.membership(role=Role.OWNER)
    allowed = factories.membership(team=last.team, role=Role.EDITOR, may_view_private=True)
    away = factories.user(is_active=False)
    page = reverse("admin:agents_team_change", args=[last.team_id])
    client = root()
    for place in range(2):
        values = values_of(last.team, (last, Role.OWNER, False), (allowed, Role.EDITOR, False))
        values[f"memberships-{place}-user"] = away.pk
        client.post(page, values)
    assert not Membership.objects.filter(user=away).exists()
    assert memberships.owners_of(last.team_id).get() == last


@pytest.mark.django_db
def test_somebody_who_cannot_log_in_is_no_other_owner() -> None:
    last = factories.membership(role=Role.OWNER)
    away = factories.membership(team=last.team, role=Role.EDITOR, user=factories.user())
    User.objects.filter(pk=away.user_id).update(is_active=False)
    page = reverse("admin:agents_team_change", args=[last.team_id])
    swap = values_of(last.team, (last, Role.MEMBER, False), (away, Role.OWNER, False))
    answer = root().post(page, swap)
    assert WORDS in answer.content.decode()
    assert memberships.owners_of(last.team_id).get() == last


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_one_stays() -> None:
    first = factories.membership(role=Role.OWNER)
    second = factories.membership(team=first.team, role=Role.OWNER)

    def leave(row: Membership) -> bool:
        try:
            with transaction.atomic():
                memberships.require_owner_without(memberships={row.pk}, teams=[row.team_id])
                row.delete()
        except LastOwner:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        left = list(pool.map(leave, [first, second]))
    assert sorted(left) == [False, True]
    assert memberships.owners_of(first.team_id).count() == 1
