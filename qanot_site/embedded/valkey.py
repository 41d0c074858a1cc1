"""The embedded Valkey: bells and live events; nothing in it must outlive it."""

import secrets
import signal
import subprocess
from collections.abc import Callable

from qanot_site.embedded.place import Place
from qanot_site.embedded.processes import (
    EmbeddedError,
    answers,
    free_port,
    last_lines,
    spawn,
    stop,
    wait_until,
)
from qanot_site.home import Home

_CONFIGURATION = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir {folder}
save ""
appendonly no
maxmemory 128mb
maxmemory-policy volatile-lru
"""


class Valkey:
    """One server; the same port and password for as long as this object lives."""

    name = "Valkey"

    def __init__(self, home: Home, place: Place) -> None:
        self._place = place
        self._log = home.logs / "valkey.log"
        self._password = secrets.token_urlsafe(24)
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address with its password."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    def spawn(self) -> None:
        """Start the server process; the password goes through a pipe, not the command line."""
        with self._log.open("wb") as log:
            self.process = spawn(
                [self._place.valkey_program, "-"],
                user=self._place.user,
                death_signal=signal.SIGTERM,
                environment={"PATH": "/usr/bin:/bin"},
                folder=self._place.valkey,
                stdin=subprocess.PIPE,
                output=log,
            )
        assert self.process.stdin is not None  # noqa: S101 - for the type checker: PIPE
        configuration = _CONFIGURATION.format(
            port=self.port, password=self._password, folder=self._place.valkey
        )
        self.process.stdin.write(configuration.encode())
        self.process.stdin.close()

    def wait(self, patience: Callable[[], None] = lambda: None, *, timeout_s: float = 20) -> None:
        """Return when the server accepts connections.

        Raises:
            EmbeddedError: It ended or does not get ready; the text has the log's last lines.
        """
        assert self.process is not None  # noqa: S101 - callers spawn first
        ready = wait_until(
            lambda: answers(self.port), self.process, timeout_s=timeout_s, patience=patience
        )
        if not ready:
            raise EmbeddedError(f"Valkey does not start: {last_lines(self._log)}")

    def stop(self, *, timeout_s: float = 2) -> None:
        """Stop; nothing has to be written."""
        if self.process is not None:
            stop(self.process, signal.SIGTERM, timeout_s=timeout_s)
