"""What a user's roles in teams allow, asked for one request at a time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from agents.models import Membership, User

Role = Membership.Role
READERS = frozenset({Role.OWNER, Role.EDITOR, Role.OPERATOR})
EDITORS = frozenset({Role.OWNER, Role.EDITOR})
OWNERS = frozenset({Role.OWNER})


@dataclass(frozen=True, slots=True)
class _Rights:
    """What one user may do in teams, by team id."""

    roles: Mapping[int, str]
    private: frozenset[int]


_STRANGER = _Rights({}, frozenset())
# A page asks dozens of times; memberships are read once a request and forgotten with it.
_rights: WeakKeyDictionary[HttpRequest, _Rights] = WeakKeyDictionary()


def user_of(request: HttpRequest) -> User:
    """Return who is asking, where a page has let nobody else in.

    Raises:
        PermissionDenied: Somebody without a login; the page did not ask for one.
    """
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def is_superuser(request: HttpRequest) -> bool:
    """Return whether an active superuser is asking."""
    return request.user.is_active and bool(getattr(request.user, "is_superuser", False))


def roles(request: HttpRequest) -> Mapping[int, str]:
    """Return the user's role by team id; empty for a stranger."""
    return _rights_of(request).roles


def private_teams(request: HttpRequest) -> frozenset[int]:
    """Return the teams in which the user may read other people's private texts.

    Their membership says so and nothing else: being a superuser opens nothing.
    """
    return _rights_of(request).private


def may_view_private(request: HttpRequest, team_id: int) -> bool:
    """Return whether the user may read other people's private texts of a team.

    Whoever shows one writes the audit row ``private.viewed`` before.
    """
    return team_id in private_teams(request)


def may_grant_private(request: HttpRequest, *, user_id: int | None, team_id: int | None) -> bool:
    """Return whether the asking user may let somebody read private texts of a team, or forbid it.

    The team's owners may, for others: nobody gives it to themselves. A superuser may for all.
    """
    if is_superuser(request):
        return True
    is_owner = team_id is not None and roles(request).get(team_id) == Role.OWNER
    return is_owner and user_id != request.user.pk


def teams(request: HttpRequest, allowed: Collection[str]) -> frozenset[int] | None:
    """Return the teams in which the user has one of these roles; None stands for every team."""
    if is_superuser(request):
        return None
    return frozenset(team for team, role in roles(request).items() if role in allowed)


def _rights_of(request: HttpRequest) -> _Rights:
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        return _STRANGER
    known = _rights.get(request)
    if known is None:
        rows = list(
            Membership.objects.filter(user=user).values_list("team_id", "role", "may_view_private")
        )
        known = _Rights(
            roles={team: role for team, role, _may in rows},
            private=frozenset(team for team, _role, may in rows if may),
        )
        _rights[request] = known
    return known


def has_role(user: User, team_id: int, allowed: Collection[str]) -> bool:
    """Return whether a user has one of these roles in a team right now; a superuser has all."""
    if not user.is_active:
        return False
    rows = Membership.objects.filter(user=user, team_id=team_id, role__in=allowed)
    return user.is_superuser or rows.exists()


def may_enter(request: HttpRequest) -> bool:
    """Return whether the admin has anything for this user."""
    found = teams(request, READERS)
    return found is None or bool(found)
