"""`python3 manage.py up`: start everything in order, keep it running, stop it in order.

Neither Django nor a database driver is imported here: this process lives as long as the platform.
"""

import argparse
import contextlib
import json
import os
import select
import selectors
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from qanot_site.embedded.place import settle
from qanot_site.embedded.postgres import APPLICATION, OWNER, Postgres
from qanot_site.embedded.processes import EmbeddedError, spawn
from qanot_site.embedded.valkey import Valkey
from qanot_site.env import (
    PROJECT,
    BadEnvironment,
    Environment,
    load_dotenv,
    read_environment,
)
from qanot_site.home import Home, HomeInUse, HomeUnusable, Servers

# Ctrl-C to the last process: 3 s. The web server, beat, poller and workers share the first part.
PROGRAMS_STOP_S = 2.0
FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 30.0
# A child that lived this long was not dying of the same cause.
STEADY_S = 30.0
DEFAULT_HOME = ".qanot"
CONNECTIONS_PER_PROCESS = 20
CONNECTIONS_FOR_COMMANDS = 40


class CannotStart(Exception):
    """One sentence that says what is wrong and how to help."""


class StopRequested(Exception):
    """Ctrl-C or SIGTERM came while starting."""


class Startable(Protocol):
    """Something with a process that can be started, and started again."""

    process: subprocess.Popen[bytes] | None

    @property
    def name(self) -> str: ...
    def spawn(self) -> None: ...


@dataclass(slots=True)
class Program:
    """One of our own processes: web, beat, poller or a worker."""

    name: str
    command: Sequence[str]
    kept_descriptors: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None

    def spawn(self) -> None:
        """Start it; its output goes to standard error."""
        self.process = spawn(
            self.command,
            folder=PROJECT,
            output=sys.stderr.fileno(),
            kept_descriptors=self.kept_descriptors,
        )


@dataclass(slots=True)
class Watched:
    """A child with the pauses between its restarts."""

    child: Startable
    started_at: float = field(default_factory=time.monotonic)
    pause_s: float = FIRST_PAUSE_S
    due_at: float | None = None

    def look(self, now: float, say: Callable[[str], None]) -> None:
        """Start the child again, some time after it died."""
        if self.due_at is not None:
            if now >= self.due_at:
                self.due_at = None
                self.started_at = now
                self.child.spawn()
            return
        process = self.child.process
        if process is None or process.poll() is None:
            return
        if now - self.started_at >= STEADY_S:
            self.pause_s = FIRST_PAUSE_S
        self.due_at = now + self.pause_s
        say(f"{self.child.name} {_how_it_ended(process)}; starting again in {self.pause_s:g} s")
        self.pause_s = min(self.pause_s * 2, LONGEST_PAUSE_S)


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    if code < 0:
        return f"was killed ({signal.Signals(-code).name})"
    return f"ended with code {code}"


class Signals:
    """Requests to stop, and news of children, as something to wait for."""

    def __init__(self) -> None:
        self.requests = 0
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def _request(self, number: int, frame: object) -> None:
        self.requests += 1

    def wait(self, timeout_s: float) -> None:
        """Sleep until a signal comes or the time is over."""
        if select.select([self._reader], [], [], timeout_s)[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._reader, 4096)

    def check(self) -> None:
        """Give up starting when someone asked to stop."""
        if self.requests:
            raise StopRequested


