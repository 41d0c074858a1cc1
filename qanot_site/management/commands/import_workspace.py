"""Take a workspace of Qanot AI or OpenClaw, or one that we exported, into an agent."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.services.managed import ManagedByFile
from qanot_site import workspaces
from qanot_site.management.choosing import add_choices, chosen

ACTOR = "command:import_workspace"


class Command(BaseCommand):
    help = "Take a folder with SOUL.md, MEMORY.md, memory/*.md … into an agent, nothing twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", help="the folder")
        add_choices(parser, "whose memory it is; without one, everybody's who talks with the agent")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")

    def handle(self, *args: Any, **options: Any) -> None:
        agent, person = chosen(options)
        is_trial = options["dry_run"]
        try:
            outcome = workspaces.take_in(
                Path(options["path"]), agent, person, by=ACTOR, is_trial=is_trial
            )
        except workspaces.WorkspaceRefused as error:
            raise CommandError(str(error)) from error
        except ManagedByFile as error:
            raise CommandError(f"{agent.managed_by} owns {agent}: change it there.") from error
        whose = str(person) if person else f"everybody who talks with {agent}"
        self.stdout.write(f"Into {agent}; memory for {whose}:")
        for name, what in outcome.done:
            self.stdout.write(f"  {name}: {what}")
        if outcome.left_out:
            self.stdout.write(f"  {outcome.left_out} other files are none of a workspace's.")
        for name, line, what in outcome.mistakes:
            self.stderr.write(f"{name}{f':{line}' if line else ''}: {what}")
        if is_trial:
            self.stdout.write("Nothing was changed.")
