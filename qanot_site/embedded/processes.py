"""Children that never outlive their parent, and the user that servers run as."""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1


class EmbeddedError(Exception):
    """An embedded server cannot run; the text is one sentence with the fix."""


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The account that the servers run as when the supervisor is root."""

    uid: int
    gid: int


def server_user(owner_of: Path | None = None) -> ServerUser | None:
    """None for an ordinary user: servers then run as the caller.

    Args:
        owner_of: Existing data; its owner goes on owning it.

    Raises:
        EmbeddedError: Root, and no unprivileged account to use.
    """
    if os.geteuid() != 0:
        return None
    if owner_of is not None and owner_of.exists():
        status = owner_of.stat()
        if status.st_uid != 0:
            return ServerUser(status.st_uid, status.st_gid)
    for name in ("postgres", "nobody"):
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(account.pw_uid, account.pw_gid)
    raise EmbeddedError(
        "PostgreSQL refuses to run as root and there is no user postgres or nobody: "
        "start as an ordinary user."
    )


def spawn(
    arguments: Sequence[str | Path],
    *,
    user: ServerUser | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stdin: int | None = subprocess.DEVNULL,
    output: IO[bytes] | int | None = None,
    kept_descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child in its own session that gets `death_signal` when this process dies.

    Its own session shields it from the terminal's Ctrl-C: the parent stops children in order.
    The kernel ties the death signal to the calling thread: call this from the main thread.
    """
    return subprocess.Popen(  # noqa: S603 - fixed programs
        [os.fspath(part) for part in arguments],
        preexec_fn=_child_setup(user, death_signal),
        env=None if environment is None else dict(environment),
        cwd=folder,
        stdin=stdin,
        stdout=output,
        stderr=output,
        pass_fds=kept_descriptors,
    )


def _child_setup(user: ServerUser | None, death_signal: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()
    # Loaded before the fork: the child must not import or allocate more than needed.
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def setup() -> None:
        os.setsid()
        if user is not None:
            os.setgroups([])
            os.setgid(user.gid)
            os.setuid(user.uid)
        if libc is not None:
            # After setuid, which clears it.
            libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))
            if os.getppid() != parent:
                os._exit(1)

    return setup


def free_port() -> int:
    """A loopback port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something accepts connections on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(
    ready: Callable[[], bool],
    process: subprocess.Popen[bytes],
    *,
    timeout_s: float,
    patience: Callable[[], None],
) -> bool:
    """Poll a starting server.

    Args:
        patience: Called between two looks; may raise to give up, as on Ctrl-C.

    Returns:
        False when the process ended or the time is over.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        if ready():
            return True
        patience()
        time.sleep(0.01)
    return False


def stop(process: subprocess.Popen[bytes], how: signal.Signals, *, timeout_s: float) -> None:
    """Signal a child and wait; kill it when it does not end in time."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def last_lines(log: Path, count: int = 3) -> str:
    """The end of a server's log, for the sentence that says why it does not run."""
    try:
        return " ".join(log.read_text(errors="replace").strip().splitlines()[-count:])
    except OSError:
        return "no log"
