"""`bench`, listed among Django's commands; it runs in a process without this one's settings."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from qanot_site.bench.__main__ import add_arguments
from qanot_site.env import PROJECT


class Command(BaseCommand):
    help = (
        "Measure the platform in a temporary home: turns, streams, bots, faults, a backup, search."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        given = [options["measure"], "--runs", str(options["runs"])]
        given += ["--entries", str(options["entries"])]
        given += ["--passages", str(options["passages"])]
        given += ["--seconds", str(options["seconds"])]
        given += ["--points", options["points"]] if options["points"] else []
        given += ["--keep", options["keep"]] if options["keep"] else []
        given += ["--tenth"] if options["tenth"] else []
        given += ["--json", options["json"]] if options["json"] else []
        # The fakes are found from the project folder.
        os.chdir(PROJECT)
        os.execv(  # noqa: S606 - our own interpreter, before Django reads other settings
            sys.executable, [sys.executable, "-m", "qanot_site.bench", *given]
        )
