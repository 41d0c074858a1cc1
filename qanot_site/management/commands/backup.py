"""Write one archive with everything that must not be lost."""

from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.management.base import BaseCommand, CommandError, CommandParser

from qanot_site.backups import making, servers
from qanot_site.backups.errors import BackupError
from qanot_site.backups.progress import Reporter, megabytes
from qanot_site.commands import first_line


class Command(BaseCommand):
    help = "Write the database and the files into one archive, with figures to compare against."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the archive to write, such as qanot.backup")
        parser.add_argument(
            "--with-secret-key",
            action="store_true",
            help="also the key that opens the providers' keys: keep the archive as safe as them",
        )
        parser.add_argument(
            "--overwrite", action="store_true", help="replace the file if it exists"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        to: Path = options["file"].expanduser().absolute()
        if to.exists() and not options["overwrite"]:
            raise CommandError(f"{to} exists: choose another name, or say --overwrite.")
        if not to.parent.is_dir():
            raise CommandError(f"There is no folder {to.parent}.")
        reporter = Reporter()
        environment = settings.ENVIRONMENT
        try:
            with servers.reachable(
                settings.HOME,
                database_url=environment.database_url,
                database_owner_url=environment.database_owner_url,
                must_be_stopped=False,
            ) as addresses:
                manifest = making.make(
                    to,
                    url=addresses.owner_url,
                    files=files_folder(),
                    secret_key=settings.SECRET_KEY,
                    with_secret_key=options["with_secret_key"],
                    reporter=reporter,
                )
        except BackupError as error:
            raise CommandError(str(error)) from error
        except psycopg.OperationalError as error:
            raise CommandError(f"PostgreSQL does not answer: {first_line(error)}") from error
        self.stdout.write(
            f"{to}: {manifest.row_count:,} rows in {len(manifest.tables)} tables, "
            f"{len(manifest.files)} files, {megabytes(to.stat().st_size)}."
        )
        if not manifest.has_all_files:
            self.stdout.write("Files lie in another storage and are not in it.")
        if not manifest.has_secret_key:
            self.stdout.write(
                "The secret key is not in it. Keep QANOT_SECRET_KEY (or the file secret_key of the "
                "home) elsewhere: without it the providers' keys cannot be opened again."
            )


def files_folder() -> Path | None:
    """Return the folder of files; None where they lie in a storage that is no folder."""
    storage = default_storage
    # A lazy object: its class is the storage's own.
    return Path(storage.location) if isinstance(storage, FileSystemStorage) else None
