"""Bring a team's agents and accounts to what a reviewed file says: docs/configuration.md."""

import os
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from rich.console import Console
from rich.progress import Progress

from qanot_site.commands import first_line
from qanot_site.configuration import applying, words
from qanot_site.configuration.errors import ConfigurationError
from qanot_site.configuration.plan import Plan
from qanot_site.configuration.reading import read
from qanot_site.configuration.teams import team_of

# What scripts tell apart: 0 the same, 1 something differs, 2 the file was refused.
DIFFERS, REFUSED = 1, 2


class Command(BaseCommand):
    help = (
        "Bring a team's agents and accounts to what a file says. What would change is shown "
        "first; nothing is written unless all of it can be."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the file, such as deploy/qanot.toml")
        parser.add_argument(
            "--check",
            action="store_true",
            help="only show what differs: status 0 for nothing, 1 for something, 2 for a mistake",
        )
        parser.add_argument("--team", help="slug of the team, whatever the file says")
        parser.add_argument("--yes", action="store_true", help="do not ask before writing")
        parser.add_argument(
            "--take-over", action="store_true", help="own also what other files own by now"
        )
        parser.add_argument(
            "--archive-missing",
            action="store_true",
            help="archive agents that the file no longer names; else people may change them again",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._run(options)
        except ConfigurationError as error:
            raise CommandError(str(error), returncode=REFUSED) from error
        except OperationalError as error:
            # Not Python's own status for a failure, which would say that something differs.
            told = f"The database does not answer: {first_line(error)}"
            raise CommandError(told, returncode=REFUSED) from error

    def _run(self, options: dict[str, Any]) -> None:
        name = os.path.normpath(options["file"])
        if len(name) > 200:
            raise CommandError("Name the file by 200 characters or fewer.", returncode=REFUSED)
        file = read(Path(name), name=name)
        team = team_of(options["team"], file.team)
        how = {
            "takes_over": options["take_over"],
            "archives_missing": options["archive_missing"],
        }
        plan = applying.plan(file, team, **how)
        self._show(plan)
        if options["check"]:
            sys.exit(DIFFERS if plan.differs else 0)
        if plan.has_work:
            self._agree(options)
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Writing", total=len(plan.steps))
            applying.apply(file, team, plan, **how, done=lambda: progress.advance(task))
        if plan.has_work:
            self.stdout.write(self.style.SUCCESS("Done."))

    def _show(self, plan: Plan) -> None:
        self.stdout.write(f"{plan.file} → team {plan.team}")
        styles = {
            "+": self.style.SUCCESS,
            "~": self.style.WARNING,
            "-": self.style.ERROR,
            "!": self.style.WARNING,
        }
        for line in words.lines_of(plan):
            style = styles.get(line.lstrip()[:1])
            self.stdout.write(style(line) if style else line)
        self.stdout.write(words.summary(plan))
        if not plan.has_work:
            self.stdout.write("Nothing to do.")

    def _agree(self, options: dict[str, Any]) -> None:
        if options["yes"] or not sys.stdin.isatty():
            return
        self.stdout.write("Apply this? [y/N] ", ending="")
        self.stdout.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise CommandError("Nothing was written.", returncode=DIFFERS)
