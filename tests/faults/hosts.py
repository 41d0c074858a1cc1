"""Hosts for tests: network namespaces on a bridge, with the platform's processes in them."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qanot_site.bench import processes
from qanot_site.embedded.processes import free_port, spawn
from tests.qanot_site.running import PROJECT, clean_environment

WEB_PORT = 8000
STOP_S = 10


def require_namespaces() -> None:
    """Skip where no namespaces can be made; in CI, as root, that is a failure."""
    reason = _why_not()
    if reason and os.environ.get("CI") and os.geteuid() == 0:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def _why_not() -> str:
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need `ip`: install iproute2"
    probe = f"qanot-{os.getpid()}-probe"
    made = subprocess.run(
        ["ip", "netns", "add", probe], capture_output=True, text=True, check=False
    )
    if made.returncode:
        return f"no network namespace can be made: {made.stderr.strip()}"
    _ip("netns", "del", probe)
    return ""


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"


@dataclass(slots=True)
class Host:
    """One host: its address on the bridge, its cable, and what runs on it."""

    name: str
    address: str
    cable: str
    environment: Mapping[str, str]
    output: int
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, *arguments: str) -> int:
        """Start one of our programs with this host's Python; return its pid."""
        process = spawn(
            ["ip", "netns", "exec", self.name, sys.executable, *arguments],
            environment=self.environment,
            folder=PROJECT,
            output=self.output,
        )
        self.running.append(process)
        return process.pid

    def start_web(self) -> int:
        """Start a web server on the host's address."""
        options = ("--host", self.address, "--port", str(WEB_PORT), "--lifespan", "off")
        return self.start("-m", "uvicorn", "qanot_site.asgi:application", *options)

    def start_worker(self) -> int:
        """Start a worker as the unit does."""
        return self.start("-m", "qanot_site.worker_process", f"{self.name}@%h")

    def start_beat(self) -> int:
        """Start a beat as the unit does."""
        return self.start("-m", "qanot_site.beat_process")

    def cut_off(self) -> None:
        """Pull the cable: connections hang, nobody is told."""
        _ip("link", "set", self.cable, "down")

    def plug_in(self) -> None:
        """Put the cable back."""
        _ip("link", "set", self.cable, "up")

    def stop(self) -> None:
        """End everything on it."""
        for process in self.running:
            if process.poll() is None:
                processes.thaw(process.pid)
                process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass(frozen=True, slots=True)
class Network:
    """Two hosts beside this one.

    Args:
        web: Loopback addresses through which this host reaches each web server.
    """

    hosts: tuple[Host, Host]
    web: tuple[str, str]
    address: str


@contextmanager
def two_hosts(
    servers: Mapping[str, int], environment: Mapping[str, str], *, output: int, folder: Path
) -> Iterator[Network]:
    """Make two hosts that reach this host's servers on a bridge, and leave nothing behind.

    Args:
        servers: Loopback ports of servers, by the name under which the environment speaks of
            them: `{database}` becomes the address on the bridge.
        output: Descriptor for what all processes write.
    """
    with ExitStack() as stack:
        # Unlike those of another run beside this one.
        number = os.getpid()
        net = f"10.{number >> 8 & 255}.{number & 255}"
        bridge = f"qb{number}"
        _ip("link", "add", bridge, "type", "bridge")
        stack.callback(_ip, "link", "del", bridge)
        _ip("addr", "add", f"{net}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        ports = {name: free_port() for name in servers}
        known = {name: f"{net}.1:{port}" for name, port in ports.items()}
        values = {name: value.format(**known) for name, value in environment.items()}
        hosts = tuple(_host(stack, bridge, net, place, values, output, folder) for place in (2, 3))
        web = tuple(f"127.0.0.1:{free_port()}" for _ in hosts)
        _forward(
            stack,
            [f"{net}.1:{ports[name]}=127.0.0.1:{port}" for name, port in servers.items()]
            + [f"{near}={host.address}:{WEB_PORT}" for near, host in zip(web, hosts, strict=True)],
        )
        for host in hosts:
            stack.callback(host.stop)
        first, second = hosts
        yield Network((first, second), (web[0], web[1]), f"{net}.1")


def _host(
    stack: ExitStack,
    bridge: str,
    net: str,
    place: int,
    environment: Mapping[str, str],
    output: int,
    folder: Path,
) -> Host:
    name, cable = f"qanot-{os.getpid()}-{place}", f"qv{os.getpid()}{place}"
    _ip("netns", "add", name)
    stack.callback(_ip, "netns", "del", name)
    _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
    _ip("link", "set", cable, "master", bridge, "up")
    for arguments in (
        ("addr", "add", f"{net}.{place}/24", "dev", "eth0"),
        ("link", "set", "eth0", "up"),
        ("link", "set", "lo", "up"),
    ):
        _ip("-n", name, *arguments)
    home = folder / str(place)
    home.mkdir()
    mine = {"QANOT_HOME": str(home), "QANOT_HOST": f"{net}.{place}"}
    return Host(
        name, f"{net}.{place}", cable, {**clean_environment(), **environment, **mine}, output
    )


def _forward(stack: ExitStack, pairs: Sequence[str]) -> None:
    process = spawn(
        [sys.executable, "-m", "tests.faults.forwarder", *pairs],
        folder=PROJECT,
        output=subprocess.PIPE,
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    assert process.stdout is not None
    assert process.stderr is not None
    stack.callback(process.stderr.close)
    with process.stdout:
        assert process.stdout.readline() == b"ready\n"
