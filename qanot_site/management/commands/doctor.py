"""Say what is wrong with this deployment, and how to mend it."""

import sys
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from qanot_site.findings.registry import About, Finding, find_all


class Command(BaseCommand):
    help = "Say what is wrong with this deployment, one line a finding, each with its fix."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--strict", action="store_true", help="end with status 1 where there is a warning"
        )

        parser.add_argument(
            "--about",
            choices=get_args(About),
            help="only what people set up (content), or what it runs on (deployment)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = find_all(options["about"])
        for finding in found:
            self.stdout.write(self._line(finding))
        warnings = sum(finding.level == "warning" for finding in found)
        self.stdout.write(_summary(warnings, len(found) - warnings))
        if options["strict"] and warnings:
            sys.exit(1)

    def _line(self, finding: Finding) -> str:
        mark = self.style.WARNING if finding.level == "warning" else self.style.NOTICE
        head = mark(f"{finding.level} {finding.code}")
        # One line each: a name of somebody's choosing must not begin another.
        said = " ".join(f"{finding.subject}: {finding.text} → {finding.fix}".split())
        return f"{head}  {said}"


def _summary(warnings: int, notes: int) -> str:
    if not warnings and not notes:
        return _("Nothing is wrong.")
    return (
        ngettext("%(count)s warning", "%(count)s warnings", warnings) % {"count": warnings}
        + " · "
        + ngettext("%(count)s note", "%(count)s notes", notes) % {"count": notes}
    )
