"""Processes of a deployment: who they are, what they hold, how they are frozen and killed."""

import asyncio
import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOOK_AGAIN_S: Final = 0.003


@dataclass(frozen=True, slots=True)
class Process:
    """One process as /proc shows it."""

    pid: int
    parent: int
    state: str
    command: str

    @property
    def name(self) -> str:
        """Return what it is for people who read the figures."""
        # The backends of PostgreSQL write what they do into their command line.
        if self.command.startswith("postgres: "):
            return f"postgres {self.command.removeprefix('postgres: ').split()[0]}"
        for part, name in _NAMES:
            if part in self.command:
                return name
        return self.command.split()[0] if self.command else "?"


_NAMES: Final = (
    ("manage.py up", "supervisor"),
    ("qanot_site.web", "web"),
    ("qanot_site.worker_process", "worker"),
    ("qanot_site.beat_process", "beat"),
    # Before there is a bot, and since.
    ("qanot_site.poller", "poller"),
    ("manage.py poller", "poller"),
    ("/postgres -D", "postgres"),
    ("valkey-server", "valkey"),
)


def descendants(pid: int) -> list[Process]:
    """Return a process and everything below it that lives."""
    children: dict[int, list[Process]] = {}
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (process := look(int(folder.name))) is not None:
            children.setdefault(process.parent, []).append(process)
            if process.pid == pid:
                found.append(process)
    for process in found:
        found.extend(children.get(process.pid, []))
    return [process for process in found if process.state != "Z"]


def look(pid: int) -> Process | None:
    """Return what a process is now; None where it is gone."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(pid=pid, parent=int(parent), state=state, command=command.strip())


def pss_kb(pid: int) -> int:
    """Return a process's memory, shared pages counted by its share; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has used; 0 where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_by_job(supervisor: int, **others: int) -> dict[str, float]:
    """Return the processor time that each job of a deployment has used, in seconds.

    The backends of PostgreSQL are one job; workers are counted one by one.

    Args:
        others: Processes that only help to measure, by name.
    """
    used = {name: cpu_s(pid) for name, pid in others.items()}
    workers = 0
    for process in sorted(descendants(supervisor), key=lambda process: process.pid):
        name = process.name.split()[0]
        if name == "worker":
            workers += 1
            name = f"worker {workers}"
        used[name] = used.get(name, 0.0) + cpu_s(process.pid)
    return used


def freeze(pid: int) -> None:
    """Stop a process where it stands; ``is_frozen`` says when it does."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)


def thaw(pid: int) -> None:
    """Let a frozen process go on."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def wait_frozen(pid: int) -> None:
    """Wait until a process that was told to stop stands still."""
    # /proc tells nobody when something changes: it can only be looked at again.
    while (process := look(pid)) is not None and process.state not in "TtZ":  # noqa: ASYNC110
        await asyncio.sleep(LOOK_AGAIN_S)


async def kill(pid: int) -> float:
    """End a process without a last word; return when it was gone, CLOCK_MONOTONIC seconds."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    while (process := look(pid)) is not None and process.state != "Z":  # noqa: ASYNC110
        await asyncio.sleep(LOOK_AGAIN_S)
    return time.monotonic()
