"""`check`: Django's own, with the admin's pages there to be looked at."""

from typing import Any

from django.contrib import admin
from django.core.management.commands import check


class Command(check.Command):
    # Any: Django's own arguments and options.
    def handle(self, *args: Any, **options: Any) -> None:
        """Look at everything; the pages are otherwise imported by what serves them."""
        admin.autodiscover()
        super().handle(*args, **options)
