"""Making a backup: a dump, the figures of its snapshot, the files, one archive."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg
from django.utils.crypto import salted_hmac

from qanot_site.backups import archive, contents, programs
from qanot_site.backups.archive import Digest, Manifest, Writer
from qanot_site.backups.contents import TableFigures
from qanot_site.backups.errors import BackupError
from qanot_site.backups.progress import Count, Reporter, megabytes

# Quick, and three quarters as small as the slowest.
_COMPRESSION: Final = "1"
_LOOK_AGAIN_S: Final = 0.2


def make(
    to: Path,
    *,
    url: str,
    files: Path | None,
    secret_key: str,
    with_secret_key: bool,
    reporter: Reporter,
) -> Manifest:
    """Write an archive of a database and its files.

    Args:
        url: The database, as the role that owns its tables.
        files: The folder of files; None where they lie in another storage.
        secret_key: What seals the providers' keys.

    Raises:
        BackupError: It cannot be made; there is no file then.
    """
    try:
        with (
            # Beside the archive: the same disk has to have room for it.
            tempfile.TemporaryDirectory(prefix=".qanot-backup-", dir=to.parent) as folder,
            archive.written(to) as writer,
        ):
            dump = Path(folder) / archive.DUMP
            connection = contents.connect(url)
            with connection:
                tables = dump_with_figures(connection, url, dump, reporter)
                migrations = contents.applied_migrations(connection)
                major = contents.server_major(connection)
            with reporter.step("Writing the archive"):
                dumped = writer.add(archive.DUMP, dump)
            manifest = Manifest(
                made_at=datetime.now(UTC),
                postgres_major=major,
                migrations=migrations,
                tables=tables,
                dump=dumped,
                files=_add_files(writer, files, reporter) if files else {},
                has_all_files=files is not None,
                has_secret_key=with_secret_key,
                key_mark=mark_of(secret_key),
            )
            if with_secret_key:
                writer.add_text(archive.KEY, secret_key)
            writer.add_text(archive.MANIFEST, manifest.model_dump_json(indent=1))
    except OSError as error:
        raise BackupError(f"{error.filename or to}: {error.strerror}.") from error
    return manifest


def mark_of(secret_key: str) -> str:
    """Return what tells two secret keys apart and gives neither away."""
    return salted_hmac("qanot.backup", b"key", secret=secret_key, algorithm="sha256").hexdigest()[
        :16
    ]


def dump_with_figures(
    connection: psycopg.Connection, url: str, to: Path, reporter: Reporter
) -> dict[str, TableFigures]:
    """Dump a database, and count and hash the same snapshot meanwhile.

    Raises:
        BackupError: pg_dump is missing or failed.
    """
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    row = connection.execute("SELECT pg_export_snapshot()").fetchone()
    if row is None:
        raise AssertionError("a function gives a row")
    process = start_dump(connection, url, to, snapshot=row[0])
    try:
        names = contents.tables(connection)
        figures = {}
        with reporter.step("Counting and hashing tables", len(names)) as count:
            for done, name in enumerate(names, start=1):
                figures[name] = contents.figures(connection, name)
                count(done, name)
        with reporter.step("Dumping the database") as count:
            finish_dump(process, to, count)
    finally:
        programs.end(process)
    return figures


def start_dump(
    connection: psycopg.Connection, url: str, to: Path, *, snapshot: str = ""
) -> "subprocess.Popen[bytes]":
    """Start pg_dump into a new file that its owner alone can read.

    Raises:
        NoPrograms: There is no pg_dump for this server.
    """
    found = programs.fitting(contents.server_major(connection))
    os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    options = ["--format=custom", f"--compress={_COMPRESSION}", "--schema=public"]
    # Owners and rights are given anew: a restore may go to other roles.
    options += ["--no-owner", "--no-privileges", f"--file={to}"]
    options += [f"--snapshot={snapshot}"] if snapshot else []
    return found.spawn("pg_dump", options, url=url)


def finish_dump(process: "subprocess.Popen[bytes]", to: Path, count: Count) -> None:
    """Wait for pg_dump.

    Raises:
        BackupError: It failed.
    """
    while process.poll() is None:
        count(0, megabytes(to.stat().st_size))
        time.sleep(_LOOK_AGAIN_S)
    programs.said(process, "The database cannot be dumped")


def _add_files(writer: Writer, folder: Path, reporter: Reporter) -> dict[str, Digest]:
    names = sorted(_names(folder))
    found = {}
    with reporter.step("Files", len(names)) as count:
        for done, name in enumerate(names, start=1):
            try:
                found[name] = writer.add(f"{archive.FILES}{name}", folder / name)
            except FileNotFoundError:
                # Erased since: what is erased belongs in no backup.
                continue
            finally:
                count(done)
    return found


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()
