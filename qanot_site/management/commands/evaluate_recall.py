"""`evaluate_recall`, listed among Django's commands; it runs in a process of its own settings."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from qanot_site.evaluation import background
from qanot_site.evaluation.__main__ import add_arguments, run_apart


class Command(BaseCommand):
    help = "Measure in a scratch database facts and questions in several languages."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, "recall")
        parser.add_argument(
            "--background",
            action="store_true",
            help="first make memory/search/background.json anew of background.tsv",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["background"]:
            background.write()
        run_apart("recall", options)
