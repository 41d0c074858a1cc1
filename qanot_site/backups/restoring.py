"""Putting a backup back: into an empty database, or in one transaction over another."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from django.db.migrations.loader import MigrationLoader

from qanot_site.backups import archive, contents, programs
from qanot_site.backups.archive import Manifest, Reader
from qanot_site.backups.contents import TableFigures
from qanot_site.backups.errors import Differs, InUse, NotABackup, NotEmpty
from qanot_site.backups.programs import Programs
from qanot_site.backups.progress import Reporter

# What the owner's role may not make, or what is there already.
_LEFT_OUT: Final = (" SCHEMA - public ", " EXTENSION - ", " COMMENT - EXTENSION ")

# Everything in the schema that the owner's role made; what extensions brought stays.
_DROP: Final = """
DO $$
DECLARE
    statements text[];
    statement text;
BEGIN
    -- All at once: a drop takes others along, whose names could not be told any more.
    SELECT array_agg(drops.text) INTO statements FROM (
        SELECT format('DROP %s IF EXISTS public.%I CASCADE', CASE c.relkind WHEN 'v' THEN 'VIEW'
            WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname)
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
          AND pg_has_role(c.relowner, 'USAGE')
          -- Not an extension's, nor an identity column's own sequence.
          AND NOT EXISTS (
              SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i'))
        UNION ALL
        SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
        FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND pg_has_role(p.proowner, 'USAGE')
          AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    ) AS drops (text);
    FOREACH statement IN ARRAY coalesce(statements, '{}') LOOP
        EXECUTE statement;
    END LOOP;
END $$;
"""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore brought back.

    Args:
        manifest: None for a plain dump, which has none to compare with.
    """

    manifest: Manifest | None


def restore(
    source: Path, *, url: str, files: Path | None, overwrite: bool, reporter: Reporter
) -> Restored:
    """Put an archive, or a plain dump, into a database, and compare what is there then.

    Args:
        url: The database, as the role that owns its tables.
        files: The folder of files; None where they lie in another storage.
        overwrite: Whether rows that are there may be dropped.

    Raises:
        BackupError: It was refused or failed; the database is as it was, unless it is `Differs`.
    """
    if archive.is_plain_dump(source):
        _restore_database(source, url, manifest=None, overwrite=overwrite, reporter=reporter)
        return Restored(None)
    with archive.opened(source) as reader:
        manifest = reader.manifest
        _check_migrations(manifest.migrations)
        with tempfile.TemporaryDirectory(prefix=".qanot-restore-", dir=source.parent) as folder:
            dump = Path(folder) / archive.DUMP
            reader.extract(archive.DUMP, manifest.dump, dump)
            _check_files(reader, reporter)
            _restore_database(dump, url, manifest=manifest, overwrite=overwrite, reporter=reporter)
        if files is not None:
            _restore_files(reader, files, reporter)
    return Restored(manifest)


def _restore_database(
    dump: Path, url: str, *, manifest: Manifest | None, overwrite: bool, reporter: Reporter
) -> None:
    with contents.connect(url) as connection:
        _check_target(connection, overwrite=overwrite)
        server = contents.server_major(connection)
    if manifest is not None and manifest.postgres_major > server:
        raise NotABackup(
            f"The backup is of PostgreSQL {manifest.postgres_major}; this server is {server}: "
            "use one that is at least as new."
        )
    _replace(dump, url, programs.fitting(server), reporter)
    if manifest is not None:
        with contents.connect(url) as connection:
            _compare(connection, manifest.tables, reporter)


def _check_target(connection: psycopg.Connection, *, overwrite: bool) -> None:
    if found := contents.users(connection):
        raise InUse(
            f"The platform runs on this database ({found} connections): stop its web servers, "
            "workers and beats on every machine first."
        )
    if overwrite:
        return
    if full := next(contents.tables_with_rows(connection), None):
        raise NotEmpty(
            f"The database is not empty (there are rows in {full}). Restore into an empty one, "
            "or say --overwrite to drop what is there."
        )


def _check_migrations(migrations: Sequence[tuple[str, str]]) -> None:
    """Refuse what this version cannot read.

    Raises:
        NotABackup: A migration was applied that this version does not have.
    """
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known |= {(app, name) for app, name in migration.replaces}
    for app, name in migrations:
        if (app, name) not in known:
            raise NotABackup(
                f"The backup was made by a newer Qanot (it has {app}.{name}): update this one."
            )


def _replace(dump: Path, url: str, found: Programs, reporter: Reporter) -> None:
    """Drop what is there and restore, in one transaction."""
    with tempfile.TemporaryDirectory(prefix=".qanot-restore-", dir=dump.parent) as folder:
        listed = Path(folder) / "list"
        listed.write_text(_list(dump, found))
        drop = Path(folder) / "drop.sql"
        drop.write_text(_DROP)
        with reporter.step("Restoring the database"):
            _run(dump, listed, drop, url, found)


def _list(dump: Path, found: Programs) -> str:
    """Return the dump's table of contents without what is not ours to make."""
    process = found.spawn("pg_restore", ["--list", dump], stdout=subprocess.PIPE)
    stdout, stderr = process.communicate()
    if process.returncode:
        raise NotABackup(f"The dump cannot be read: {programs.complaint(stderr)}")
    lines = stdout.decode().splitlines()
    return "\n".join(line for line in lines if not any(part in line for part in _LEFT_OUT))


def _run(dump: Path, listed: Path, drop: Path, url: str, found: Programs) -> None:
    reading = found.spawn(
        "pg_restore",
        ["--no-owner", "--no-privileges", f"--use-list={listed}", "--file=-", dump],
        stdout=subprocess.PIPE,
    )
    writing = found.spawn(
        "psql",
        [
            *("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"),
            *(f"--file={drop}", "--file=-"),
        ],
        url=url,
        stdin=reading.stdout or subprocess.DEVNULL,
    )
    if reading.stdout is not None:
        # psql alone holds the pipe, so that pg_restore notices its end.
        reading.stdout.close()
        reading.stdout = None
    try:
        programs.said(writing, "The database cannot be restored and is as it was")
        programs.said(reading, "The dump cannot be read to its end")
    finally:
        for process in (reading, writing):
            programs.end(process)


def _compare(
    connection: psycopg.Connection, tables: dict[str, TableFigures], reporter: Reporter
) -> None:
    with reporter.step("Comparing rows with the backup", len(tables)) as count:
        if contents.tables(connection) != sorted(tables):
            raise Differs("The restored database has other tables than the backup.")
        for done, (name, expected) in enumerate(tables.items(), start=1):
            found = contents.figures(connection, name)
            if found != expected:
                raise Differs(
                    f"The table {name} differs from the backup: {found.rows} rows for "
                    f"{expected.rows}, or other content. Do not use this database."
                )
            count(done, name)


def _check_files(reader: Reader, reporter: Reporter) -> None:
    """Find damage before anything is replaced."""
    files = reader.manifest.files
    with reporter.step("Checking files", len(files)) as count:
        for done, (name, digest) in enumerate(files.items(), start=1):
            reader.check(f"{archive.FILES}{name}", digest)
            count(done)


def _restore_files(reader: Reader, folder: Path, reporter: Reporter) -> None:
    """Write the files; what is there under the same name is replaced, others stay."""
    files = reader.manifest.files
    with reporter.step("Files", len(files)) as count:
        for done, (name, digest) in enumerate(files.items(), start=1):
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name[:200]}-{os.getpid()}.new")
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()
            reader.extract(f"{archive.FILES}{name}", digest, draft)
            draft.replace(path)
            count(done)
