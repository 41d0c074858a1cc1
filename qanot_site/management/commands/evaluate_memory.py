"""`evaluate_memory`, listed among Django's commands; it runs in a process of its own settings."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from qanot_site.evaluation.__main__ import add_arguments, run_apart


class Command(BaseCommand):
    help = "Measure in a scratch database what search finds in a file of LoCoMo's format."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, "memory")

    def handle(self, *args: Any, **options: Any) -> None:
        run_apart("memory", options)
