"""`person export|erase`: everything that is kept of one person."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Person
from agents.services import handing_over, portability
from qanot_site.management.choosing import person_of

ACTOR = "command:person"


class Command(BaseCommand):
    help = "Write all that is kept of a person into an archive, or erase it."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="write an archive of all that is kept")
        erase = actions.add_parser("erase", help="erase it from every table and the storage")
        for each in (export, erase):
            each.add_argument("person", help="the person's id or name")
            each.add_argument("--team", help="slug of the team; needed where names repeat")
        export.add_argument("path", help="the .zip file to write")
        erase.add_argument("--dry-run", action="store_true", help="only say what would be done")
        erase.add_argument("--yes", action="store_true", help="do it; it cannot be taken back")
        erase.add_argument("--reason", default="", help="for the audit log; no names in it")

    def handle(self, *args: Any, **options: Any) -> None:
        team = options["team"]
        rows = Person.objects.filter(team__slug=team) if team else Person.objects.all()
        person = person_of(options["person"], rows)
        if options["action"] == "export":
            self._export(person, Path(options["path"]))
        else:
            self._erase(person, options)

    def _export(self, person: Person, path: Path) -> None:
        try:
            rows = handing_over.write_file(person, path, by=ACTOR)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{path} has {rows} rows of {person}. Keep it where only they read it.")

    def _erase(self, person: Person, options: dict[str, Any]) -> None:
        is_trial = options["dry_run"]
        if not (is_trial or options["yes"]):
            raise CommandError(
                f"This erases {person} for good. Look with --dry-run first, then say --yes."
            )
        report = portability.erase(
            person, by=ACTOR, reason=options["reason"][:300], is_trial=is_trial
        )
        for line in handing_over.lines(report):
            self.stdout.write(line)
        if is_trial:
            self.stdout.write("Nothing was changed.")
            return
        self.stdout.write(f"person:{person.pk} is erased.")
        self.stderr.write("Backups made before still have it, until they are deleted.")
