"""Which agent and person a command is about."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from agents.models import Agent, Person
from agents.services import people


def add_choices(parser: CommandParser, person_help: str, *names: str) -> None:
    """Let a command be told an agent, and a person by further names than ``--person``."""
    parser.add_argument("--agent", required=True, help="the agent's slug")
    parser.add_argument("--team", help="slug of the team; needed where several have the agent")
    parser.add_argument("--person", *names, dest="person", help=f"id or name: {person_help}")


def chosen(options: dict[str, Any]) -> tuple[Agent, Person | None]:
    """Return the agent and the person that a command was told.

    Raises:
        CommandError: There is none, or several.
    """
    agent = _agent(options["agent"], options["team"])
    if not options["person"]:
        return agent, None
    return agent, person_of(options["person"], Person.objects.filter(team_id=agent.team_id))


def person_of(wanted: str, rows: "QuerySet[Person]") -> Person:
    """Return the person of an id or a name, whoever they were merged into.

    Raises:
        CommandError: There is none, or several have the name.
    """
    is_id = len(wanted) == 36 and wanted.count("-") == 4
    named = rows.filter(public_id=wanted) if is_id else rows.filter(display_name=wanted)
    found = {people.as_merged(row) for row in named[:20]}
    if not found:
        raise CommandError(f"There is no person “{wanted}”.")
    if len(found) > 1:
        raise CommandError(f"Several people are called “{wanted}”: give the id.")
    return found.pop()


def _agent(slug: str, team: str | None) -> Agent:
    agents = Agent.objects.filter(slug=slug, archived_at=None)
    if team is not None:
        agents = agents.filter(team__slug=team)
    found = list(agents.select_related("team")[:2])
    if not found:
        raise CommandError(f"There is no agent “{slug}”.")
    if len(found) > 1:
        raise CommandError(f"Several teams have an agent “{slug}”: say which with --team.")
    return found[0]
