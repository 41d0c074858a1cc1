"""A browser that behaves as the chat's page: it reconnects, sends again, and asks what it missed.

The page's own code (static/chat/main.js, live.js, socket.js) is the model; what it would show is
what a person would have seen.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import uuid4

import aiohttp

from qanot_site.bench.seeding import Talk

FIRST_PAUSE_S: Final = 0.4
LONGEST_PAUSE_S: Final = 8.0
SILENCE_S: Final = 4.0
RESEND_S: Final = 8.0
TICK_S: Final = 0.25

# A frame of docs/webchat.md or docs/events.md; its fields are read by key.
Frame = dict[str, Any]


@dataclass(slots=True)
class Letter:
    """One message as its writer sees it; times are CLOCK_MONOTONIC seconds.

    Args:
        chunks: Pieces that its answer must have, each with a stamp of its own.
        fact: What the model is told to remember by a tool, where it is.
    """

    text: str
    chunks: int
    fact: str | None = None
    key: str = field(default_factory=lambda: uuid4().hex)
    written_at: float = 0.0
    sent_at: float | None = None
    accepted_at: float | None = None
    turn: str | None = None
    refused: str | None = None


@dataclass(slots=True)
class View:
    """One turn as the page shows it."""

    turn: str
    live_text: str = ""
    state: str = "queued"
    over_at: float | None = None
    shown_html: str = ""
    has_seen_end: bool = False
    has_skipped: bool = False
    ends: set[str] = field(default_factory=set)
    heard_at: float = field(default_factory=time.monotonic)
    is_asking: bool = False
    _attempt: int = 0
    _n: int = 0
    _waiting: list[Frame] = field(default_factory=list)

    @property
    def last(self) -> str | None:
        """Return the id of the last frame that was applied."""
        return f"{self._attempt}-{self._n}" if self._attempt else None

    def show(self, shown: Frame) -> None:
        """Show what the database knows."""
        self.heard_at = time.monotonic()
        self.state = shown["state"]
        if self.over_at is None and shown["is_over"]:
            self.over_at = time.monotonic()
            self.is_asking = False
            texts = [part["html"] for part in shown["parts"] if part["kind"] == "text"]
            self.shown_html = "\n".join(text for text in texts if text)

    def take(self, frame: Frame) -> Literal["ended", "gap"] | None:
        """Take a live frame; return what the page should ask about."""
        self.heard_at = time.monotonic()
        if frame["type"] == "turn.ended":
            self.ends.add(f"{frame['attempt']}-{frame['n']}")
        if self.over_at is not None or self._is_seen(frame):
            return None
        self._waiting.append(frame)
        ended = self._apply_waiting()
        return ended or ("gap" if self._waiting else None)

    def replayed(self) -> Literal["ended"] | None:
        """Go on behind a gap that the replay did not fill."""
        self.is_asking = False
        self._waiting = [frame for frame in self._waiting if not self._is_seen(frame)]
        if not self._waiting:
            return None
        self.has_skipped = True
        self._waiting.sort(key=_place)
        first = self._waiting[0]
        self._attempt, self._n = first["attempt"], first["n"] - 1
        return self._apply_waiting()

    def _apply_waiting(self) -> Literal["ended"] | None:
        ended: Literal["ended"] | None = None
        while following := next((f for f in self._waiting if self._follows(f)), None):
            self._attempt, self._n = _place(following)
            self._apply(following)
            if following["type"] == "turn.ended":
                ended = "ended"
            self._waiting = [frame for frame in self._waiting if not self._is_seen(frame)]
        return ended

    def _is_seen(self, frame: Frame) -> bool:
        return _place(frame) <= (self._attempt, self._n)

    def _follows(self, frame: Frame) -> bool:
        if frame["type"] in ("snapshot", "turn.started"):
            return True
        return _place(frame) == (self._attempt, self._n + 1)

    def _apply(self, frame: Frame) -> None:
        match frame["type"]:
            case "turn.started" | "answer.restarted":
                self.live_text = ""
            case "text":
                self.live_text += frame["text"]
            case "snapshot":
                self.live_text = frame["text"]
            case "turn.ended":
                self.has_seen_end = True


def _place(frame: Frame) -> tuple[int, int]:
    return frame["attempt"], frame["n"]


class Browser:
    """One tab that shows one conversation.

    Args:
        scale: 1 for the page's own patience; the shorter faults of the tests are a tenth.
    """

    def __init__(
        self, client: aiohttp.ClientSession, address: str, talk: Talk, *, scale: float
    ) -> None:
        self.talk = talk
        self.views: dict[str, View] = {}
        self._letters: list[Letter] = []
        self._client = client
        self._address = address
        self._scale = scale
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._opened = asyncio.Event()
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Connect, and show the conversation."""
        self._tasks = [asyncio.create_task(self._live()), asyncio.create_task(self._tick())]
        await self._opened.wait()

    async def close(self) -> None:
        """Leave."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def write(self, letter: Letter) -> None:
        """Send a message; it is sent again until it is accepted."""
        letter.written_at = time.monotonic()
        self._letters.append(letter)
        await self._send_letters()

    async def wait_over(self, letter: Letter, timeout_s: float) -> View | None:
        """Wait until a message's turn is over; None where that does not come in time."""

        def view() -> View | None:
            found = self.views.get(letter.turn or "")
            return found if found is not None and found.over_at is not None else None

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), self._changed:
                await self._changed.wait_for(lambda: view() is not None)
        return view()

    async def wait_accepted(self, letter: Letter, timeout_s: float) -> bool:
        """Wait until a message is accepted; False where that does not come in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), self._changed:
                await self._changed.wait_for(lambda: letter.accepted_at is not None)
        return letter.accepted_at is not None

    async def _live(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
                async with self._connected():
                    pause_s = FIRST_PAUSE_S
                    await self._listen()
            self._socket = None
            for view in self.views.values():
                view.is_asking = False
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[None]:
        async with self._client.ws_connect(
            f"ws://{self._address}/ws/chat/?language=en",
            headers={
                "Cookie": self.talk.guest.cookie,
                "Origin": f"http://{self._address}",
            },
            max_msg_size=0,
        ) as self._socket:
            yield

    async def _listen(self) -> None:
        await self._say({"type": "open", "conversation": str(self.talk.id)})
        for letter in self._letters:
            letter.sent_at = None
        await self._send_letters()
        if self._socket is None:
            return
        async for message in self._socket:
            if isinstance(message.data, str):
                await self._take(json.loads(message.data))
                async with self._changed:
                    self._changed.notify_all()

    async def _say(self, frame: Frame) -> None:
        if self._socket is not None and not self._socket.closed:
            with contextlib.suppress(aiohttp.ClientError, ConnectionError):
                await self._socket.send_str(json.dumps(frame))

    async def _send_letters(self) -> None:
        for letter in self._letters:
            if letter.accepted_at is not None or letter.refused is not None:
                continue
            now = time.monotonic()
            if letter.sent_at is not None and now - letter.sent_at < RESEND_S * self._scale:
                continue
            if self._socket is not None:
                letter.sent_at = now
                frame = {"type": "send", "key": letter.key, "text": letter.text}
                await self._say(frame | {"conversation": str(self.talk.id)})

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S * self._scale)
            await self._send_letters()
            for view in list(self.views.values()):
                silent_s = time.monotonic() - view.heard_at
                if view.over_at is None and silent_s > SILENCE_S * self._scale:
                    view.is_asking = False
                    await self._ask(view.turn)

    async def _ask(self, turn: str) -> None:
        view = self.views.setdefault(turn, View(turn))
        if view.over_at is not None or view.is_asking:
            return
        view.is_asking = True
        view.heard_at = time.monotonic()
        await self._say({"type": "resume", "turn": turn, "after": view.last})

    async def _take(self, frame: Frame) -> None:
        match frame["type"]:
            case "opened":
                for shown in frame["turns"]:
                    self.views.setdefault(shown["id"], View(shown["id"])).show(shown)
                self._opened.set()
            case "accepted":
                self._accepted(frame)
            case "refused":
                self._refused(frame)
            case "turn":
                shown = frame["shown"]
                self.views.setdefault(shown["id"], View(shown["id"])).show(shown)
            case "resumed":
                view = self.views.setdefault(frame["turn"], View(frame["turn"]))
                if view.replayed() == "ended":
                    await self._ask(view.turn)
            case "session.changed":
                await self._ask(frame["turn"])
            case _ if "attempt" in frame:
                view = self.views.setdefault(frame["turn"], View(frame["turn"]))
                if view.take(frame) is not None:
                    await self._ask(view.turn)

    def _accepted(self, frame: Frame) -> None:
        for letter in self._letters:
            if letter.key == frame["key"] and letter.accepted_at is None:
                letter.accepted_at = time.monotonic()
                letter.turn = frame["turn"]
                self.views.setdefault(frame["turn"], View(frame["turn"]))

    def _refused(self, frame: Frame) -> None:
        for letter in self._letters:
            if letter.key == frame["key"] and frame["code"] != "unavailable":
                letter.refused = frame["code"]


async def deliver_at_once(
    client: aiohttp.ClientSession, address: str, talk: Talk, letters: list[Letter]
) -> list[str]:
    """Send each letter over a socket of its own, all in the same moment.

    Returns:
        The turn that each of them was given; a refusal's code instead where it was refused.
    """
    headers = {"Cookie": talk.guest.cookie, "Origin": f"http://{address}"}
    async with contextlib.AsyncExitStack() as stack:
        sockets = [
            await stack.enter_async_context(
                client.ws_connect(f"ws://{address}/ws/chat/?language=en", headers=headers)
            )
            for _ in letters
        ]

        async def deliver(socket: aiohttp.ClientWebSocketResponse, letter: Letter) -> str:
            letter.written_at = letter.written_at or time.monotonic()
            frame = {"type": "send", "key": letter.key, "text": letter.text}
            await socket.send_str(json.dumps(frame | {"conversation": str(talk.id)}))
            while True:
                answer: Frame = await socket.receive_json(timeout=60)
                if answer["type"] == "accepted" and answer["key"] == letter.key:
                    letter.accepted_at = letter.accepted_at or time.monotonic()
                    letter.turn = turn = str(answer["turn"])
                    return turn
                if answer["type"] == "refused":
                    return str(answer["code"])

        return await asyncio.gather(*map(deliver, sockets, letters))
