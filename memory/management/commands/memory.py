"""`memory search|documents|index`: what an agent remembers for a person, and how it is indexed."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from agents.core.viewer import Viewer
from agents.models import Agent, Person
from agents.services import audit
from memory.management import indexing, uploading
from memory.models import Passage
from memory.policy import searched_days
from memory.search import Result, search


class Command(BaseCommand):
    help = "Search in what an agent remembers, bring it documents, see and rebuild the index."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        look = actions.add_parser("search", help="find what fits a query, the best first")
        look.add_argument("query")
        look.add_argument("--agent", required=True, help="the agent's slug")
        look.add_argument("--team", help="slug of the team; needed where several have the agent")
        look.add_argument(
            "--person", help="the person's id or name; without one, what all of the team may see"
        )
        look.add_argument(
            "--kind",
            action="append",
            choices=Passage.Kind.values,
            help="only these; uploaded documents are found only where `document` is named",
        )
        look.add_argument("--limit", type=int, default=10, metavar="N")
        look.add_argument("--json", action="store_true", help="print JSON with ids and scores")
        uploading.add_arguments(
            actions.add_parser("documents", help="bring documents, list them, take them out")
        )
        indexing.add_arguments(actions.add_parser("index", help="show the index, or rebuild it"))

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "index":
            indexing.run(options, self.stdout)
            return
        agent = _agent(options["agent"], options["team"])
        person = _person(agent, options["person"]) if options["person"] else None
        if options["action"] == "documents":
            uploading.run(options, agent, person, self.stdout)
            return
        viewer = Viewer(
            agent.team_id, agent.pk, person_id=person.pk if person else None, is_private=True
        )
        with transaction.atomic():
            if person is not None:
                # Who can run commands can read the database; the log says who looked at whom.
                audit.record(
                    team_id=agent.team_id,
                    actor="command:memory",
                    action="memory.searched",
                    subject=f"person:{person.pk}",
                )
            result = search(
                viewer,
                options["query"],
                now=timezone.now(),
                limit=options["limit"],
                kinds=[Passage.Kind(kind) for kind in options["kind"]] if options["kind"] else None,
                notes_days=searched_days(agent),
            )
        self._show(result, as_json=options["json"])

    def _show(self, result: Result, *, as_json: bool) -> None:
        if as_json:
            shown = {
                "found": [hit.as_json() for hit in result.found],
                "notes": [str(note) for note in result.notes],
            }
            self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            return
        for number, hit in enumerate(result.found, start=1):
            place = f"{hit.file}:{hit.line}" if hit.line else hit.file or hit.kind
            self.stdout.write(f"{number}. {hit.content}")
            self.stdout.write(
                f"   {place} · {hit.at:%Y-%m-%d %H:%M} · {hit.source} · {hit.score:.2f}"
            )
        if not result.found:
            self.stdout.write("Nothing found.")
        for note in result.notes:
            self.stderr.write(f"Note: {note}")


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


def _person(agent: Agent, wanted: str) -> Person:
    people = Person.objects.filter(team_id=agent.team_id, archived_at=None)
    found = list(
        people.filter(public_id=wanted)
        if _is_id(wanted)
        else people.filter(display_name=wanted)[:2]
    )
    if not found:
        raise CommandError(f"The agent's team has no person “{wanted}”.")
    if len(found) > 1:
        raise CommandError(f"Several people are called “{wanted}”: give the id.")
    return found[0]


def _is_id(wanted: str) -> bool:
    return len(wanted) == 36 and wanted.count("-") == 4
