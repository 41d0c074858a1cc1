"""Our own processes, as tests of the REST API over the network need them."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

START_S = 30.0
STOP_S = 10.0


class Web:
    """The web server on a port of its own; it can be killed and started again."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serve, and return once it answers."""
        descriptor = self._listener.fileno()
        command = [sys.executable, "-m", "qanot_site.web", str(descriptor)]
        self._process = subprocess.Popen(command, pass_fds=[descriptor])
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.address}/healthz", timeout=START_S).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the web server does not answer")

    def kill(self) -> None:
        """End it as a crash would; callers wait at the open socket for the next one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)

    def close(self) -> None:
        """End it for good."""
        self.kill()
        self._listener.close()


@contextmanager
def web() -> Iterator[Web]:
    """Serve while a test runs."""
    server = Web()
    try:
        server.start()
        yield server
    finally:
        server.close()


@contextmanager
def worker(**environment: str) -> Iterator[None]:
    """Run turns while a test runs."""
    command = [sys.executable, "-m", "qanot_site.worker_process", "worker1@%h"]
    process = subprocess.Popen(command, env=os.environ | environment)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)
