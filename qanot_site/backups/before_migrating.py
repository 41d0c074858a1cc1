"""A dump of a database that is about to be migrated, kept in the home."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from qanot_site.backups import contents, making, programs
from qanot_site.backups.errors import BackupError, NoPrograms
from qanot_site.backups.progress import Reporter

KEPT: Final = 5
_PREFIX: Final = "before-"

Policy = Literal["auto", "off", "require"]


def dump(
    *, url: str, folder: Path, migration: str, policy: Policy, reporter: Reporter
) -> tuple[str, ...]:
    """Dump a database that has rows, and keep the last five dumps.

    Args:
        url: The database, as the role that owns its tables.
        migration: The first one that is going to be applied, as `app.name`.
        policy: What to do where no pg_dump fits this server: `auto` goes on and warns, `require`
            refuses; `off` never dumps.

    Returns:
        Sentences for the person who starts the platform; none where nothing was to be done.

    Raises:
        BackupError: The dump failed, or is required and there is no pg_dump.
    """
    if policy == "off":
        return ()
    with contents.connect(url) as connection:
        if not any(contents.tables_with_rows(connection)):
            return ()
        connection.rollback()
        to = folder / f"{_PREFIX}{migration}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.dump"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            draft = to.with_name(f".{to.name}.new")
            draft.unlink(missing_ok=True)
            process = making.start_dump(connection, url, draft)
        except NoPrograms as error:
            if policy == "require":
                raise
            return (
                f"The database is migrated without a dump of it as it was: {error} "
                "QANOT_DUMP_BEFORE_MIGRATE=off silences this.",
            )
        except OSError as error:
            raise BackupError(f"{error.filename or folder}: {error.strerror}.") from error
    try:
        with reporter.step("Dumping the database before it is migrated") as count:
            making.finish_dump(process, draft, count)
        draft.replace(to)
    finally:
        programs.end(process)
        draft.unlink(missing_ok=True)
    _remove_old(folder)
    return (
        f"The database as it was before {migration} lies in {to}. To go back: install the "
        f"version of before and run `python3 manage.py restore {to} --overwrite`.",
    )


def _remove_old(folder: Path) -> None:
    # By age, as names of other migrations sort otherwise.
    dumps = sorted(folder.glob(f"{_PREFIX}*.dump"), key=lambda path: path.stat().st_mtime_ns)
    for path in dumps[:-KEPT]:
        path.unlink(missing_ok=True)
    # Of a start that was killed.
    for path in folder.glob(f".{_PREFIX}*.new"):
        path.unlink(missing_ok=True)
