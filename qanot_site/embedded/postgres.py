"""The embedded PostgreSQL: one cluster, a superuser, an owner and an application role."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from qanot_site.embedded.place import Place
from qanot_site.embedded.processes import (
    EmbeddedError,
    free_port,
    last_lines,
    spawn,
    stop,
    wait_until,
)
from qanot_site.home import Home, write_private

DATABASE = "qanot"
OWNER = "qanot_owner"
APPLICATION = "qanot_app"
SUPERUSER = "postgres"
EXTENSIONS = ("vector", "pg_trgm", "unaccent")

_BEFORE_US = "pre-existing shared memory block"
_LOG_LIMIT_BYTES = 10_000_000
# Nothing of the caller's environment reaches the server but what it needs.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _settings(max_connections: int, *, is_durable: bool) -> dict[str, str]:
    """Server settings: durable, small in memory, and silent about what people write."""
    return {
        "listen_addresses": "127.0.0.1",
        # TCP only: the path of a socket file may be longer than the system allows.
        "unix_socket_directories": "",
        "max_connections": str(max_connections),
        "shared_buffers": "128MB",
        "work_mem": "4MB",
        "maintenance_work_mem": "64MB",
        "jit": "off",
        # Two cores: workers of one query would take them from other turns. Each of these
        # processes also costs memory of its own.
        "max_parallel_workers": "0",
        "max_worker_processes": "2",
        "max_logical_replication_workers": "0",
        "autovacuum_max_workers": "1",
        "io_method": "sync",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_wal_size": "256MB",
        "synchronous_commit": "on" if is_durable else "off",
        "fsync": "on" if is_durable else "off",
        "full_page_writes": "on" if is_durable else "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_min_messages": "warning",
        # Statements and details carry people's text.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
    }


class Postgres:
    """One server; the same port and passwords for as long as this object lives."""

    name = "PostgreSQL"

    def __init__(
        self, home: Home, place: Place, *, max_connections: int = 100, is_durable: bool = True
    ) -> None:
        self._place = place
        self._data = place.postgres / "data"
        self._log = home.logs / "postgres.log"
        self._passwords_file = home.folder / "postgres.passwords"
        self._settings = _settings(max_connections, is_durable=is_durable)
        self._is_durable = is_durable
        self._passwords: dict[str, str] = {}
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def url(self, role: str, database: str = DATABASE) -> str:
        """An address with the role's password in it."""
        return f"postgresql://{role}:{self._passwords[role]}@127.0.0.1:{self.port}/{database}"

    def is_new(self) -> bool:
        """Whether the cluster has yet to be made."""
        return not (self._data / "PG_VERSION").exists()

    def prepare(self) -> None:
        """Make the cluster at the first start; wait for a server that another start left behind.

        Raises:
            EmbeddedError: No space, no rights, or data without its passwords.
        """
        if self.is_new():
            self._create()
        try:
            self._passwords = json.loads(self._passwords_file.read_text())
        except FileNotFoundError as error:
            raise EmbeddedError(
                f"{self._passwords_file} is missing, so the data in {self._data} cannot be "
                "opened: put it back, or move the data away to start anew."
            ) from error
        self._end_predecessor()

    def spawn(self) -> None:
        """Start the server process; `wait` says when it answers."""
        if self._log.exists() and self._log.stat().st_size > _LOG_LIMIT_BYTES:
            self._log.replace(self._log.with_suffix(".log.1"))
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        with self._log.open("ab") as log:
            self.process = spawn(
                [
                    *(self._place.postgres_programs / "postgres", "-D", self._data),
                    *(f"--port={self.port}", *options),
                ],
                user=self._place.user,
                # "Fast": sessions end at once, the data is written.
                death_signal=signal.SIGINT,
                environment=_ENVIRONMENT,
                folder=self._place.postgres,
                output=log,
            )

    def wait(self, patience: Callable[[], None] = lambda: None, *, timeout_s: float = 60) -> None:
        """Return when the server accepts connections.

        Raises:
            EmbeddedError: It ended or does not get ready; the text has the log's last lines.
        """
        deadline = time.monotonic() + timeout_s
        while not self._waited(deadline - time.monotonic(), patience):
            # A killed server's sessions take a moment to notice; until then nothing may start.
            if time.monotonic() < deadline and _BEFORE_US in last_lines(self._log):
                time.sleep(0.1)
                self.spawn()
                continue
            raise EmbeddedError(_reason(self._log, self._place.postgres))

    def _waited(self, timeout_s: float, patience: Callable[[], None]) -> bool:
        assert self.process is not None  # noqa: S101 - callers spawn first
        return wait_until(self._is_ready, self.process, timeout_s=timeout_s, patience=patience)

    def stop(self, *, timeout_s: float = 5) -> None:
        """End all sessions, write everything, stop."""
        if self.process is not None:
            stop(self.process, signal.SIGINT, timeout_s=timeout_s)

    def _is_ready(self) -> bool:
        """The server writes its state into the eighth line of its pid file."""
        assert self.process is not None  # noqa: S101 - callers spawn first
        lines = _lines(self._data / "postmaster.pid")
        return (
            len(lines) >= 8
            and lines[0].strip() == str(self.process.pid)
            and lines[7].strip() == "ready"
        )

    def _create(self) -> None:
        """Make a cluster aside and move it in when it is complete."""
        draft = self._place.postgres / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        passwords = {role: secrets.token_urlsafe(24) for role in (SUPERUSER, OWNER, APPLICATION)}
        password_file = self._place.postgres / "initdb.password"
        write_private(password_file, passwords[SUPERUSER])
        if self._place.user is not None:
            os.chown(password_file, self._place.user.uid, self._place.user.gid)
        try:
            self._run(
                *("initdb", "-D", draft, "-U", SUPERUSER, f"--pwfile={password_file}"),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-instructions"),
                # Written out below, together with the first statements.
                "--no-sync",
            )
        finally:
            password_file.unlink()
        self._run(
            *("postgres", "--single", "-j", "-D", draft, "-c", "wal_level=minimal"),
            *("-c", "max_wal_senders=0", "template1"),
            statements=_first_statements(passwords),
        )
        if self._is_durable:
            self._run("initdb", "--sync-only", "-D", draft)
        write_private(self._passwords_file, json.dumps(passwords))
        draft.rename(self._data)

    def _run(self, program: str, *arguments: str | Path, statements: str = "") -> None:
        process = spawn(
            [self._place.postgres_programs / program, *arguments],
            user=self._place.user,
            environment=_ENVIRONMENT,
            folder=self._place.postgres,
            stdin=subprocess.PIPE,
            output=subprocess.PIPE,
        )
        stdout, stderr = process.communicate(statements.encode())
        said = (stdout + stderr).decode(errors="replace")
        if process.returncode or "ERROR:" in said or "FATAL:" in said:
            raise EmbeddedError(_explain(said, self._place.postgres))

    def _end_predecessor(self) -> None:
        """A killed supervisor's server may still be writing its last pages."""
        pid_file = self._data / "postmaster.pid"
        lines = _lines(pid_file)
        if not lines or not lines[0].strip().isdigit():
            return
        pid = int(lines[0])
        if not _is_alive(pid):
            # The server itself clears the file, after checking that no old process uses the data.
            return
        if not _runs_on(pid, self._data):
            # The number was given to a stranger since, as in a restarted container.
            pid_file.unlink(missing_ok=True)
            return
        os.kill(pid, signal.SIGINT)
        if not _wait_for_end(pid, timeout_s=20):
            os.kill(pid, signal.SIGQUIT)
            _wait_for_end(pid, timeout_s=10)


