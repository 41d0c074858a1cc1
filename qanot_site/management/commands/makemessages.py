"""`makemessages` with our habits, so that everybody's run writes the same files."""

import re
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.commands import makemessages

# The only line that a second run would change.
_DATE: Final = re.compile(r'^"POT-Creation-Date: .*\n', re.MULTILINE)


class Command(makemessages.Command):
    """Gathers the texts of code and templates into the catalogue of every language."""

    help = (
        "Gathers the texts of code and templates into locale/*/LC_MESSAGES/django.po, for every "
        "language of the settings. Compile them with compilemessages."
    )
    # A guessed translation is worse than the English text: none is shown as if it were right.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]  # noqa: RUF012 - as Django declares it

    def handle(self, *args: Any, **options: Any) -> Any:
        options["locale"] = options["locale"] or [code for code, _ in settings.LANGUAGES]
        options["ignore_patterns"] = [*options["ignore_patterns"], "tests/*"]
        options |= {"add_location": "file", "no_obsolete": True, "no_wrap": True}
        return super().handle(*args, **options)

    def write_po_file(self, potfile: str, locale: str) -> None:
        """Write one catalogue, without the time of writing."""
        super().write_po_file(potfile, locale)
        catalogue = Path(potfile).parent / locale / "LC_MESSAGES" / f"{self.domain}.po"
        text = catalogue.read_text(encoding="utf-8")
        catalogue.write_text(_DATE.sub("", text), encoding="utf-8")
