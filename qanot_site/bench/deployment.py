"""What is measured: `manage.py up` in a home of its own, beside a fake model provider."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qanot_site.bench import processes
from qanot_site.bench.processes import Process
from qanot_site.embedded.place import settle
from qanot_site.embedded.postgres import APPLICATION, OWNER, Postgres
from qanot_site.embedded.processes import free_port, spawn, stop, wait_until
from qanot_site.embedded.valkey import Valkey
from qanot_site.env import PROJECT, variable_names
from qanot_site.home import Home

START_S: Final = 90.0
STOP_S: Final = 15.0
# Of up to four workers, the web server, beat and ourselves: docs/connections.md.
MAX_CONNECTIONS: Final = 160
# Where the accounts of the fake provider find their key.
KEY_VARIABLE: Final = "BENCH_PROVIDER_KEY"


class DidNotStart(Exception):
    """Something that is to be measured does not run; the text says what it printed last."""


def forget_configuration() -> None:
    """Hide a person's environment and `.env`: an empty value counts as not set."""
    for name in variable_names():
        os.environ[name] = ""
    os.environ[KEY_VARIABLE] = "sk-fake"


@dataclass(frozen=True, slots=True)
class Provider:
    """A fake server: of models, or Telegram's."""

    url: str
    pid: int


class Platform:
    """One `manage.py up`.

    Args:
        output: Descriptor that its log lines go to; None for a file in the home.
    """

    def __init__(
        self,
        home: Home,
        *,
        workers: int = 1,
        environment: Mapping[str, str] | None = None,
        output: int | None = None,
    ) -> None:
        self.port = free_port()
        self.provider: Provider | None = None
        self._home = home
        self._workers = workers
        self._environment = environment or {}
        self._output = output
        self._log = home.folder.parent / "up.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Return the web server's host and port."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Return the supervisor's process id."""
        if self._process is None:
            raise AssertionError("the platform is started")
        return self._process.pid

    def start(self) -> None:
        """Start everything; ``wait`` says when it is ready."""
        with self._log.open("wb") as log:
            self._process = spawn(
                [
                    *(sys.executable, PROJECT / "manage.py", "up", "--home", self._home.folder),
                    *("--port", str(self.port), "--workers", str(self._workers)),
                ],
                # In order: with it go the web server, the workers and the databases.
                death_signal=signal.SIGTERM,
                environment=os.environ | self._environment,
                folder=PROJECT,
                output=self._output or log,
            )

    def wait(self) -> None:
        """Wait until the first page is there and all workers run turns.

        Raises:
            DidNotStart: The supervisor ended, or it takes too long.
        """
        deadline = time.monotonic() + START_S
        while b"Ready after" not in self._log.read_bytes() or not self._has_all_workers():
            if self._process is None or self._process.poll() is not None:
                raise DidNotStart(self._last_lines())
            if time.monotonic() > deadline:
                raise DidNotStart(f"not ready after {START_S:g} s: {self._last_lines()}")
            time.sleep(0.05)

    def _has_all_workers(self) -> bool:
        return self._log.read_bytes().count(b"worker.started") >= self._workers

    def _last_lines(self) -> str:
        return self._log.read_text(errors="replace").strip()[-2000:]

    def processes(self) -> list[Process]:
        """Return all its processes, the databases' own included."""
        return processes.descendants(self.pid)

    def cpu_s(self) -> dict[str, float]:
        """Return the processor time used so far, by job; the load client is this process."""
        others = {"load client": os.getpid()}
        if self.provider is not None:
            others["fake provider"] = self.provider.pid
        return processes.cpu_by_job(self.pid, **others)

    def pids(self, name: str) -> list[int]:
        """Return the processes that do one job: ``web``, ``worker``."""
        return [process.pid for process in self.processes() if process.name == name]

    def stop(self) -> None:
        """Stop everything, in order."""
        if self._process is not None:
            stop(self._process, signal.SIGTERM, timeout_s=STOP_S)


@contextlib.contextmanager
def fake_provider(folder: Path, *, chunks: int, interval_ms: int) -> Iterator[Provider]:
    """Run the fake model in a process of its own; yield where it is.

    Args:
        folder: Where it may write what it says.
        chunks: Pieces of an answer, where the message asks for no other number.
        interval_ms: Between two pieces.
    """
    shape = ("--chunks", str(chunks), "--interval-ms", str(interval_ms))
    with _fake("anthropic", *shape, folder=folder) as provider:
        yield provider


@contextlib.contextmanager
def fake_telegram(folder: Path) -> Iterator[Provider]:
    """Run the fake Bot API in a process of its own; yield where it is."""
    with _fake("telegram", folder=folder) as telegram:
        yield telegram


@contextlib.contextmanager
def _fake(name: str, *options: str, folder: Path) -> Iterator[Provider]:
    said = folder / f"fake-{name}.log"
    with said.open("wb") as output:
        process = spawn(
            [sys.executable, "-m", f"tests.fakes.{name}", "--port", "0", *options],
            death_signal=signal.SIGTERM,
            folder=PROJECT,
            output=output,
        )
    try:
        started = wait_until(
            lambda: b"\n" in said.read_bytes(), process, timeout_s=START_S, patience=lambda: None
        )
        if not started:
            raise DidNotStart(f"the fake {name}: {said.read_text(errors='replace')[-2000:]}")
        yield Provider(f"http://127.0.0.1:{int(said.read_text().split()[0])}", process.pid)
    finally:
        stop(process, signal.SIGTERM, timeout_s=STOP_S)


@dataclass(frozen=True, slots=True)
class OwnServers:
    """The servers of a bench that takes them away."""

    postgres: Postgres
    valkey: Valkey


@contextlib.contextmanager
def own_servers(home: Home) -> Iterator[OwnServers]:
    """Run PostgreSQL and Valkey as `up` would, and name them to every process from now on."""
    place = settle(home)
    postgres = Postgres(home, place, max_connections=MAX_CONNECTIONS)
    valkey = Valkey(home, place)
    try:
        postgres.prepare()
        postgres.spawn()
        valkey.spawn()
        postgres.wait()
        valkey.wait()
        os.environ["DATABASE_URL"] = postgres.url(APPLICATION)
        os.environ["DATABASE_OWNER_URL"] = postgres.url(OWNER)
        os.environ["REDIS_URL"] = valkey.url
        yield OwnServers(postgres, valkey)
    finally:
        valkey.stop()
        postgres.stop()
