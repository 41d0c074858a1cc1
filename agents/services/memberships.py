"""Who belongs to a team, and that it always has an owner."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import QuerySet

from agents.models import Membership, Team, User

OWNER = Membership.Role.OWNER


class LastOwner(Exception):
    """The change would leave a team without an owner.

    Args:
        team: The first team it was found for.
    """

    def __init__(self, team: Team) -> None:
        super().__init__(f"team:{team.pk}")
        self.team = team


def owners_of(team_id: int) -> QuerySet[Membership]:
    """Return the owners of a team who may log in."""
    return Membership.objects.filter(team=team_id, role=OWNER, user__is_active=True)


def is_owner(user: User, team_id: int) -> bool:
    """Return whether a user may do in a team what its owners may; a superuser may everywhere."""
    if not user.is_active:
        return False
    return user.is_superuser or owners_of(team_id).filter(user=user).exists()


def require_owner_without(
    *, memberships: Collection[int] = (), users: Collection[int] = (), teams: Iterable[int]
) -> None:
    """Make sure that teams keep an owner when some memberships or users no longer count.

    The teams stay locked until the transaction ends, so that of two owners who leave in the same
    moment the second one is refused. A team that has no owner anyway is left as it is.

    Raises:
        LastOwner: A team would lose its last one.
    """
    with transaction.atomic():
        locked = Team.objects.select_for_update().filter(pk__in=set(teams)).order_by("pk")
        for team in locked:
            owners = set(owners_of(team.pk).values_list("pk", "user_id"))
            left = {
                (pk, user) for pk, user in owners if pk not in memberships and user not in users
            }
            if owners and not left:
                raise LastOwner(team)
