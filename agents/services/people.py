"""The people of a team."""

from django.db.models import QuerySet

from agents.models import Person, Team, User


def teams_of(user: User) -> QuerySet[Team]:
    """Return the living teams that a user belongs to; all of them for a superuser."""
    teams = Team.objects.filter(archived_at=None)
    return teams if user.is_superuser else teams.filter(memberships__user=user)


def person_of(user: User, team: Team) -> Person:
    """Return the user's person in a team, made at the first look."""
    person, _ = Person.objects.get_or_create(
        team=team,
        user=user,
        merged_into=None,
        defaults={"display_name": user.get_full_name() or user.get_username()},
    )
    return person
