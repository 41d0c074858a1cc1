"""Two hosts on one PostgreSQL and one Redis: live streams cross them, and either may vanish."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from django.conf import settings
from django.db import connection

from agents.db import in_db
from agents.models import Agent, ProviderAccount
from agents.services import setup
from qanot_site.bench import processes, seeding
from qanot_site.bench.deployment import KEY_VARIABLE, fake_provider
from qanot_site.bench.faults import checks
from qanot_site.bench.faults.browser import Browser, Letter
from qanot_site.bench.faults.eventlog import Event, EventLog
from qanot_site.bench.seeding import Talk
from qanot_site.bench.tabs import STAMP
from sessions.models import Turn
from tests.faults.hosts import Host, Network, require_namespaces, two_hosts

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_S = 60.0
LEASE_S = 1.5
# What only the holder of a turn's lease may do.
WRITES = {"reply.stored", "answer.committed", "events.ended"}


@pytest.fixture
def log() -> EventLog:
    """What all processes write."""
    return EventLog()


@pytest.fixture
def network(transactional_db: None, log: EventLog, tmp_path: Path) -> Iterator[Network]:
    """Two hosts, an agent, and a model on this host."""
    require_namespaces()
    setup.ensure_first_team()
    database, redis = urlsplit(settings.DATABASE_URL), urlsplit(settings.REDIS_URL)
    assert database.port is not None
    assert redis.port is not None
    environment = {
        "DATABASE_URL": settings.DATABASE_URL.replace(f"127.0.0.1:{database.port}", "{database}"),
        "REDIS_URL": settings.REDIS_URL.replace(f"127.0.0.1:{redis.port}", "{redis}"),
        "QANOT_SECRET_KEY": settings.SECRET_KEY,
        "QANOT_LOG_FORMAT": "json",
        "QANOT_ALLOWED_HOSTS": "127.0.0.1",
        "QANOT_LEASE_S": f"{LEASE_S:g}",
        "QANOT_HEARTBEAT_S": "0.3",
        "QANOT_SWEEP_S": "0.3",
        "TESTS_MODEL": "{model}",
        KEY_VARIABLE: "sk-fake",
    }
    with ExitStack() as stack:
        provider = stack.enter_context(fake_provider(tmp_path, chunks=20, interval_ms=50))
        model_port = urlsplit(provider.url).port
        assert model_port is not None
        servers = {"database": database.port, "redis": redis.port, "model": model_port}
        made = stack.enter_context(
            two_hosts(servers, environment, output=log.writer, folder=tmp_path)
        )
        seeding.agent_with(f"http://{made.hosts[0].environment['TESTS_MODEL']}")
        # The bridge is a private network.
        ProviderAccount.objects.update(may_reach_private=True)
        yield made


def test_two_hosts(network: Network, log: EventLog) -> None:
    asyncio.run(_two_hosts(network, log))
    # Threads of `in_db` gave theirs back; this thread's own goes before the rows do.
    connection.close()


async def _two_hosts(network: Network, log: EventLog) -> None:
    log.open()
    near, far = network.hosts
    for host in network.hosts:
        host.start_web()
        host.start_beat()
    far_worker = far.start_worker()
    near_worker = near.start_worker()
    await log.wait_for_line('"worker.started"', WAIT_S, times=2)
    await log.wait_for_line('"beat_waits"', WAIT_S)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(aiohttp.ClientSession())
        await _answer(client, f"http://{network.web[0]}/healthz")
        # The near worker sleeps, so that the far one takes the turns.
        processes.freeze(near_worker)
        talks = [await _talk(number) for number in range(3)]
        browsers = [await _browse(stack, client, network.web[0], talk) for talk in talks]

        told = [[_letter(1, chunks=10)], [], []]
        await _live_stream_crosses_hosts(browsers[0], told[0][0], log, far_worker)
        for number, letters in enumerate(told):
            letters.append(_letter(10 + number, chunks=40))
        await _cut_off_in_the_middle(browsers, told, far, log, far_worker, near_worker)
        await _cut_off_worker_writes_nothing(browsers, told, far, log, far_worker)
        for host in network.hosts:
            await asyncio.to_thread(host.stop)
    log.close()


async def _talk(number: int) -> Talk:
    agent = await in_db(_first_agent)
    (talk,) = await in_db(seeding.talks, agent, 1, prefix=f"guest{number}-")
    return talk


def _first_agent() -> Agent:
    return Agent.objects.select_related("team").order_by("id")[0]


async def _browse(
    stack: AsyncExitStack, client: aiohttp.ClientSession, address: str, talk: Talk
) -> Browser:
    browser = Browser(client, address, talk, scale=0.25)
    stack.push_async_callback(browser.close)
    async with asyncio.timeout(WAIT_S):
        await browser.open()
    return browser


async def _answer(client: aiohttp.ClientSession, address: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            async with client.get(address) as response:
                if response.status == 200:
                    return
        except aiohttp.ClientError:
            pass
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


def _letter(number: int, *, chunks: int) -> Letter:
    return Letter(
        f"Remember that box {number} is blue. chunks={chunks} interval_ms=50", chunks=chunks
    )


async def _live_stream_crosses_hosts(
    browser: Browser, letter: Letter, log: EventLog, worker: int
) -> None:
    """The browser is on one host's web server, the worker is the other host's."""
    begun = len(log.events)
    await browser.write(letter)
    view = await browser.wait_over(letter, WAIT_S)

    assert view is not None
    assert _writers(log.events[begun:]) == {worker}
    assert len(STAMP.findall(view.live_text)) == 10
    assert view.has_seen_end
    assert not view.has_skipped
    verdict = await in_db(checks.judge, browser.talk.session, [letter], browser.views)
    assert verdict.remarks == []


async def _cut_off_in_the_middle(
    browsers: list[Browser],
    told: list[list[Letter]],
    far: Host,
    log: EventLog,
    far_worker: int,
    near_worker: int,
) -> None:
    """The far host loses its network while it answers; the near one answers all."""
    begun = len(log.events)
    for browser, letters in zip(browsers, told, strict=True):
        await browser.write(letters[-1])
    await _until(lambda: _count(log.events[begun:], "text.first", far_worker) == len(told))

    cut_at = len(log.events)
    far.cut_off()
    processes.thaw(near_worker)
    for browser, letters in zip(browsers, told, strict=True):
        assert await browser.wait_over(letters[-1], WAIT_S) is not None, "\n".join(log.lines)

    assert _writers(log.events[cut_at:]) == {near_worker}


async def _cut_off_worker_writes_nothing(
    browsers: list[Browser], told: list[list[Letter]], far: Host, log: EventLog, worker: int
) -> None:
    """Back on the network, the far worker finds its leases taken, and all is as it was."""
    before = await in_db(_written)
    back_at = len(log.events)
    far.plug_in()
    await _until(lambda: _count(log.events[back_at:], "lease.lost", worker) == len(told))

    assert worker not in _writers(log.events[back_at:])
    assert await in_db(_written) == before
    for browser, letters in zip(browsers, told, strict=True):
        verdict = await in_db(checks.judge, browser.talk.session, letters, browser.views)
        assert verdict.remarks == []


def _written() -> list[tuple[object, ...]]:
    return list(Turn.objects.order_by("id").values_list("id", "state", "attempt", "committed_at"))


def _writers(events: list[Event]) -> set[int]:
    return {event.process for event in events if event.name in WRITES}


def _count(events: list[Event], name: str, process: int) -> int:
    return sum(1 for event in events if event.name == name and event.process == process)


async def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
