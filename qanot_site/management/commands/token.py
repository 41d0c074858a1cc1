"""Make an API token on the command line."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from agents.models import ApiToken, Team, User
from agents.services import people, tokens


class Command(BaseCommand):
    help = "Make an API token that acts for a user, and print it, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--team", help="slug of the team; needed by users of several teams")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[str(scope) for scope in ApiToken.Scope],
            help="what it may do; several times for several; chat, if not given",
        )
        parser.add_argument("--days", type=int, help="days until it expires; never, if not given")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] is not None and options["days"] < 1:
            raise CommandError("--days must be 1 or more.")
        with transaction.atomic():
            user = _user(options["username"])
            team = _team(user, options["team"])
            _, secret = tokens.issue(
                team=team,
                person=people.person_of(user, team),
                name=options["name"],
                scopes=[ApiToken.Scope(name) for name in options["scope"] or ["chat"]],
                by="command:token",
                expires_at=(
                    timezone.now() + timedelta(days=options["days"]) if options["days"] else None
                ),
            )
        # The secret alone on standard output, so that a shell can put it into a variable.
        self.stderr.write("Keep this token now; it is not shown again.", self.style.NOTICE)
        self.stdout.write(secret)


def _user(username: str) -> User:
    try:
        return User.objects.get(username=username, is_active=True)
    except User.DoesNotExist as exc:
        raise CommandError(f"There is no active user “{username}”.") from exc


def _team(user: User, slug: str | None) -> Team:
    teams = people.teams_of(user).order_by("id")
    if slug is not None:
        found = teams.filter(slug=slug).first()
        if found is None:
            raise CommandError(f"“{user}” belongs to no team “{slug}”.")
        return found
    some = list(teams[:2])
    if not some:
        raise CommandError(f"“{user}” belongs to no team.")
    if len(some) > 1:
        slugs = ", ".join(teams.values_list("slug", flat=True)[:20])
        raise CommandError(f"Say which team with --team: {slugs}.")
    return some[0]
