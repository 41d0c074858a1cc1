"""Browser tabs for load: as cheap as they can be, and asking the server what the page asks it.

What a frame says is read after the measurement; while it runs a tab notes when each frame came.
"""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid4

import aiohttp

from qanot_site.bench.seeding import Talk

TURN_S: Final = 120.0
NS_PER_MS: Final = 1_000_000
# What the fake provider says: the CLOCK_MONOTONIC of each chunk's sending.
STAMP: Final = re.compile(r"t=(\d+) ")
RECEIVED: Final = re.compile(r"r=(\d+) ")


class Unanswered(Exception):
    """A turn did not end, or ended without the answer that was asked for."""


@dataclass(slots=True)
class Exchange:
    """One message and everything that came until its turn was over.

    Args:
        frames: When each frame came, CLOCK_MONOTONIC nanoseconds, and its text.
    """

    text: str
    sent_ns: int
    frames: list[tuple[int, str]] = field(default_factory=list)

    @property
    def ended_ns(self) -> int:
        """Return when ``turn.ended`` came."""
        return next(at for at, text in reversed(self.frames) if '"turn.ended"' in text)

    @property
    def turn(self) -> UUID:
        """Return the turn's public id."""
        (accepted,) = [text for _, text in self.frames if text.startswith('{"type":"accepted"')]
        return UUID(json.loads(accepted)["turn"])

    @property
    def texts(self) -> list[tuple[int, str]]:
        """Return the live pieces of the answer, and when each came.

        A replay brings again what came live; the page, too, takes each number once.
        """
        taken: set[int] = set()
        found = []
        for at, text in self.frames:
            if '"type":"text"' in text:
                frame = json.loads(text)
                if frame["n"] not in taken:
                    taken.add(frame["n"])
                    found.append((at, frame["text"]))
        return found

    @property
    def received_ns(self) -> int:
        """Return when the request was at the provider, as its first chunk tells."""
        (stamp,) = [found for _, text in self.texts for found in RECEIVED.findall(text)]
        return int(stamp)

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """Return when each chunk was sent and when it came, in the order of coming."""
        return [(int(stamp), at) for at, text in self.texts for stamp in STAMP.findall(text)]


class Tab:
    """One page that shows one conversation; one turn at a time."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None
        self._exchange: Exchange | None = None
        self._ended = asyncio.Event()
        self._shown: set[str] = set()

    async def open(self, client: aiohttp.ClientSession, address: str) -> None:
        """Connect and show the conversation."""
        self._socket = await client.ws_connect(
            f"ws://{address}/ws/chat/?language=en",
            headers={"Cookie": self.talk.guest.cookie, "Origin": f"http://{address}"},
            max_msg_size=0,
        )
        await self._socket.send_str(json.dumps({"type": "open", "conversation": str(self.talk.id)}))
        while not (await self._socket.receive_str(timeout=TURN_S)).startswith('{"type":"opened"'):
            pass
        self._reading = asyncio.create_task(self._read())

    async def close(self) -> None:
        """Leave."""
        if self._socket is not None:
            await self._socket.close()
        if self._reading is not None:
            await self._reading

    async def ask(self, text: str) -> Exchange:
        """Say something and wait until its turn is over.

        Raises:
            Unanswered: It did not end in two minutes.
        """
        if self._socket is None:
            raise AssertionError("the tab is open")
        frame = {"type": "send", "key": uuid4().hex, "text": text}
        sent = json.dumps(frame | {"conversation": str(self.talk.id)})
        self._ended.clear()
        self._exchange = exchange = Exchange(text, time.monotonic_ns())
        await self._socket.send_str(sent)
        try:
            async with asyncio.timeout(TURN_S):
                await self._ended.wait()
        except TimeoutError as exc:
            raise Unanswered(f"{text!r}: {exchange.frames[-3:]}") from exc
        return exchange

    async def _read(self) -> None:
        if self._socket is None:
            raise AssertionError("the tab is open")
        async for message in self._socket:
            at = time.monotonic_ns()
            text = message.data
            if self._exchange is None or not isinstance(text, str):
                continue
            self._exchange.frames.append((at, text))
            if text.startswith('{"type":"accepted"'):
                self._shown.add(json.loads(text)["message"])
            elif '"turn.ended"' in text:
                self._ended.set()
                await self._ask(json.loads(text)["turn"])
            elif '"session.changed"' in text:
                changed = json.loads(text)
                if changed.get("message") not in self._shown:
                    await self._ask(changed["turn"])

    async def _ask(self, turn: str) -> None:
        """Ask how a turn stands, as the page does."""
        if self._socket is not None:
            await self._socket.send_str(json.dumps({"type": "resume", "turn": turn}))


async def open_all(client: aiohttp.ClientSession, address: str, talks: Sequence[Talk]) -> list[Tab]:
    """Open a tab for each conversation, a few at a time."""
    tabs = [Tab(talk) for talk in talks]
    for at in range(0, len(tabs), 10):
        await asyncio.gather(*(tab.open(client, address) for tab in tabs[at : at + 10]))
    return tabs


def new_client() -> aiohttp.ClientSession:
    """Return a client without a limit on connections."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
