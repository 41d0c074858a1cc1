"""How well the detector reads a labelled list of messages."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.detector.evaluation import BadList, evaluate, read_list


class Command(BaseCommand):
    """Precision and recall of what the detector keeps of labelled messages."""

    help = (
        "Measure precision and recall of the memory detector over a tab separated list with the "
        "columns lang, message, stored, note; with the columns value and negated too, how many "
        "values are right."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("path", type=Path)
        parser.add_argument(
            "--json", metavar="FILE", help="Write the figures there; - prints them."
        )

    def handle(self, *, path: Path, **options: Any) -> None:
        """Measure, and print or write the figures."""
        try:
            figures = evaluate(read_list(path))
        except (OSError, BadList) as error:
            raise CommandError(str(error)) from error
        as_json = json.dumps(figures, ensure_ascii=False, indent=2)
        if options["json"] == "-":
            self.stdout.write(as_json)
            return
        if options["json"]:
            Path(options["json"]).write_text(as_json + "\n", encoding="utf-8")
        for name, row in [("overall", figures["overall"]), *figures["languages"].items()]:
            rates = f"precision {row['precision']:.3f}  recall {row['recall']:.3f}"
            self.stdout.write(f"{name:8} {rates}  n {row['n']}")
        for miss in figures["misses"]:
            self.stdout.write(f"{miss['lang']}: {miss['message']}")
