"""Write a team's set-up as a file that `apply` takes: docs/configuration.md."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from qanot_site.configuration.errors import ConfigurationError
from qanot_site.configuration.exporting import export
from qanot_site.configuration.teams import team_of

ACTOR = "command:export"


class Command(BaseCommand):
    help = "Write a team's agents, documents, chains, tools and accounts into a file; no keys."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="the file to write, such as deploy/qanot.toml; - to show it"
        )
        parser.add_argument("--team", help="slug of the team; needed where there are several")
        parser.add_argument(
            "--overwrite", action="store_true", help="replace the file if it exists"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            team = team_of(options["team"])
        except ConfigurationError as error:
            raise CommandError(str(error)) from error
        if options["file"] == "-":
            self.stdout.write(export(team, by=ACTOR), ending="")
            return
        path = Path(options["file"])
        if path.exists() and not options["overwrite"]:
            raise CommandError(f"{path} exists: choose another name, or say --overwrite.")
        if not path.absolute().parent.is_dir():
            raise CommandError(f"There is no folder {path.absolute().parent}.")
        path.write_text(export(team, by=ACTOR), encoding="utf-8", newline="\n")
        self.stdout.write(f"{path} has the set-up of {team}. Keys are not in it.")
