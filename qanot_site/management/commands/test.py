"""`test`, listed among Django's commands; `manage.py` runs it without loading Django."""

import argparse
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from qanot_site.env import PROJECT


class Command(BaseCommand):
    help = "Run the tests with their own servers; further arguments go to pytest."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of pytest")

    def handle(self, *args: Any, **options: Any) -> None:
        script = str(PROJECT / "manage.py")
        os.execv(  # noqa: S606 - our own interpreter, before Django reads its settings
            sys.executable, [sys.executable, script, "test", *options["arguments"]]
        )