def _first_statements(passwords: dict[str, str]) -> str:
    """Extensions into the template, so that every later database has them; roles; our database."""
    statements = [
        *(f"CREATE EXTENSION {name}" for name in EXTENSIONS),
        f"CREATE ROLE {OWNER} LOGIN PASSWORD '{passwords[OWNER]}'",
        f"CREATE ROLE {APPLICATION} LOGIN PASSWORD '{passwords[APPLICATION]}'",
        f"CREATE DATABASE {DATABASE} OWNER {OWNER}",
        f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC",
        f"GRANT CONNECT, TEMPORARY ON DATABASE {DATABASE} TO {APPLICATION}",
    ]
    # With -j a statement ends at a semicolon followed by an empty line.
    return "".join(f"{statement};\n\n" for statement in statements)


def _disk_is_full(said: str, folder: Path) -> bool:
    """Whether a server failed for want of space; its smallest need is a segment of 16 MB."""
    signs = ("No space left on device", "wrote only")
    return any(sign in said for sign in signs) or shutil.disk_usage(folder).free < 16_000_000


def _explain(said: str, folder: Path) -> str:
    if _disk_is_full(said, folder):
        return f"The disk of {folder} is full: free some space and start again."
    lines = [line for line in said.splitlines() if "ERROR" in line or "FATAL" in line]
    return f"PostgreSQL cannot be set up: {(lines or said.splitlines() or ['no output'])[-1]}"


def _reason(log: Path, folder: Path) -> str:
    said = last_lines(log)
    if _disk_is_full(said, folder):
        return f"The disk of {folder} is full: free some space and start again."
    return f"PostgreSQL does not start: {said} (log: {log})"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet collected does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except (PermissionError, FileNotFoundError):
        # Another user's, or a system without /proc.
        return True


def _runs_on(pid: int, data: Path) -> bool:
    try:
        return os.fsencode(data) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        # No /proc, as on macOS: trust the pid file.
        return not Path("/proc").is_dir()


def _wait_for_end(pid: int, *, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if not _is_alive(pid):
            return True
        time.sleep(0.02)
    return False
