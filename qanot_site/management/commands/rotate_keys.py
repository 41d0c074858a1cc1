"""Change the secret key without losing what it sealed: docs/security.md."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.services import keys
from qanot_site.home import Home, HomeUnusable
from sessions.channels.telegram import tokens


class Command(BaseCommand):
    help = (
        "Seal every stored key with the current secret key. With --new, first make the home's "
        "secret key anew; after the restart, --forget seals everything with it and drops the old."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        step = parser.add_mutually_exclusive_group()
        step.add_argument(
            "--new", action="store_true", help="make a new secret key in the home, keep the old"
        )
        step.add_argument(
            "--forget", action="store_true", help="seal everything, then drop the old secret keys"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        home = Home(settings.QANOT_HOME)
        if options["new"]:
            self._renew(home)
            return
        self._reseal(home)
        if options["forget"]:
            _refuse_foreign_key(home)
            home.forget_old_secret_keys()
            self.stdout.write("Older secret keys are forgotten; sessions that they signed end.")

    def _renew(self, home: Home) -> None:
        _refuse_foreign_key(home)
        try:
            home.renew_secret_key()
        except HomeUnusable as exc:
            raise CommandError(f"{exc}.") from exc
        self.stdout.write(
            "There is a new secret key; the old one still opens and verifies. Restart Qanot, then "
            "run `rotate_keys --forget`."
        )

    def _reseal(self, home: Home) -> None:
        if home.runs_on_an_older_key():
            # Its processes could not open what is sealed with a key that they do not know.
            raise CommandError("Restart Qanot first: it still runs on the older secret key.")
        done = [keys.reseal_all(), tokens.reseal_all()]
        unreadable = [name for part in done for name in part.unreadable]
        self.stdout.write(
            f"Keys sealed anew: {sum(part.changed for part in done)}; sealed with the current "
            f"secret key already: {sum(part.kept for part in done)}; not readable: "
            f"{len(unreadable)}."
        )
        if unreadable:
            raise CommandError(
                "No known secret key opens the keys of these accounts; enter them again, or add "
                "the secret key to QANOT_SECRET_KEY_FALLBACKS: " + "; ".join(unreadable)
            )


def _refuse_foreign_key(home: Home) -> None:
    """Refuse to work on the home's file where the secret key comes from elsewhere."""
    if settings.SECRET_KEY != home.secret_key():
        raise CommandError(
            "The secret key comes from QANOT_SECRET_KEY: change it there, and put the old one "
            "into QANOT_SECRET_KEY_FALLBACKS until `rotate_keys` has run."
        )
