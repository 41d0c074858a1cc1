"""`makemessages` with our habits, so that everybody's run writes the same files."""

import re
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import makemessages
from django.core.management.utils import popen_wrapper

# The only line that a second run would change.
_DATE: Final = re.compile(r'^"POT-Creation-Date: .*\n', re.MULTILINE)


class Command(makemessages.Command):
    """Gathers the texts of code and templates into the catalogue of every language."""

    help = (
        "Gathers the texts of code and templates into locale/*/LC_MESSAGES/django.po, for every "
        "language of the settings, and compiles each. Run it before and after translating."
    )
    # A guess would stand there as if somebody had translated it.
    msgmerge_options = [  # noqa: RUF012 - as Django declares it
        *makemessages.Command.msgmerge_options,
        "--no-fuzzy-matching",
    ]

    def handle(self, *args: Any, **options: Any) -> Any:
        options["locale"] = options["locale"] or [code for code, _ in settings.LANGUAGES]
        options["ignore_patterns"] = [*options["ignore_patterns"], "tests/*"]
        options |= {"add_location": "file", "no_obsolete": True, "no_wrap": True}
        return super().handle(*args, **options)

    def write_po_file(self, potfile: str, locale: str) -> None:
        """Write one catalogue, without the time of writing, and its compiled form.

        Raises:
            CommandError: A translation is not well formed, such as one that lost a value's name.
        """
        super().write_po_file(potfile, locale)
        catalogue = Path(potfile).parent / locale / "LC_MESSAGES" / f"{self.domain}.po"
        text = catalogue.read_text(encoding="utf-8")
        catalogue.write_text(_DATE.sub("", text), encoding="utf-8")
        # compilemessages would go through every locale folder below, those of .venv included.
        compiled = catalogue.with_suffix(".mo")
        command = ["msgfmt", "--check-format", "-o", str(compiled), str(catalogue)]
        _, errors, status = popen_wrapper(command)
        if status:
            raise CommandError(errors)