class Supervisor:
    """One running platform."""

    def __init__(self, home: Home, environment: Environment, say: Callable[[str], None]) -> None:
        self._home = home
        self._environment = environment
        self._say = say
        self._signals = Signals()
        self._postgres: Postgres | None = None
        self._valkey: Valkey | None = None
        self._programs: list[Program] = []
        self._watched: list[Watched] = []

    def run(self) -> None:
        """Start, watch until asked to stop, stop.

        Raises:
            CannotStart: Something is missing; everything started so far is stopped.
        """
        try:
            with _listener(self._environment) as listener:
                self._start(listener)
                while not self._signals.requests:
                    self._watch()
        except StopRequested:
            pass
        finally:
            self._stop()

    def _start(self, listener: socket.socket) -> None:
        began = time.monotonic()
        self._start_servers()
        self._home.secret_key()
        # The web server loads while the schema is looked at: a second less until the first page.
        self._start_program(self._web(listener))
        self._say("Preparing the database …")
        result = self._prepare()
        for notice in result.get("notices", ()):
            self._say(notice)
        self._say("Starting workers and beat …")
        for program in self._background_programs():
            self._start_program(program)
        self._wait_for_first_page()
        self._greet(result, time.monotonic() - began)

    def _start_servers(self) -> None:
        environment = self._environment
        wants_postgres, wants_valkey = not environment.database_url, not environment.redis_url
        if not (wants_postgres or wants_valkey):
            self._home.publish(Servers("", "", ""))
            return
        place = settle(self._home)
        if wants_postgres:
            self._say("Starting PostgreSQL …")
            self._postgres = Postgres(
                self._home, place, max_connections=_max_connections(environment.qanot_workers)
            )
            if self._postgres.is_new():
                self._say("  first start: creating the database")
            self._postgres.prepare()
            self._postgres.spawn()
        if wants_valkey:
            self._say("Starting Valkey …")
            self._valkey = Valkey(self._home, place)
            self._valkey.spawn()
        for server in (self._valkey, self._postgres):
            if server is not None:
                server.wait(self._signals.check)
                self._watched.append(Watched(server))
        postgres, valkey = self._postgres, self._valkey
        self._home.publish(
            Servers(
                database_url=postgres.url(APPLICATION) if postgres else "",
                database_owner_url=postgres.url(OWNER) if postgres else "",
                redis_url=valkey.url if valkey else "",
            )
        )

    # object: JSON written by our own `prepare`.
    def _prepare(self) -> dict[str, list[str]]:
        process = spawn(
            [sys.executable, str(PROJECT / "manage.py"), "prepare", "--json"],
            folder=PROJECT,
            output=subprocess.PIPE,
        )
        stdout, stderr = self._listen(process)
        if process.wait():
            raise CannotStart(_last_sentence(stderr.decode(errors="replace")))
        sys.stderr.write(stderr.decode(errors="replace"))
        result: dict[str, list[str]] = json.loads(stdout.decode().strip().splitlines()[-1])
        return result

    def _listen(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        """Read what `prepare` writes until it ends, and say at once what it is busy with."""
        if process.stdout is None or process.stderr is None:
            raise AssertionError("its output is piped")
        written = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
        lines_said = 0
        with selectors.DefaultSelector() as selector, process.stdout, process.stderr:
            for stream in (process.stdout, process.stderr):
                selector.register(stream, selectors.EVENT_READ)
            stdout, stderr = written
            while selector.get_map():
                self._signals.check()
                for key, _ in selector.select(0.1):
                    block = os.read(key.fd, 65_536)
                    written[key.fd] += block
                    if not block:
                        selector.unregister(key.fileobj)
                lines = written[stdout].splitlines(keepends=True)
                whole = [line for line in lines if line.endswith(b"\n")]
                for line in whole[lines_said:]:
                    if "busy_with" in (said := json.loads(line)):
                        self._say(said["busy_with"])
                lines_said = len(whole)
        return written[stdout], written[stderr]

    def _web(self, listener: socket.socket) -> Program:
        descriptor = listener.fileno()
        command = [sys.executable, "-m", "qanot_site.web", str(descriptor)]
        return Program("web", command, [descriptor])

    def _background_programs(self) -> list[Program]:
        worker = (sys.executable, "-m", "qanot_site.worker_process")
        workers = [
            Program(f"worker {n}", [*worker, f"worker{n}@%h"])
            for n in range(1, self._environment.qanot_workers + 1)
        ]
        beat = Program("beat", [sys.executable, "-m", "qanot_site.beat_process"])
        # Small until there is a bot.
        poller = Program("poller", [sys.executable, "-m", "qanot_site.poller"])
        return [*workers, beat, poller]

    def _start_program(self, program: Program) -> None:
        program.spawn()
        self._programs.append(program)
        self._watched.append(Watched(program))

    def _wait_for_first_page(self) -> None:
        """Until the web server answers; a web server that dies is started again meanwhile."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self._signals.check()
            self._watch(timeout_s=0.02)
            if _answers_healthz(self._environment):
                return
        raise CannotStart("The web server does not answer; its messages above say why.")

    def _greet(self, result: dict[str, list[str]], took_s: float) -> None:
        base = _base_url(self._environment)
        self._say(f"Ready after {took_s:.1f} s.")
        self._say("")
        self._say(f"  Chat (this link logs you in, once):  {base}{result['login_path']}")
        self._say(f"  Admin:                               {base}/admin/")
        command = f"python3 manage.py changepassword {result['username']}"
        if self._home.folder != PROJECT / DEFAULT_HOME:
            command = f"QANOT_HOME={shlex.quote(str(self._home.folder))} {command}"
        self._say(f"  Set a password:                      {command}")
        self._say("")
        self._say("Ctrl-C stops everything.")

    def _watch(self, timeout_s: float = 0.5) -> None:
        self._signals.wait(timeout_s)
        if self._signals.requests:
            return
        now = time.monotonic()
        for watched in self._watched:
            watched.look(now, self._say)

    def _stop(self) -> None:
        """Programs first, so that workers can still write; then the servers."""
        if self._programs or self._postgres or self._valkey:
            self._say("Stopping …")
        patience = self._signals.requests
        running = [p.process for p in self._programs if p.process and p.process.poll() is None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + PROGRAMS_STOP_S
        while any(process.poll() is None for process in running):
            # A second Ctrl-C: now.
            if time.monotonic() > deadline or self._signals.requests > patience + 1:
                break
            self._signals.wait(0.05)
        for process in running:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self._valkey is not None:
            self._valkey.stop()
        if self._postgres is not None:
            self._postgres.stop()
        self._home.withdraw()


def _max_connections(workers: int) -> int:
    """Room for the web server, beat and every worker: docs/connections.md."""
    return CONNECTIONS_PER_PROCESS * (workers + 1) + CONNECTIONS_FOR_COMMANDS


@contextlib.contextmanager
def _listener(environment: Environment) -> Iterator[socket.socket]:
    """The web server's socket, open before anything else is started."""
    host, port = environment.qanot_host, environment.qanot_port
    try:
        kind, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(kind, socket.SOCK_STREAM)
    except OSError as error:
        raise CannotStart(
            f"{host} is not an address of this machine: choose another --host."
        ) from (error)
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(1024)
        except PermissionError as error:
            raise CannotStart(
                f"Port {port} needs root: choose another one, for example --port 8000."
            ) from error
        except OSError as error:
            raise CannotStart(
                f"{host}:{port} cannot be used ({error.strerror}): choose another --port or --host."
            ) from error
        yield listener


def _answers_healthz(environment: Environment) -> bool:
    """Ask our own web server; a plain socket, so that no HTTP client is loaded."""
    host = _reachable_host(environment)
    request = f"GET /healthz HTTP/1.0\r\nHost: {environment_host(environment)}\r\n\r\n"
    try:
        with socket.create_connection((host, environment.qanot_port), timeout=0.5) as connection:
            connection.settimeout(0.5)
            connection.sendall(request.encode())
            return b" 200 " in connection.recv(64)
    except OSError:
        return False


def environment_host(environment: Environment) -> str:
    """A host name that the web server accepts in a request."""
    if environment.qanot_allowed_hosts:
        return environment.qanot_allowed_hosts[0].lstrip(".").replace("*", "localhost")
    return "localhost"


def _reachable_host(environment: Environment) -> str:
    host = environment.qanot_host
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared


def _base_url(environment: Environment) -> str:
    if environment.qanot_public_url:
        return environment.qanot_public_url.rstrip("/")
    host = _reachable_host(environment)
    return f"http://{f'[{host}]' if ':' in host else host}:{environment.qanot_port}"


def _last_sentence(said: str) -> str:
    """What a failed command said last, without its prefix."""
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return (lines or ["The database could not be prepared."])[-1].removeprefix("CommandError: ")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `up`; each has a variable of the same meaning and wins over it."""
    parser.add_argument("--host", help="address to listen on (QANOT_HOST, 127.0.0.1)")
    parser.add_argument("--port", help="port to listen on (QANOT_PORT, 8000)")
    parser.add_argument("--workers", metavar="N", help="worker processes (QANOT_WORKERS, 1)")
    parser.add_argument("--home", metavar="DIR", help="folder of all data (QANOT_HOME, .qanot)")


def main(arguments: Sequence[str]) -> int | str:
    """Run `up` with its options.

    Returns:
        0, or the sentence to end with.
    """
    parser = argparse.ArgumentParser(prog="manage.py up", description="Run the whole platform.")
    add_arguments(parser)
    options = parser.parse_args(list(arguments))
    try:
        load_dotenv()
        if options.home:
            options.home = str(Path(options.home).expanduser().absolute())
        for name, value in vars(options).items():
            if value is not None:
                # The children read the same table.
                os.environ[f"QANOT_{name.upper()}"] = value
        environment = read_environment()
        home = Home(PROJECT / Path(environment.qanot_home).expanduser())
        os.environ["QANOT_HOME"] = str(home.folder)
        home.create()
        with home.locked():
            Supervisor(home, environment, _say).run()
    except (BadEnvironment, CannotStart, EmbeddedError) as error:
        return str(error)
    except HomeInUse as error:
        return f"Qanot already runs with the home {error}: stop it, or choose another --home."
    except HomeUnusable as error:
        return f"The home cannot be used: {error}. Choose another --home."
    except OSError as error:
        return f"{error.filename or 'A file'}: {error.strerror}."
    return 0


def _say(line: str) -> None:
    # The terminal may be gone, as after SIGHUP; stopping in order matters more.
    with contextlib.suppress(OSError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
