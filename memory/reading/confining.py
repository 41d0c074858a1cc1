"""What the reading process may not: reach a network, write a file, start a program, take its time.

A hostile file may find a mistake in a parser. Then the process that runs it has no secrets in
its environment, no rights, and nowhere to go.
"""

import ctypes
import os
import resource
import signal
import sys
from typing import Any, Final

_NEW_USER: Final = 0x10000000
_NEW_NET: Final = 0x40000000
_NOBODY: Final = 65534
_REFUSED: Final = (
    *("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.chmod"),
    *("os.listdir", "os.scandir", "shutil.", "ctypes.dlopen", "urllib.", "http.", "ftplib."),
)
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def confine(*, memory_bytes: int, cpu_s: int, wall_s: int, output_bytes: int) -> None:
    """Give up all that reading a file does not need; there is no way back."""
    _leave_network()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    for what, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, output_bytes),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(what, (most, most))
    # Without a handler the alarm ends the process, whatever it is at.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(wall_s)
    sys.addaudithook(_refuse)


def _leave_network() -> None:
    """Move into a network without devices, where the system lets us.

    Where it does not (no user namespaces), the refusals below are what is left.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_NET) != 0:
        library.unshare(_NEW_USER | _NEW_NET)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:  # Any: an event's own values
    if event.startswith(_REFUSED):
        raise PermissionError(event)
    if event == "open" and not _is_module(arguments[0], arguments[2]):
        raise PermissionError(event)


def _is_module(path: object, flags: object) -> bool:
    """Return whether a file is opened for reading where Python's modules lie."""
    if isinstance(flags, int) and flags & _WRITES:
        return False
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not isinstance(path, str):
        # An open descriptor, as standard output.
        return isinstance(path, int)
    whole = os.path.abspath(path)
    return any(whole.startswith(f"{home}/") for home in _HOMES)


_HOMES: Final = {os.path.realpath(sys.prefix), sys.prefix, sys.base_prefix, sys.exec_prefix}
