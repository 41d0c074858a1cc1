"""A model server on loopback that plays a script, records what it was asked, and fails on demand.

In a test it runs in a thread of its own, so that plain and asynchronous tests use it alike; as
a process of its own (``python -m tests.fakes.anthropic``) it serves benchmarks.
"""

import argparse
import asyncio
import json
import re
import signal
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, Self

from aiohttp import web
from pydantic import JsonValue

from tests.fakes.script import (
    Answer,
    CallTool,
    EndBody,
    Refusal,
    Reset,
    Say,
    SendError,
    SendRaw,
    Silence,
    Step,
    Think,
    answer,
    stamped,
)

# JSON as it came off the wire; a test looks into it by key, so it stays untyped.
Body = dict[str, Any]

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "cookie"})
WAIT_S = 5.0
# A stamped chunk's place in a prebuilt event; the first one also tells when the request came.
STAMP = "t=%d "
FIRST_STAMP = f"r=%d {STAMP}"


@dataclass(slots=True)
class RecordedRequest:
    """One request, and how it ended; times are CLOCK_MONOTONIC in nanoseconds.

    Args:
        headers: Lower-case names, without those that carry a key.
        closed_at_ns: When the client hung up before the answer was complete.
        finished_at_ns: When the answer was complete.
    """

    number: int
    path: str
    headers: dict[str, str]
    body: Body
    received_at_ns: int
    first_sent_at_ns: int | None = None
    closed_at_ns: int | None = None
    finished_at_ns: int | None = None
    port: int | None = None


Play = Answer | Refusal
Rule = Callable[[RecordedRequest], Play | None]


class HungUp(ConnectionError):
    """The script, not the client, ended the connection."""


class Talk(Protocol):
    """One answer being written in a wire's words; each method gives the bytes to send."""

    def begin(self) -> bytes:
        """Open the answer."""
        ...

    def text(self, text: str) -> bytes:
        """Say a piece of text."""
        ...

    def tool(self, step: CallTool) -> list[bytes]:
        """Call a tool, piece by piece."""
        ...

    def think(self, text: str) -> bytes:
        """Reason in hiding."""
        ...

    def error(self, step: SendError) -> bytes:
        """Break off with an error."""
        ...

    def end(self) -> bytes:
        """Close the answer with its reason and figures."""
        ...


class Wire(Protocol):
    """What one provider's HTTP API looks like.

    Args:
        base_path: What an SDK's base URL ends in.
        path: Where requests go, ``base_path`` included.
        models_path: Where the list of models is.
    """

    base_path: str
    path: str
    models_path: str

    def talk(self, body: Body, play: Answer) -> Talk:
        """Begin a streamed answer."""
        ...

    def whole(self, body: Body, play: Answer) -> Body:
        """Give the same answer in one piece."""
        ...

    def models(self, models: Sequence[Body], query: Mapping[str, str]) -> Body:
        """Give the list of models that a query asks for."""
        ...

    def refusal(self, status: int, message: str) -> Body:
        """Give the body of an error status."""
        ...


