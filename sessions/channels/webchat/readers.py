"""Who can read my chats: for everybody, in words."""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents.models import AuditEvent, Membership, Person, Team, User
from agents.services import people
from agents.services.access import user_of

# The newest; the whole log is the owners'.
MOST_VIEWS: Final = 50


@dataclass(frozen=True, slots=True)
class View:
    """Somebody looked at something of the person's."""

    who: str
    event: AuditEvent


@dataclass(frozen=True, slots=True)
class TeamReaders:
    """One team of the person, and who of it reads what.

    Args:
        names: Of those who may read private conversations, the person left out.
        views: How often that happened, the newest first.
        passwords: Links for a new password that others made for the person's login.
    """

    team: Team
    names: list[str]
    views: list[View]
    passwords: list[View]


@never_cache
@require_safe
@login_required
def page(request: HttpRequest) -> HttpResponse:
    """Show who may read the user's conversations, team by team, and who did."""
    user = user_of(request)
    mine = people.teams_of(user).filter(memberships__user=user)
    context = {"teams": [_readers(user, team) for team in mine], "at": "readers"}
    return render(request, "chat/readers.html", context)


def _readers(user: User, team: Team) -> TeamReaders:
    readers = (
        Membership.objects.filter(team=team, may_view_private=True, user__is_active=True)
        .exclude(user=user)
        .select_related("user")
        .order_by("user__first_name", "user__username")
    )
    persons = Person.objects.filter(team=team, user=user).values_list("pk", flat=True)
    events = AuditEvent.objects.filter(team_id=team.pk)
    viewed = events.filter(
        action="private.viewed", reason__in=[f"person:{pk}" for pk in persons]
    ).exclude(actor=f"user:{user.pk}")
    passwords = events.filter(action="password.link", subject=f"user:{user.pk}")
    return TeamReaders(
        team=team,
        names=[_name(row.user) for row in readers],
        views=_views(list(viewed[:MOST_VIEWS])),
        passwords=_views(list(passwords[:MOST_VIEWS])),
    )


def _views(events: list[AuditEvent]) -> list[View]:
    """Return events with the names of who acted; one query for all."""
    keys = {event.actor.removeprefix("user:") for event in events}
    users = User.objects.in_bulk([int(key) for key in keys if key.isdecimal()])
    names = {f"user:{pk}": _name(user) for pk, user in users.items()}
    return [View(names.get(event.actor, event.actor), event) for event in events]


def _name(user: User) -> str:
    return user.get_full_name() or user.get_username()
