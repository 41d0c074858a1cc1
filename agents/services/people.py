"""The people of a team."""

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from agents.models import Identity, Person, Team, User


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


def person_of_identity(
    team: Team, channel: str, external_id: str, *, name: str, language: str
) -> Person:
    """Return who somebody on a channel is in a team; a new person at the first look.

    Args:
        name: What a new person is called.
        language: What a new person is answered in; empty where it is none of ours.
    """
    known = Identity.objects.select_related("person")
    wanted = {"team": team, "channel": channel, "external_id": external_id}
    identity = known.filter(**wanted).first()
    if identity is None:
        try:
            with transaction.atomic():
                person = Person.objects.create(team=team, display_name=name, language=language)
                identity = Identity.objects.create(**wanted, person=person)
        except IntegrityError:
            # Somebody made it in this very moment; the person went with the savepoint.
            identity = known.get(**wanted)
    return as_merged(identity.person)


def as_merged(person: Person) -> Person:
    """Return whom a person was merged into in the end; themselves if into nobody."""
    seen = {person.pk}
    while person.merged_into_id is not None and person.merged_into_id not in seen:
        person = Person.objects.get(pk=person.merged_into_id)
        seen.add(person.pk)
    return person


def language_of_code(code: str) -> str:
    """Return our language of a code such as ``en-GB``; empty for none of ours."""
    own = code.replace("_", "-").partition("-")[0].lower()
    return own if own in dict(settings.LANGUAGES) else ""


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
