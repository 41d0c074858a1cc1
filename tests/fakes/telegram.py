"""A Bot API server on loopback: strict as the real one, with a script of faults.

In a test it runs in a thread of its own and is told by its methods; as a process of its own
(``python -m tests.fakes.telegram``) it is told over HTTP, by ``RemoteTelegram``.

A person's message becomes an update (``say``, ``put``), which waits for ``getUpdates`` or is
brought to the webhook, again and again until that answers 200. Every request is recorded in its
order (``calls``). Faults (``fail``, ``flood``) come before the rules of the API.
"""

import argparse
import asyncio
import contextlib
import json
import signal
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, TypeVar

import aiohttp
from aiohttp import web

from tests.fakes.telegram_api import Api, FakeBot, Upload
from tests.fakes.telegram_rules import OTHER_POLLER, WEBHOOK_IS_SET, Json, Refused

R = TypeVar("R")

WAIT_S = 5.0
TOKEN = "111111:AAfake-token_of-the-first-bot"
WEBHOOK_TIMEOUT_S = 10.0
WEBHOOK_PAUSE_S = 0.05
# What is text although it looks like JSON.
TEXTS = frozenset(
    "text caption description url secret_token language_code parse_mode action file_id"
    " callback_query_id username name inline_message_id".split()
)


@dataclass(slots=True)
class Call:
    """One request to a method, and how it ended; times are CLOCK_MONOTONIC in nanoseconds.

    Args:
        params: Decoded; files are in ``files``, by name, with their sizes.
        status: 0 while it runs, and where the fake hung up.
        result: Of a message its number; else None.
    """

    number: int
    bot_id: int
    method: str
    params: Json
    at_ns: int
    files: dict[str, int] = field(default_factory=dict)
    status: int = 0
    description: str = ""
    result: int | None = None
    ended_ns: int | None = None

    @property
    def chat(self) -> int | None:
        """Return the chat that it is about."""
        chat_id = self.params.get("chat_id")
        return chat_id if isinstance(chat_id, int) else None


@dataclass(slots=True)
class Fault:
    """What goes wrong with requests that match.

    Args:
        method: Whose; empty for any but ``getUpdates``.
        chat_id: In which chat; None for any.
        times: How often; None until the script is cleared.
        kind: ``refuse`` answers ``status``; ``hang_up`` ends the connection before anything is
            done, ``lose`` after it was done: the answer is lost; ``silence`` waits ``seconds``
            first, ``late`` waits after it was done.
        skip: Let so many requests pass first.
        moved_to: The supergroup that the chat became.
    """

    method: str = ""
    chat_id: int | None = None
    times: int | None = 1
    kind: Literal["refuse", "hang_up", "lose", "silence", "late"] = "refuse"
    status: int = 500
    description: str = "Internal Server Error"
    retry_after: int | None = None
    seconds: float = 0.0
    skip: int = 0
    moved_to: int | None = None

    def fits(self, method: str, chat_id: object) -> bool:
        """Return whether a request is one that it is for."""
        named = self.method.lower()
        if named != method.lower() and (named or method.lower() == "getupdates"):
            return False
        return self.chat_id is None or self.chat_id == chat_id

    def refusal(self) -> Refused:
        """Return what is answered."""
        said = {"retry_after": self.retry_after, "migrate_to_chat_id": self.moved_to}
        asked = {name: value for name, value in said.items() if value is not None}
        return Refused(self.status, self.description, **asked)


def too_many(retry_after: int, *, chat_id: int | None = None, method: str = "") -> Fault:
    """Return one answer 429."""
    return Fault(
        method=method,
        chat_id=chat_id,
        status=429,
        description=f"Too Many Requests: retry after {retry_after}",
        retry_after=retry_after,
    )


def person(user_id: int = 7, **extra: object) -> Json:
    """Return a user as updates name one."""
    return {
        "id": user_id,
        "is_bot": False,
        "first_name": f"Person {user_id}",
        "username": f"person{user_id}",
        "language_code": "en",
        **extra,
    }


