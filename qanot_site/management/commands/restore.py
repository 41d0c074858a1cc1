"""Put a backup back."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from qanot_site.backups import archive, making, restoring, servers
from qanot_site.backups.archive import Manifest
from qanot_site.backups.errors import BackupError
from qanot_site.backups.progress import Reporter
from qanot_site.backups.servers import Addresses
from qanot_site.commands import first_line
from qanot_site.env import PROJECT
from qanot_site.home import write_private
from qanot_site.management.commands.backup import files_folder


class Command(BaseCommand):
    help = "Restore an archive of `backup`, or a dump made before a migration, and compare it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the archive, or the dump")
        target = parser.add_mutually_exclusive_group()
        target.add_argument(
            "--into-empty",
            action="store_true",
            help="only into a database without rows; so it is without any option",
        )
        target.add_argument(
            "--overwrite", action="store_true", help="drop the rows that are in the database"
        )
        parser.add_argument(
            "--with-secret-key",
            action="store_true",
            help="use the archive's secret key in this home from now on",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        source: Path = options["file"].expanduser().absolute()
        if not source.is_file():
            raise CommandError(f"There is no file {source}.")
        environment = settings.ENVIRONMENT
        try:
            if options["with_secret_key"]:
                self._take_key(source)
            with servers.reachable(
                settings.HOME,
                database_url=environment.database_url,
                database_owner_url=environment.database_owner_url,
                must_be_stopped=True,
            ) as addresses:
                restored = restoring.restore(
                    source,
                    url=addresses.owner_url,
                    files=files_folder(),
                    overwrite=options["overwrite"],
                    reporter=Reporter(),
                )
                self._prepare(addresses)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except psycopg.OperationalError as error:
            raise CommandError(f"PostgreSQL does not answer: {first_line(error)}") from error
        except OSError as error:
            raise CommandError(f"{error.filename or source}: {error.strerror}.") from error
        self._tell(restored.manifest)

    def _take_key(self, source: Path) -> None:
        """Put the archive's key into the home; the environment's own would hide it."""
        if settings.ENVIRONMENT.qanot_secret_key:
            raise CommandError(
                "QANOT_SECRET_KEY is set and goes before the home's key: set it to the key of the "
                "backup instead, and leave --with-secret-key out."
            )
        with archive.opened(source) as reader:
            if not reader.manifest.has_secret_key:
                raise CommandError("The backup has no secret key in it.")
            key = reader.secret_key()
        settings.HOME.create()
        write_private(settings.HOME.folder / "secret_key", key)
        settings.SECRET_KEY = key

    def _prepare(self, addresses: Addresses) -> None:
        """Migrate what is older than this version, and grant the application's role its rights."""
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, PROJECT / "manage.py", "prepare", "--schema-only"],
            env=os.environ
            | {
                "QANOT_HOME": str(settings.HOME.folder),
                "DATABASE_URL": addresses.application_url,
                "DATABASE_OWNER_URL": addresses.owner_url,
                # The backup is the copy.
                "QANOT_DUMP_BEFORE_MIGRATE": "off",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.stdout.write(done.stdout, ending="")
        if done.returncode:
            raise CommandError(
                "The rows are restored, but the schema could not be brought up to date; "
                f"run `python3 manage.py prepare`: {done.stderr.strip()[-500:]}"
            )

    def _tell(self, manifest: Manifest | None) -> None:
        if manifest is None:
            self.stdout.write("The dump is restored. It holds no files and nothing to compare.")
            return
        self.stdout.write(
            f"Restored and compared: {manifest.row_count:,} rows in {len(manifest.tables)} tables, "
            f"{len(manifest.files)} files; counts and hashes are those of {manifest.made_at:%F %T} "
            "UTC."
        )
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        if manifest.key_mark not in map(making.mark_of, keys):
            self.stdout.write(
                "The secret key here is another one: add that of the backup to "
                "QANOT_SECRET_KEY_FALLBACKS, else the providers' keys have to be entered again."
            )
