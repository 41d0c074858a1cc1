"""What the pages of memory share: whose a row is, and who may change it."""

from typing import Any, Final

from django.http import HttpRequest

from agents.services import access
from memory.models import Scope

SCOPE: Final = ("team", "scope", "agent", "person", "chat")


def may_change(request: HttpRequest, row: Any) -> bool:  # any row in a scope
    """Return whether the user may change what is remembered here.

    What is a person's only that person changes; what is a group's, an agent's or a team's, the
    team's owners and editors.
    """
    if row.scope == Scope.PERSON:
        return row.person is not None and row.person.user_id == request.user.pk
    teams = access.teams(request, access.EDITORS)
    return teams is None or row.team_id in teams


def may_judge(request: HttpRequest, row: Any) -> bool:  # any row in a scope
    """Return whether the user may let a text from outside count, whose words they can read."""
    if may_change(request, row):
        return True
    teams = access.teams(request, access.EDITORS)
    is_editor = teams is None or row.team_id in teams
    return is_editor and bool(getattr(row, "is_readable", False))