class FakeTelegram:
    """The server; one bot with ``TOKEN`` is there from the beginning."""

    def __init__(self) -> None:
        self.api = Api()
        self.calls: list[Call] = []
        # Every delivery to a webhook: bot, update, status (0 where nobody answered), seconds.
        self.deliveries: list[tuple[int, int, int, float]] = []
        self.port = 0
        self.faults: list[Fault] = []
        self.floods: dict[int, float] = {}
        # Before each answer, as the way to the real one takes some.
        self.delay_s = 0.0
        # How many messages a chat was sent, and the news of one more.
        self.sent: Counter[int] = Counter()
        self._sent_one = asyncio.Event()
        self._changed = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._runner: web.AppRunner | None = None
        self._carriers: set[asyncio.Task[None]] = set()
        self.add_bot(TOKEN)

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
        """Return the address that a bot's account is given."""
        return f"http://127.0.0.1:{self.port}"

    def add_bot(
        self, token: str, *, username: str = "", name: str = "", reads_all: bool = False
    ) -> FakeBot:
        """Make a bot; without it, its token is none."""
        number = token.partition(":")[0]
        bot = FakeBot(token, username or f"fake{number}_bot", name or f"Fake {number}", reads_all)
        self.api.bots[token] = bot
        return bot

    def bot(self, token: str = TOKEN) -> FakeBot:
        """Return a bot."""
        return self.api.bots[token]

    def fail(self, *faults: Fault) -> None:
        """Script faults; the first that fits a request is played."""
        self._do(lambda: self.faults.extend(faults))

    def flood(self, chat_id: int, seconds: float) -> None:
        """Answer 429 in a chat for a time, with what is left of it."""
        self._do(lambda: self.floods.__setitem__(chat_id, time.monotonic() + seconds))

    def clear(self) -> None:
        """Forget the script of faults."""

        def cleared() -> None:
            self.faults.clear()
            self.floods.clear()

        self._do(cleared)

    def say(
        self,
        text: str = "",
        *,
        user: Json | int = 7,
        chat: Json | int | None = None,
        kind: str = "message",
        token: str = TOKEN,
        **extra: object,
    ) -> Json:
        """Let a person say something; return the update, which is on its way.

        Args:
            chat: Its number, or the whole of it; None for the person's private chat.
            kind: ``message``, ``edited_message`` or ``channel_post``.
            extra: Further fields of the message, such as ``message_thread_id``.
        """
        return self._do(lambda: self._say(text, user, chat, kind, token, extra))

    def put(self, update: Json, *, token: str = TOKEN, times: int = 1) -> Json:
        """Put an update in; it gets the bot's next number unless it has one.

        Args:
            times: How often it is delivered, as the real one may after a lost answer.
        """
        return self._do(lambda: self._put(update, token, times))

    def press(
        self, data: str, *, message_id: int, chat: int, user: int = 7, token: str = TOKEN
    ) -> Json:
        """Let a person press an inline button; return the update."""
        query = f"query-{time.monotonic_ns()}"

        def pressed() -> Json:
            self.api.queries.add(query)
            told = {
                "id": query,
                "from": person(user),
                "chat_instance": "1",
                "data": data,
                "message": {
                    "message_id": message_id,
                    "date": int(time.time()),
                    "chat": self.api.chat(chat),
                    "from": self.api.bots[token].me(),
                },
            }
            return self._put({"callback_query": told}, token, 1)

        return self._do(pressed)

    def called(self, method: str = "", *, chat: int | None = None) -> list[Call]:
        """Return the calls of a method (of any but ``getUpdates``), perhaps in one chat."""
        wanted = method.lower()
        return [
            call
            for call in list(self.calls)
            if (call.method.lower() == wanted if wanted else call.method != "getUpdates")
            and (chat is None or call.chat == chat)
        ]

    def texts(self, chat: int) -> list[str]:
        """Return the texts that stand in a chat from the bot, in their order."""
        found = sorted(self.api.messages.items())
        return [m.text for (where, _), m in found if where == chat and m.is_ours]

    def wait_until(self, is_so: Callable[[], bool], timeout_s: float = WAIT_S) -> None:
        """Wait for a state of the recordings; fail if it does not come."""
        with self._changed:
            if not self._changed.wait_for(is_so, timeout_s):
                raise AssertionError(f"the state did not come within {timeout_s} s")

    def assert_done(self) -> None:
        """Fail if a fault was scripted and never met."""
        left = [fault for fault in self.faults if fault.times is not None]
        self.faults.clear()
        if left:
            raise AssertionError(f"faults that no request met: {left}")

    # --- serving ---

    async def open(self, port: int = 0) -> None:
        """Listen on loopback in the running loop."""
        self._loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/bot{token}/{method}", self._handle)
        app.router.add_get("/file/bot{token}/{path:.+}", self._download)
        app.router.add_post("/control/{what}", self._control)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening and hang up."""
        for task in list(self._carriers):
            task.cancel()
        await asyncio.gather(*self._carriers, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _run(self, started: threading.Event) -> None:
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self.open())
            started.set()
            loop.run_forever()
        finally:
            loop.run_until_complete(self.close())
            loop.close()

    def _do(self, f: Callable[[], R]) -> R:
        """Run something where the state is changed: on the loop, once it runs."""
        if self._thread is None or threading.current_thread() is self._thread:
            return f()

        async def run() -> R:
            return f()

        if self._loop is None:
            raise AssertionError("it has a loop once it has a thread")
        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(WAIT_S)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    # --- updates ---

    def _say(
        self,
        text: str,
        user: Json | int,
        chat: Json | int | None,
        kind: str,
        token: str,
        extra: dict[str, object],
    ) -> Json:
        who = person(user) if isinstance(user, int) else user
        if chat is None:
            where = {"id": who["id"], "type": "private", "first_name": who["first_name"]}
        else:
            where = self.api.chat(chat) if isinstance(chat, int) else chat
        message: Json = {
            "message_id": self.api.new_message_id(),
            "date": int(time.time()),
            "chat": where,
            **({} if kind == "channel_post" else {"from": who}),
            **({"text": text} if text else {}),
            **extra,
        }
        return self._put({kind: message}, token, 1)

    def _put(self, update: Json, token: str, times: int) -> Json:
        bot = self.api.bots[token]
        if "update_id" not in update:
            update = {"update_id": bot.next_update, **update}
        bot.next_update = max(bot.next_update, update["update_id"] + 1)
        for value in update.values():
            if isinstance(value, dict) and "message_id" in value:
                self.api.see(value)
        if not bot.wants(update):
            return update
        bot.put_in += 1
        for _ in range(times):
            bot.waiting.append(update)
        bot.news.set()
        if bot.webhook and self._runner is not None:
            task = asyncio.ensure_future(self._carry(bot))
            self._carriers.add(task)
            task.add_done_callback(self._carriers.discard)
        return update

    async def _carry(self, bot: FakeBot) -> None:
        """Bring what waits to the webhook, until it was taken."""
        async with aiohttp.ClientSession() as session:
            while bot.waiting and bot.webhook:
                update = bot.waiting.popleft()
                status = await self._bring(session, bot, update)
                if status != 200:
                    bot.last_error = f"Wrong response from the webhook: {status}"
                    bot.waiting.appendleft(update)
                    # Whoever polls since the webhook was taken away waits for it.
                    bot.news.set()
                    await asyncio.sleep(WEBHOOK_PAUSE_S)

    async def _bring(self, session: aiohttp.ClientSession, bot: FakeBot, update: Json) -> int:
        head = {"X-Telegram-Bot-Api-Secret-Token": bot.secret} if bot.secret else {}
        began, status = time.monotonic(), 0
        try:
            async with session.post(
                bot.webhook,
                json=update,
                headers=head,
                timeout=aiohttp.ClientTimeout(total=WEBHOOK_TIMEOUT_S),
            ) as answer:
                status = answer.status
        except (aiohttp.ClientError, TimeoutError):
            pass
        took_s = time.monotonic() - began
        self.deliveries.append((bot.id, update["update_id"], status, took_s))
        self._notify()
        return status

    async def _get_updates(self, bot: FakeBot, params: Json) -> list[Json]:
        if bot.webhook:
            raise Refused(409, WEBHOOK_IS_SET)
        bot.allow(params.get("allowed_updates"))
        offset = params.get("offset") or 0
        bot.confirm(offset)
        bot.poll += 1
        mine = bot.poll
        # Whoever polled before is sent away by this.
        bot.news.set()
        bot.news = asyncio.Event()
        ends = time.monotonic() + (params.get("timeout") or 0)
        while not bot.waiting and time.monotonic() < ends:
            news = bot.news
            try:
                await asyncio.wait_for(news.wait(), ends - time.monotonic())
            except TimeoutError:
                break
            if bot.poll != mine:
                raise Refused(409, OTHER_POLLER)
            if bot.webhook:
                raise Refused(409, WEBHOOK_IS_SET)
            bot.news = asyncio.Event()
        return list(bot.waiting)[: params.get("limit") or 100]

    # --- requests ---

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        at_ns = time.monotonic_ns()
        params, uploads = await _read(request)
        bot = self.api.bots.get(request.match_info["token"])
        call = Call(
            number=len(self.calls) + 1,
            bot_id=bot.id if bot else 0,
            method=method,
            params=params,
            at_ns=at_ns,
            files={name: len(upload.data) for name, upload in uploads.items()},
        )
        self.calls.append(call)
        self._notify()
        try:
            answer = await self._answer(request, call, bot, uploads)
        finally:
            call.ended_ns = time.monotonic_ns()
            self._notify()
        return answer

    async def _answer(
        self,
        request: web.Request,
        call: Call,
        bot: FakeBot | None,
        uploads: dict[str, Upload],
    ) -> web.StreamResponse:
        fault = self._fault(call)
        try:
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            if fault is not None and fault.kind == "silence":
                await asyncio.sleep(fault.seconds)
            if fault is not None and fault.kind == "hang_up":
                return _hang_up(request)
            if fault is not None and fault.kind == "refuse":
                raise fault.refusal()
            self._check_flood(call)
            if bot is None or bot.is_revoked:
                raise Refused(401, "Unauthorized")
            if call.method.lower() == "getupdates":
                # Any: JSON of any shape.
                result: Any = await self._get_updates(bot, call.params)
            else:
                result = self.api.call(bot, call.method, call.params, uploads)
        except Refused as refused:
            return _refusal(call, refused)
        call.status = 200
        if isinstance(result, dict):
            call.result = result.get("message_id")
        if call.method.lower().startswith("send") and call.result and call.chat:
            self.sent[call.chat] += 1
            self._sent_one.set()
            self._sent_one = asyncio.Event()
        if fault is not None and fault.kind == "late":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.kind == "lose":
            return _hang_up(request)
        return web.json_response({"ok": True, "result": result})

    def _fault(self, call: Call) -> Fault | None:
        for fault in self.faults:
            if not fault.fits(call.method, call.params.get("chat_id")):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            if fault.times is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
            return fault
        return None

    def _check_flood(self, call: Call) -> None:
        left_s = self.floods.get(call.chat or 0, 0.0) - time.monotonic()
        if left_s > 0:
            whole = int(left_s) + 1
            raise Refused(429, f"Too Many Requests: retry after {whole}", retry_after=whole)

    async def _download(self, request: web.Request) -> web.Response:
        bot = self.api.bots.get(request.match_info["token"])
        _, _, rest = request.match_info["path"].partition("/")
        upload = self.api.files.get(rest.partition("/")[0])
        if bot is None or upload is None:
            raise web.HTTPNotFound
        return web.Response(body=upload.data, content_type="application/octet-stream")

    # --- told by other processes ---

    async def _control(self, request: web.Request) -> web.Response:
        what = request.match_info["what"]
        # Any: what each question takes.
        told: Any = await request.json() if request.can_read_body else None
        # Any: whatever the question's answer is.
        answer: Any = None
        match what:
            case "bot":
                self.add_bot(**told)
            case "say":
                answer = self.say(**told)
            case "put":
                answer = self.put(**told)
            case "fail":
                self.fail(*(Fault(**fault) for fault in told))
            case "flood":
                self.flood(**told)
            case "clear":
                self.clear()
            case "delay":
                self.delay_s = told
            case "calls":
                answer = [asdict(call) for call in self.calls[told:]]
            case "count":
                answer = len(self.calls)
            case "deliveries":
                answer = self.deliveries
            case "waiting":
                answer = {bot.id: len(bot.waiting) for bot in self.api.bots.values()}
            case "texts":
                answer = self.texts(told)
            case "wait":
                answer = await self._wait_sent(**told)
            case _:
                raise web.HTTPNotFound
        return web.json_response(answer)

    async def _wait_sent(self, chat: int, count: int, seconds: float) -> int:
        """Wait until a chat was sent so many messages; return how many it was."""
        ends = time.monotonic() + seconds
        while self.sent[chat] < count and (left_s := ends - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._sent_one.wait(), left_s)
        return self.sent[chat]


class RemoteTelegram:
    """Tells a fake in another process what to do, and asks what it recorded."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def add_bot(self, token: str, **named: object) -> None:
        """Make a bot."""
        self._ask("bot", {"token": token, **named})

    def say(self, text: str = "", **named: object) -> Json:
        """Let a person say something, as ``FakeTelegram.say``."""
        said: Json = self._ask("say", {"text": text, **named})
        return said

    def put(self, update: Json, **named: object) -> Json:
        """Put an update in, as ``FakeTelegram.put``."""
        said: Json = self._ask("put", {"update": update, **named})
        return said

    def fail(self, *faults: Fault) -> None:
        """Script faults."""
        self._ask("fail", [asdict(fault) for fault in faults])

    def flood(self, chat_id: int, seconds: float) -> None:
        """Answer 429 in a chat for a time."""
        self._ask("flood", {"chat_id": chat_id, "seconds": seconds})

    def clear(self) -> None:
        """Forget the script of faults."""
        self._ask("clear", None)

    def delay(self, seconds: float) -> None:
        """Take some time for every answer."""
        self._ask("delay", seconds)

    def calls(self, since: int = 0) -> list[Call]:
        """Return the calls from a number on."""
        known = {column.name for column in fields(Call)}
        return [
            Call(**{name: value for name, value in call.items() if name in known})
            for call in self._ask("calls", since)
        ]

    def deliveries(self) -> list[tuple[int, int, int, float]]:
        """Return what was brought to webhooks: bot, update, status, seconds."""
        return [(a, b, c, d) for a, b, c, d in self._ask("deliveries", None)]

    def waiting(self) -> dict[int, int]:
        """Return how many updates wait for each bot."""
        return {int(bot): count for bot, count in self._ask("waiting", None).items()}

    def texts(self, chat: int) -> list[str]:
        """Return what stands in a chat from the bot."""
        said: list[str] = self._ask("texts", chat)
        return said

    def _ask(self, what: str, told: object) -> Any:  # Any: JSON of the answer
        request = urllib.request.Request(  # noqa: S310 — loopback
            f"{self.base_url}/control/{what}",
            data=json.dumps(told).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:  # noqa: S310
            return json.load(answer)


async def _read(request: web.Request) -> tuple[Json, dict[str, Upload]]:
    """Return a request's parameters and files, however they were sent."""
    params: Json = {name: _decoded(name, value) for name, value in request.query.items()}
    uploads: dict[str, Upload] = {}
    if request.content_type == "application/json":
        params |= await request.json()
        return params, uploads
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            uploads[name] = Upload(value.filename, value.file.read())
        elif isinstance(value, bytes | bytearray):
            uploads[name] = Upload(name, bytes(value))
        else:
            params[name] = _decoded(name, value)
    return params, uploads


def _decoded(name: str, value: str) -> object:
    if name in TEXTS:
        return value
    try:
        found: object = json.loads(value)
    except ValueError:
        return value
    return found


def _refusal(call: Call, refused: Refused) -> web.Response:
    call.status, call.description = refused.status, refused.description
    said: Json = {"ok": False, "error_code": refused.status, "description": refused.description}
    if refused.parameters:
        said["parameters"] = refused.parameters
    return web.json_response(said, status=refused.status)


def _hang_up(request: web.Request) -> web.Response:
    """End the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    # Nobody reads it.
    return web.Response(status=500)


async def _serve(fake: FakeTelegram, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await fake.open(port)
    sys.stdout.write(f"{fake.port}\n")
    sys.stdout.flush()
    await stop.wait()
    await fake.close()


def main() -> None:
    """Serve until told to stop; the first line printed is the port."""
    parser = argparse.ArgumentParser(description="A fake Bot API server on loopback.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(FakeTelegram(), parser.parse_args().port))


if __name__ == "__main__":
    main()
