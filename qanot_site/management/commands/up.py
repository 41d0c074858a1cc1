"""`up`, listed among Django's commands; `manage.py` runs it without loading Django."""

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from qanot_site import supervisor
from qanot_site.env import PROJECT


class Command(BaseCommand):
    help = "Run the whole platform: databases, web server, workers, beat."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        supervisor.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        given = [
            part
            for name in ("host", "port", "workers", "home")
            if options[name] is not None
            for part in (f"--{name}", str(options[name]))
        ]
        script = str(PROJECT / "manage.py")
        os.execv(  # noqa: S606 - our own interpreter, without Django's memory
            sys.executable, [sys.executable, script, "up", *given]
        )
