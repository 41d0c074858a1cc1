"""Server-sent events, read as cheaply as 3,000 of them a second ask for."""

from agents.core.errors import StreamBroken

# One event of a model is a few hundred bytes, a whole tool call's arguments some hundred
# thousand; a line beyond this is no event and must not fill the memory.
MAX_LINE_BYTES = 16 * 2**20


class EventReader:
    """Cuts a byte stream into the data of its events.

    Both wires name the kind of an event inside its data, so event names, ids and comments are
    dropped. Lines end in LF or CRLF, as every provider sends them.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take bytes as they came, and return the data of each event they complete.

        Raises:
            StreamBroken: A line has no end.
        """
        lines = (self._rest + chunk if self._rest else chunk).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_LINE_BYTES:
            raise StreamBroken("an event of the stream is too long")
        events: list[bytes] = []
        for line in lines:
            self._take(line, events)
        return events

    def finish(self) -> list[bytes]:
        """Return what the last event had when the stream ended without an empty line."""
        events: list[bytes] = []
        if self._rest:
            self._take(self._rest, events)
            self._rest = b""
        self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[bytes]) -> None:
        if line.endswith(b"\r"):
            line = line[:-1]
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line and self._data:
            events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
            self._data.clear()
