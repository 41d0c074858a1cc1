"""Django's `migrate`, over the owner's connection, followed by the application's rights."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from qanot_site import roles


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if options["database"] == "owner" and settings.DATABASE_URL:
            role = settings.DATABASES["default"].get("USER", "")
            roles.grant_application_role(connections["owner"], role=role)
