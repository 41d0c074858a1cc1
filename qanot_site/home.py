"""The home: one folder with everything a local installation keeps.

    secret_key        signs sessions, seals stored keys; older ones in further lines
    files/            uploads (until another storage is set)
    backups/          dumps from before migrations, the last five
    run/lock          held by the running supervisor
    run/servers.json  addresses of the embedded servers, readable by their user alone
    postgres/, valkey/, logs/

Standard library only: the supervisor and the start of every command use it.
"""

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


class HomeInUse(Exception):
    """Another supervisor runs with this home."""


class HomeUnusable(Exception):
    """The home cannot be created or written."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the servers of a running supervisor answer; the URLs hold passwords."""

    database_url: str
    database_owner_url: str
    redis_url: str
    chat_url: str = ""


class Home:
    """Paths and small files below one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().absolute()
        self.run = self.folder / "run"
        self.logs = self.folder / "logs"
        self.files = self.folder / "files"
        self.backups = self.folder / "backups"
        self._lock = self.run / "lock"
        self._servers = self.run / "servers.json"
        self._secret_key = self.folder / "secret_key"

    def create(self) -> None:
        """Make the folders; other users can read nothing in them.

        Raises:
            HomeUnusable: It cannot be made or written.
        """
        try:
            if not self.folder.exists():
                self.folder.mkdir(parents=True)
                # Root's servers run as another user, who must pass through to its own folder.
                self.folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
            for folder in (self.run, self.logs, self.files):
                folder.mkdir(mode=0o700, exist_ok=True)
            probe = self.run / f".probe-{os.getpid()}"
            probe.write_bytes(b"0" * 4096)
            probe.unlink()
        except OSError as error:
            raise HomeUnusable(f"{self.folder}: {error.strerror}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home for the life of one supervisor; the kernel lets go when the process dies.

        Raises:
            HomeInUse: Another process holds it.
        """
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        # A command that asks `is_running` holds the lock for an instant: try more than once.
        for _ in range(10):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.05)
        raise HomeInUse(str(self.folder))

    def is_running(self) -> bool:
        """Whether a supervisor holds this home now."""
        try:
            descriptor = os.open(self._lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def publish(self, servers: Servers) -> None:
        """Tell commands on this machine where the servers answer."""
        write_private(self._servers, json.dumps(asdict(servers)))

    def withdraw(self) -> None:
        """Forget the addresses, at the end."""
        self._servers.unlink(missing_ok=True)

    def servers(self) -> Servers | None:
        """The running supervisor's servers, or None: nothing runs, or it is not ours to read."""
        try:
            servers = Servers(**json.loads(self._servers.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return servers if self.is_running() else None

    def secret_key(self) -> str:
        """The installation's key; made once when the home exists, else only for this process."""
        with contextlib.suppress(FileNotFoundError):
            return self._secret_keys()[0]
        made = _new_secret_key()
        if not self.folder.is_dir():
            return made
        # Two processes may start at once: link() lets exactly one of them win.
        draft = self.folder / f".secret_key-{os.getpid()}"
        write_private(draft, made)
        with contextlib.suppress(FileExistsError):
            os.link(draft, self._secret_key)
        draft.unlink()
        return self._secret_keys()[0]

    def old_secret_keys(self) -> list[str]:
        """The keys before the installation's own one, newest first, until they are forgotten."""
        try:
            return self._secret_keys()[1:]
        except FileNotFoundError:
            return []

    def renew_secret_key(self) -> None:
        """Put a new key before the installation's own one, for processes that start from now on.

        Raises:
            HomeUnusable: The home has no key yet.
        """
        try:
            older = self._secret_keys()
        except FileNotFoundError as error:
            raise HomeUnusable(f"{self.folder} has no secret key of its own") from error
        write_private(self._secret_key, "\n".join([_new_secret_key(), *older]))

    def forget_old_secret_keys(self) -> None:
        """Keep only the newest key."""
        write_private(self._secret_key, self._secret_keys()[0])

    def runs_on_an_older_key(self) -> bool:
        """Whether the running supervisor's processes started before the newest key was made."""
        try:
            started = self._servers.stat().st_mtime_ns
            made = self._secret_key.stat().st_mtime_ns
        except FileNotFoundError:
            return False
        return self.is_running() and started < made

    def _secret_keys(self) -> list[str]:
        """All keys of the file, newest first."""
        lines = self._secret_key.read_text().split("\n")
        return [lines[0], *(line for line in lines[1:] if line)]


def _new_secret_key() -> str:
    return secrets.token_urlsafe(48)


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner alone."""
    draft = path.with_name(f".{path.name}-{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
    draft.replace(path)
