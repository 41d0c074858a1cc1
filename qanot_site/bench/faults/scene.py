"""Where faults happen: our own PostgreSQL and Valkey, and `up` on top of them, again and again."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from redis.asyncio import Redis

from agents.db import in_db
from agents.models import Agent
from qanot_site.bench import processes, seeding
from qanot_site.bench.deployment import START_S, OwnServers, Platform
from qanot_site.bench.faults import checks
from qanot_site.bench.faults.browser import Browser
from qanot_site.bench.faults.eventlog import EventLog
from qanot_site.bench.seeding import Talk
from qanot_site.bench.telegram.people import BotApi, Writer, make_bot, token_of
from qanot_site.home import Home
from sessions.models import ChannelAccount

# The supervisor's pause before it starts a process again grows with each death; a platform on
# which so many died within a minute is none that anybody runs.
MOST_DEATHS: Final = 4
SETTLE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long things take.

    Args:
        scale: 1, or a tenth for the tests.
    """

    scale: float

    @property
    def lease_s(self) -> float:
        """Return how long a lease holds without a heartbeat."""
        return 10 * self.scale

    @property
    def away_s(self) -> float:
        """Return how long Redis is away."""
        return 60 * self.scale

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of the platform; at full length all keep their defaults."""
        if self.scale == 1:
            return {}
        return {
            "QANOT_LEASE_S": f"{self.lease_s:g}",
            "QANOT_HEARTBEAT_S": f"{3 * self.scale:g}",
            "QANOT_SWEEP_S": f"{3 * self.scale:g}",
        }


@dataclass(slots=True)
class Scene:
    """A platform that faults happen to, one after the other."""

    home: Home
    servers: OwnServers
    provider_url: str
    telegram_url: str
    lengths: Lengths
    client: aiohttp.ClientSession
    log: EventLog = field(default_factory=EventLog)
    deaths: int = 0
    _agent: Agent | None = None
    _bot: int | None = None
    _platform: Platform | None = None
    _workers: int = 0
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def platform(self) -> Platform:
        """Return the platform that runs now."""
        if self._platform is None:
            raise AssertionError("the platform is started")
        return self._platform

    def number(self) -> int:
        """Return a number that no other message has."""
        return next(self._numbers)

    async def talk(self) -> Talk:
        """Return a new person's conversation, in which nothing was said yet."""
        agent = await self._answering()
        (talk,) = await in_db(seeding.talks, agent, 1, prefix=f"guest{self.number()}-")
        return talk

    @property
    def bot_api(self) -> BotApi:
        """Return the fake Bot API."""
        return BotApi(self.client, self.telegram_url)

    async def writer(self) -> Writer:
        """Return somebody new who writes to the bot, which is made at its first use."""
        if self._bot is None:
            await self.bot_api.tell("bot", {"token": token_of(1)})
            polled = ChannelAccount.Receives.POLLING
            agent = await self._answering()
            bot = await in_db(make_bot, agent, 1, self.telegram_url, receives=polled)
            self._bot = bot.pk
        return Writer(self.bot_api, 1, 50_000 + self.number())

    async def _answering(self) -> Agent:
        if self._agent is None:
            self._agent = await in_db(seeding.agent_with, self.provider_url)
        return self._agent

    async def use(self, workers: int) -> None:
        """Run with so many workers, on a supervisor that has not seen too much death."""
        if self._platform is not None and self._workers == workers and self.deaths < MOST_DEATHS:
            return
        await self.stop()
        self.log.lines.clear()
        self.deaths = 0
        self._workers = workers
        self._platform = Platform(
            self.home,
            workers=workers,
            environment={"QANOT_LOG_FORMAT": "json", **self.lengths.environment},
            output=self.log.writer,
        )
        self._platform.start()
        await self.log.wait_for_line("Ready after", START_S)
        await self.log.wait_for_line('"worker.started"', START_S, times=workers)

    async def stop(self) -> None:
        """Stop the platform, in order."""
        if self._platform is not None:
            # In a thread: its processes' last words must be read, or a full pipe holds them up.
            await asyncio.to_thread(self._platform.stop)
            self._platform = None

    def pids(self, *names: str) -> list[int]:
        """Return the processes that do these jobs."""
        return [pid for name in names for pid in self.platform.pids(name)]

    async def kill(self, pids: list[int]) -> float:
        """Kill processes; return when the last was gone, CLOCK_MONOTONIC seconds."""
        self.deaths += 1
        return max([await processes.kill(pid) for pid in pids])

    @contextlib.asynccontextmanager
    async def browser(self, talk: Talk) -> AsyncIterator[Browser]:
        """Show a conversation to somebody."""
        browser = Browser(self.client, self.platform.address, talk, scale=self.lengths.scale)
        await browser.open()
        try:
            yield browser
        finally:
            await browser.close()

    @contextlib.asynccontextmanager
    async def browsers(self, talks: list[Talk]) -> AsyncIterator[list[Browser]]:
        """Show each conversation to somebody."""
        async with contextlib.AsyncExitStack() as stack:
            yield [await stack.enter_async_context(self.browser(talk)) for talk in talks]

    async def settle(self, talk: Talk) -> None:
        """Wait until nothing of a conversation is left to do; give up after a minute."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                # Rows of other processes: nobody tells us when they change.
                while not await in_db(checks.is_settled, talk.session):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)

    async def has_asked_provider(self, part: str) -> bool:
        """Return whether a request with this text has reached the provider."""
        async with self.client.get(f"{self.provider_url}/recorded") as response:
            return part in await response.text()

    async def flush_redis(self) -> float:
        """Empty Redis; return when it was empty, CLOCK_MONOTONIC seconds."""
        async with Redis.from_url(self.servers.valkey.url) as redis:
            await redis.flushall()
        return time.monotonic()

    async def take_redis_away(self) -> None:
        """End Valkey without a last word."""
        if self.servers.valkey.process is not None:
            await processes.kill(self.servers.valkey.process.pid)
            self.servers.valkey.process.wait()

    def bring_redis_back(self) -> None:
        """Start Valkey again where it was; it remembers nothing."""
        self.servers.valkey.spawn()
        self.servers.valkey.wait()
