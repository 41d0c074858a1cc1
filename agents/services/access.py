"""What a user's roles in teams allow, asked for one request at a time."""

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

from django.http import HttpRequest

from agents.models import Membership, User

Role = Membership.Role
READERS = frozenset({Role.OWNER, Role.EDITOR, Role.OPERATOR})
EDITORS = frozenset({Role.OWNER, Role.EDITOR})
OWNERS = frozenset({Role.OWNER})

# A page asks dozens of times; memberships are read once a request and forgotten with it.
_roles: WeakKeyDictionary[HttpRequest, Mapping[int, str]] = WeakKeyDictionary()


def is_superuser(request: HttpRequest) -> bool:
    """Return whether an active superuser is asking."""
    return request.user.is_active and bool(getattr(request.user, "is_superuser", False))


def roles(request: HttpRequest) -> Mapping[int, str]:
    """Return the user's role by team id; empty for a stranger."""
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        return {}
    known = _roles.get(request)
    if known is None:
        known = dict(Membership.objects.filter(user=user).values_list("team_id", "role"))
        _roles[request] = known
    return known


def teams(request: HttpRequest, allowed: Collection[str]) -> frozenset[int] | None:
    """Return the teams in which the user has one of these roles; None stands for every team."""
    if is_superuser(request):
        return None
    return frozenset(team for team, role in roles(request).items() if role in allowed)


def may_enter(request: HttpRequest) -> bool:
    """Return whether the admin has anything for this user."""
    found = teams(request, READERS)
    return found is None or bool(found)
