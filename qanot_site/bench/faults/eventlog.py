"""The platform's log, read line by line the moment it is written."""

import asyncio
import contextlib
import fcntl
import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

# Room for a burst while a check holds the loop up: a full pipe would hold the platform up.
PIPE_BYTES: Final = 1_048_576
KEPT_LINES: Final = 400


class NotSeen(Exception):
    """An event or a line did not come in time."""


@dataclass(frozen=True, slots=True)
class Event:
    """One log line of the product.

    Args:
        process: Who wrote it.
        values: Everything else that the line says.
    """

    name: str
    process: int
    values: dict[str, object]

    def is_about(self, *, session: int, turn: int | None) -> bool:
        """Return whether it speaks of this conversation or turn, or may do so."""
        if "session" in self.values:
            return self.values["session"] == session
        if "args" in self.values:
            return self.values["args"] == [session]
        return turn is None or self.values.get("turn") == turn


Matches = Callable[[Event], bool]


class Trap:
    """Waits for one event, and does something on its sight."""

    def __init__(self, matches: Matches, act: Callable[[Event], None]) -> None:
        self._matches = matches
        self._act = act
        self.sprung: asyncio.Future[Event] = asyncio.get_running_loop().create_future()

    def see(self, event: Event) -> None:
        """Spring at the first event that matches."""
        if not self.sprung.done() and self._matches(event):
            self._act(event)
            self.sprung.set_result(event)


class EventLog:
    """What all processes of a platform write; ``writer`` is where they write it to."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._traps: list[Trap] = []
        self._watchers: list[Callable[[Event], None]] = []
        self._left = b""
        self._reader, self.writer = os.pipe()
        fcntl.fcntl(self._reader, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(self._reader, False)

    def open(self) -> None:
        """Begin to read, on the running loop."""
        asyncio.get_running_loop().add_reader(self._reader, self._read)

    def close(self) -> None:
        """Read no more."""
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        os.close(self.writer)

    def trap(self, matches: Matches, act: Callable[[Event], None] = lambda event: None) -> Trap:
        """Set a trap for an event that comes from now on."""
        trap = Trap(matches, act)
        self._traps.append(trap)
        return trap

    @contextlib.contextmanager
    def watched(self, see: Callable[[Event], None]) -> Iterator[None]:
        """Show every event to a function, the moment it is read."""
        self._watchers.append(see)
        try:
            yield
        finally:
            self._watchers.remove(see)

    async def wait(self, trap: Trap, timeout_s: float) -> Event:
        """Wait until a trap springs, and take it away.

        Raises:
            NotSeen: It does not in time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                return await trap.sprung
        except TimeoutError as exc:
            raise NotSeen("\n".join(list(self.lines)[-8:])) from exc
        finally:
            self.drop(trap)

    def drop(self, trap: Trap) -> None:
        """Take a trap away, sprung or not."""
        if trap in self._traps:
            self._traps.remove(trap)

    async def wait_for_line(self, part: str, timeout_s: float, *, times: int = 1) -> None:
        """Wait for lines that have a part; those of before the call count only if still kept.

        Raises:
            NotSeen: They do not come in time.
        """
        deadline = time.monotonic() + timeout_s
        while sum(part in line for line in self.lines) < times:
            if time.monotonic() > deadline:
                raise NotSeen(f"{part!r}: " + "\n".join(list(self.lines)[-8:]))
            await asyncio.sleep(0.05)

    def _read(self) -> None:
        *lines, self._left = (self._left + os.read(self._reader, PIPE_BYTES)).split(b"\n")
        for raw in lines:
            line = raw.decode(errors="replace")
            self.lines.append(line)
            if (event := _event(line)) is not None:
                self.events.append(event)
                for watch in list(self._watchers):
                    watch(event)
                for trap in list(self._traps):
                    trap.see(event)


def _event(line: str) -> Event | None:
    if not line.startswith("{"):
        return None
    try:
        values = json.loads(line)
    except ValueError:
        return None
    if not isinstance(values.get("event"), str) or not isinstance(values.get("process"), int):
        return None
    return Event(name=values["event"], process=values["process"], values=values)