@dataclass(slots=True)
class FakeServer:
    """A scripted model server.

    Requests are answered from the queue, else by ``rule``; one that neither covers is refused
    and makes ``assert_done`` fail.

    Args:
        keys: The key of each request, kept apart from what is recorded and shown.
        models: What ``GET /models`` lists, in the wire's own fields; ``id`` is the name.
        list_refusal: What it answers instead.
        listed: How often it was asked.
    """

    wire: Wire
    rule: Rule | None = None
    requests: list[RecordedRequest] = field(default_factory=list)
    surprises: list[RecordedRequest] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    models: list[Body] = field(default_factory=list)
    list_refusal: Refusal | None = None
    listed: int = 0
    port: int = 0
    _queue: deque[Play] = field(default_factory=deque)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _loop: asyncio.AbstractEventLoop | None = None
    _runner: web.AppRunner | None = None
    _thread: threading.Thread | None = None

    # --- for tests ---

    def start(self) -> Self:
        """Serve from a thread until ``stop``."""
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        if not started.wait(WAIT_S):
            raise RuntimeError("the fake server did not start")
        return self

    def stop(self) -> None:
        """Hang up on everybody and end the thread."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(WAIT_S)
            self._loop = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """Return the address that the wire's SDK is given."""
        return f"http://127.0.0.1:{self.port}{self.wire.base_path}"

    @property
    def last(self) -> RecordedRequest:
        """Return the newest request."""
        return self.requests[-1]

    def play(self, *plays: Play | str) -> None:
        """Queue one answer for each coming request; a string is said in one piece."""
        self._queue.extend(answer(p) if isinstance(p, str) else p for p in plays)

    def wait_until(self, is_so: Callable[[], bool], timeout_s: float = WAIT_S) -> None:
        """Wait for a state of the recordings; fail if it does not come."""
        with self._changed:
            if not self._changed.wait_for(is_so, timeout_s):
                raise AssertionError(f"the state did not come within {timeout_s} s")

    def assert_done(self) -> None:
        """Fail if an answer was left over or a request was not expected."""
        left = len(self._queue)
        # Whoever plays next begins anew: one failure is not to be the next test's too.
        self._queue.clear()
        if left:
            raise AssertionError(f"{left} scripted answers were never asked for")
        if self.surprises:
            asked = [request.path for request in self.surprises]
            raise AssertionError(f"requests that no script expected: {asked}")

    # --- serving ---

    async def open(self, port: int = 0) -> None:
        """Listen on loopback in the running loop."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post(self.wire.path, self._handle)
        app.router.add_get(self.wire.models_path, self._list)
        app.router.add_get("/recorded", self._show)
        self._route(app.router)
        # Cancellation tells us the moment at which a client hangs up.
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening and hang up."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _run(self, started: threading.Event) -> None:
        loop = self._loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self.open())
            started.set()
            loop.run_forever()
        finally:
            loop.run_until_complete(self.close())
            loop.close()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _route(self, router: web.UrlDispatcher) -> None:
        """Serve what a server has beside its wire."""

    async def _list(self, request: web.Request) -> web.Response:
        self.listed += 1
        headers = request.headers
        self.keys.append(headers.get("X-Api-Key", headers.get("Authorization", "")))
        if self.list_refusal is not None:
            return await self._refuse(self.list_refusal)
        return web.json_response(self.wire.models(self.models, request.query))

    async def _show(self, _: web.Request) -> web.Response:
        return web.json_response([asdict(request) for request in self.requests])

    async def _record(self, request: web.Request) -> RecordedRequest:
        received_at_ns = time.monotonic_ns()
        text = await request.text()
        peer = request.transport.get_extra_info("peername") if request.transport else None
        recorded = RecordedRequest(
            number=len(self.requests) + 1,
            path=request.path,
            headers={
                name.lower(): value
                for name, value in request.headers.items()
                if name.lower() not in SECRET_HEADERS
            },
            body=json.loads(text),
            received_at_ns=received_at_ns,
            port=peer[1] if peer else None,
        )
        self.requests.append(recorded)
        headers = request.headers
        self.keys.append(headers.get("X-Api-Key", headers.get("Authorization", "")))
        self._notify()
        return recorded

    def _next_play(self, recorded: RecordedRequest) -> Play:
        if self._queue:
            return self._queue.popleft()
        by_rule = self.rule(recorded) if self.rule else None
        if by_rule is not None:
            return by_rule
        self.surprises.append(recorded)
        # A refusal that nobody retries, so that the surprise stays one request.
        return Refusal(400, self.wire.refusal(400, "no script expected this request"))

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        recorded = await self._record(request)
        try:
            response = await self._answer(request, recorded, self._next_play(recorded))
        except (asyncio.CancelledError, ConnectionError) as exc:
            if not isinstance(exc, HungUp):
                recorded.closed_at_ns = time.monotonic_ns()
            self._notify()
            # What aiohttp takes in silence; an error it would log as ours.
            raise asyncio.CancelledError from exc
        recorded.finished_at_ns = time.monotonic_ns()
        self._notify()
        return response

    async def _answer(
        self, request: web.Request, recorded: RecordedRequest, play: Play
    ) -> web.StreamResponse:
        if isinstance(play, Refusal):
            return await self._refuse(play)
        steps = list(play.steps)
        while steps and isinstance(steps[0], Silence | Reset):
            await self._hold(request, steps.pop(0))
        if recorded.body.get("stream") and not play.is_whole:
            return await self._stream(request, recorded, play, steps)
        recorded.first_sent_at_ns = time.monotonic_ns()
        return await self._whole(request, recorded, play, steps)

    async def _refuse(self, play: Refusal) -> web.Response:
        await asyncio.sleep(play.delay_s)
        if isinstance(play.body, str):
            return web.Response(
                status=play.status,
                text=play.body,
                headers=play.headers,
                content_type="text/html",
                charset=play.charset,
            )
        return web.json_response(play.body, status=play.status, headers=play.headers)

    async def _hold(self, request: web.Request, step: Step) -> None:
        if isinstance(step, Silence):
            await asyncio.sleep(step.seconds)
        else:
            _reset(request)

    async def _whole(
        self, request: web.Request, recorded: RecordedRequest, play: Answer, steps: list[Step]
    ) -> web.Response:
        raw = [step.data for step in steps if isinstance(step, SendRaw)]
        content_type = play.content_type or "application/json"
        if raw:
            return web.Response(body=b"".join(raw), content_type=content_type)
        for step in steps:
            if isinstance(step, Silence | Reset):
                await self._hold(request, step)
        text = json.dumps(self.wire.whole(recorded.body, play))
        return web.Response(text=text, headers=play.headers, content_type=content_type)

    async def _stream(
        self, request: web.Request, recorded: RecordedRequest, play: Answer, steps: list[Step]
    ) -> web.StreamResponse:
        head = {"Content-Type": play.content_type or "text/event-stream", **play.headers}
        response = web.StreamResponse(headers=head)
        response.enable_chunked_encoding()
        await response.prepare(request)
        talk = self.wire.talk(recorded.body, play)
        recorded.first_sent_at_ns = time.monotonic_ns()
        await response.write(talk.begin())
        self._notify()
        for step in steps:
            if isinstance(step, EndBody):
                break
            if isinstance(step, Silence | Reset):
                await self._hold(request, step)
            else:
                await self._write(response, recorded, talk, step)
        else:
            await response.write(talk.end())
        await response.write_eof()
        return response

    async def _write(
        self, response: web.StreamResponse, recorded: RecordedRequest, talk: Talk, step: Step
    ) -> None:
        match step:
            case Say(is_stamped=True):
                await self._say_stamped(response, recorded, talk, step)
            case Say():
                await self._say(response, talk, step)
            case CallTool():
                for piece in talk.tool(step):
                    await response.write(piece)
            case Think():
                await response.write(talk.think(step.text))
            case SendError():
                await response.write(talk.error(step))
            case SendRaw():
                await response.write(step.data)
            case _:
                raise TypeError(f"{step} cannot be written")

    async def _say(self, response: web.StreamResponse, talk: Talk, step: Say) -> None:
        number = 0
        pieces = step.pieces()
        while step.chunks is None or number < len(pieces):
            if number:
                await asyncio.sleep(step.interval_s)
            await response.write(talk.text(pieces[number % len(pieces)]))
            number += 1

    async def _say_stamped(
        self, response: web.StreamResponse, recorded: RecordedRequest, talk: Talk, step: Say
    ) -> None:
        # The first piece also opens the text; all later ones are alike and built once.
        first, later = talk.text(FIRST_STAMP), talk.text(STAMP)
        due_s = time.monotonic()
        for number in range(step.chunks or 0):
            if number:
                # Against the clock, so that a late piece does not delay all later ones.
                due_s += step.interval_s
                await asyncio.sleep(max(0.0, due_s - time.monotonic()))
            now_ns = time.monotonic_ns()
            stamps = now_ns if number else (recorded.received_at_ns, now_ns)
            await response.write((later if number else first) % stamps)


def _reset(request: web.Request) -> None:
    """Hang up with RST, so that the client sees a reset and no orderly end."""
    transport = request.transport
    if transport is not None:
        connected: socket.socket = transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    raise HungUp


# --- as a process of its own ---

_DIRECTIVE = re.compile(r"\b(chunks|interval_ms|wait_ms)=(\d+)")
_TOOL = re.compile(r"\[\[tool (\w+) (\{.*?\})\]\]")


def by_text(recorded: RecordedRequest, *, chunks: int, interval_s: float) -> Answer:
    """Answer as the newest message asks, else with stamped chunks.

    ``chunks=20 interval_ms=50 wait_ms=300`` in a person's text sets the stream's shape and the
    silence before it, ``[[tool name {"a": 1}]]`` calls a tool once; its result is answered with
    text.
    """
    text, is_result = newest_text(recorded.body)
    called = _TOOL.search(text)
    if called and not is_result:
        arguments: dict[str, JsonValue] = json.loads(called[2])
        return answer(CallTool(called[1], arguments))
    asked = {name: int(value) for name, value in _DIRECTIVE.findall(text)}
    wanted_s = asked["interval_ms"] / 1000 if "interval_ms" in asked else interval_s
    played = stamped(asked.get("chunks", chunks), wanted_s)
    if asked.get("wait_ms"):
        return replace(played, steps=(Silence(asked["wait_ms"] / 1000), *played.steps))
    return played


def newest_text(body: Body) -> tuple[str, bool]:
    """Return the last message's text, and whether it is a tool's result."""
    last = body["messages"][-1]
    content = last["content"]
    if isinstance(content, str):
        return content, last["role"] == "tool"
    texts = [str(block.get("text", "")) for block in content]
    has_result = any(block.get("type") == "tool_result" for block in content)
    return " ".join(texts), has_result or last["role"] == "tool"


def main(wire: Wire) -> None:
    """Serve until told to stop; the first line printed is the port."""
    parser = argparse.ArgumentParser(description="A fake model provider on loopback.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--chunks", type=int, default=100, help="pieces of an answer")
    parser.add_argument("--interval-ms", type=float, default=50.0, help="between two pieces")
    options = parser.parse_args()

    def rule(recorded: RecordedRequest) -> Answer:
        return by_text(recorded, chunks=options.chunks, interval_s=options.interval_ms / 1000)

    asyncio.run(serve(FakeServer(wire, rule=rule), options.port))


async def serve(fake: FakeServer, port: int) -> None:
    """Serve until the process is told to stop, and print the port."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await fake.open(port)
    sys.stdout.write(f"{fake.port}\n")
    sys.stdout.flush()
    await stop.wait()
    await fake.close()
