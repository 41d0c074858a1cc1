"""A platform that a test starts with `up`, and what it shows."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from qanot_site.embedded.processes import free_port
from qanot_site.env import variable_names

PROJECT = Path(__file__).resolve().parent.parent.parent


class Running:
    """One `manage.py up` with a home of its own."""

    def __init__(
        self,
        home: Path,
        *options: str,
        output: str = "first",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = free_port()
        self.home = home
        self._output = home.with_name(f"{output}.out")
        with self._output.open("wb") as stream:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, str(PROJECT / "manage.py"), "up", "--home", str(home)),
                    *("--port", str(self.port), *options),
                ],
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=clean_environment() | dict(environment or {}),
            )

    @property
    def shown(self) -> str:
        """Everything it printed so far."""
        return self._output.read_text()

    def wait_for(self, text: str, *, times: int = 1) -> None:
        """Wait until it has printed a text so many times."""
        wait_until(
            lambda: self.shown.count(text) >= times or self.process.poll() is not None,
            what=lambda: self.shown,
        )
        assert self.shown.count(text) >= times, self.shown

    def children(self) -> dict[int, str]:
        """Its children by pid, with their command lines."""
        found = subprocess.run(
            ["ps", "--ppid", str(self.process.pid), "-ww", "-o", "pid=,args="],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        rows = (line.strip().partition(" ") for line in found.splitlines())
        return {int(pid): arguments for pid, _, arguments in rows if "<defunct>" not in arguments}

    def child(self, part: str) -> int:
        """The pid of the one child whose command line has a part."""
        found = [pid for pid, arguments in self.children().items() if part in arguments]
        assert len(found) == 1, (part, self.children(), self.shown)
        return found[0]


def clean_environment() -> dict[str, str]:
    """The environment without the tests' own servers and without a person's configuration."""
    return os.environ | dict.fromkeys(variable_names(), "")


@contextmanager
def running(
    home: Path,
    *options: str,
    output: str = "first",
    environment: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """Start `up` and leave nothing of it behind."""
    platform = Running(home, *options, output=output, environment=environment)
    try:
        yield platform
    finally:
        if platform.process.poll() is None:
            platform.process.terminate()
        platform.process.wait(15)


def wait_until(
    condition: Callable[[], bool], *, timeout_s: float = 90, what: Callable[[], str] = str
) -> None:
    """Wait for a state; the failure says what was there instead."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Whether no such process runs any more."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"
