"""The people of a team."""

from django.db import transaction
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
        defaults={
            "display_name": user.get_full_name() or user.get_username(),
            "language": user.language,
        },
    )
    return person


@transaction.atomic
def choose_language(user: User, language: str) -> None:
    """Answer a user in this language from now on: on pages, and in the chats of every team."""
    User.objects.filter(pk=user.pk).update(language=language)
    Person.objects.filter(user=user).update(language=language)
    user.language = language


@transaction.atomic
def settle_language(user: User, language: str) -> None:
    """Give a user who has no language yet this one; people of theirs who have one keep it."""
    if User.objects.filter(pk=user.pk, language="").update(language=language):
        Person.objects.filter(user=user, language="").update(language=language)
    user.refresh_from_db(fields=["language"])
