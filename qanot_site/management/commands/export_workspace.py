"""Write an agent's documents and what it remembers for a person as a workspace."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from agents.services import audit
from memory.files import Preset
from qanot_site import workspaces
from qanot_site.management.choosing import add_choices, chosen

ACTOR = "command:export_workspace"


class Command(BaseCommand):
    help = "Write an agent's documents and memory into a new folder, for a named viewer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="the folder to write; new or empty")
        add_choices(parser, "who may see it; without one, only what everybody may", "--viewer")
        parser.add_argument(
            "--preset",
            choices=["default", "qanot"],
            help="qanot: byte for byte as Qanot AI writes; as the agent's prompts, if not given",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        agent, person = chosen(options)
        wanted = options["preset"] or agent.prompt_preset
        preset: Preset = "qanot" if wanted == "qanot" else "default"
        try:
            with transaction.atomic():
                found = workspaces.dump(agent, person, preset=preset)
                audit.record(
                    team_id=agent.team_id,
                    actor=ACTOR,
                    action="workspace.exported",
                    subject=audit.subject_of(agent),
                    reason=f"person:{person.pk}" if person else "",
                )
                workspaces.write(Path(options["path"]), found)
        except workspaces.WorkspaceRefused as error:
            raise CommandError(str(error)) from error
        whose = str(person) if person else "everybody"
        self.stdout.write(f"{options['path']}: {len(found)} files, as {whose} may see them.")
