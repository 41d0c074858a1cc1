"""`bench telegram`: how quick bots are, and what a poller takes."""

import asyncio
import time
from typing import Final

from rich.table import Table

from agents.db import in_db
from agents.models import Agent
from qanot_site.bench import processes, report, seeding
from qanot_site.bench.deployment import Platform
from qanot_site.bench.tabs import new_client
from qanot_site.bench.telegram.people import (
    ANSWER_S,
    BotApi,
    Post,
    Shown,
    Webhook,
    Writer,
    make_bot,
    shown,
    token_of,
)
from sessions.models import ChannelAccount, Turn

CALM_TURNS: Final = 150
CALM_RATE: Final = 5.0
CALM_SHAPE: Final = "chunks=20 interval_ms=10"
AT_ONCE: Final = 100
CHATS: Final = 50
STREAM_SHAPE: Final = "chunks=60 interval_ms=50"
FLOOD_S: Final = 30.0
BOTS: Final = 10
MESSAGES_A_BOT: Final = 2
WARM_UP: Final = 5

Receives = ChannelAccount.Receives


def measure(
    platform: Platform, provider_url: str, telegram_url: str
) -> tuple[report.Figures, Table]:
    """Measure everything; return the figures and a table."""
    agent = seeding.agent_with(provider_url)
    return asyncio.run(_measure(platform, agent, telegram_url))


async def _measure(platform: Platform, agent: Agent, url: str) -> tuple[report.Figures, Table]:
    async with new_client() as client:
        api = BotApi(client, url)
        account = await _add_bot(api, agent, 0, Receives.WEBHOOK)
        webhook = Webhook(client, platform.address, account.pk)
        # The worker has loaded its SDKs, as after any minute.
        for number in range(WARM_UP):
            await _ask(api, webhook, 500 + number, f"Hello {number}. chunks=2 interval_ms=10")
        calm = await _calm(api, webhook)
        posts = [post for post, _ in calm]
        answers = [answer for _, answer in calm]
        drafts = [answer.draft for answer in answers if answer.draft is not None]
        turns, sends = await _same_at_once(api, webhook)
        before = await _streams(api, webhook, seconds=FLOOD_S / 2)
        flooded = 2_000 + CHATS - 1
        await api.tell("flood", {"chat_id": flooded, "seconds": FLOOD_S})
        during = await _streams(api, webhook, seconds=FLOOD_S, without=flooded)
        memory = await _pollers_memory(platform, api, agent)
    calm_p95 = report.percentile(before, 0.95)
    flood_p95 = report.percentile(during, 0.95)
    figures: report.Figures = {
        "webhook_ms": report.spread([post.took_ms for post in posts]),
        "webhook_refused": sum(post.status != 200 for post in posts),
        "first_draft_added_ms": report.spread_or_none(drafts),
        "answer_added_ms": report.spread([answer.final for answer in answers]),
        "unanswered": CALM_TURNS - len(answers),
        "same_update": {"deliveries": AT_ONCE, "turns": turns, "answers": sends},
        "one_chat_flooded": {
            "chats": CHATS,
            "calm_p95_ms": round(calm_p95, 1),
            "flooded_p95_ms": round(flood_p95, 1),
            "added_p95_ms": round(flood_p95 - calm_p95, 1),
        },
        "poller_pss_mb": round(memory / 1024),
        "bots": BOTS,
    }
    return figures, _table(figures)


async def _add_bot(
    api: BotApi, agent: Agent, number: int, receives: ChannelAccount.Receives
) -> ChannelAccount:
    await api.tell("bot", {"token": token_of(number)})
    return await in_db(make_bot, agent, number, api.url, receives=receives)


async def _ask(api: BotApi, webhook: Webhook, user: int, text: str) -> tuple[Post, Shown | None]:
    """Bring one message and wait for its answer."""
    known: int = await api.tell("wait", {"chat": user, "count": 0, "seconds": 0})
    since: int = await api.tell("count", None)
    post = await webhook.bring(webhook.update(user, text), user=user)
    await api.tell("wait", {"chat": user, "count": known + 1, "seconds": ANSWER_S})
    return post, shown(post, await api.calls(since))


async def _calm(api: BotApi, webhook: Webhook) -> list[tuple[Post, Shown]]:
    """Bring messages at a steady rate, each to a chat of its own."""
    since: int = await api.tell("count", None)
    with report.bar("Messages in calm", CALM_TURNS) as count:

        async def one(number: int) -> Post:
            await asyncio.sleep(number / CALM_RATE)
            user = 1_000 + number
            update = webhook.update(user, f"Message {number}. {CALM_SHAPE}")
            post = await webhook.bring(update, user=user)
            await api.tell("wait", {"chat": user, "count": 1, "seconds": ANSWER_S})
            count()
            return post

        posts = await asyncio.gather(*(one(number) for number in range(CALM_TURNS)))
    calls = await api.calls(since)
    found = [(post, shown(post, calls)) for post in posts]
    return [(post, answer) for post, answer in found if answer is not None]


async def _same_at_once(api: BotApi, webhook: Webhook) -> tuple[int, int]:
    """Bring one update a hundred times in the same moment; return its turns and its answers."""
    user = 1_999
    update = webhook.update(user, f"Once, please. {CALM_SHAPE}")
    report.say(f"One update, {AT_ONCE} times at once …")
    await asyncio.gather(*(webhook.bring(update, user=user) for _ in range(AT_ONCE)))
    await api.tell("wait", {"chat": user, "count": 1, "seconds": ANSWER_S})
    # A second answer would come within this time.
    sent: int = await api.tell("wait", {"chat": user, "count": 2, "seconds": 3})
    turns = Turn.objects.filter(session__account=webhook.account, session__peer=str(user))
    return await in_db(turns.count), sent


async def _streams(
    api: BotApi, webhook: Webhook, *, seconds: float, without: int | None = None
) -> list[float]:
    """Let many chats ask again and again; return the platform's share of each answer, ms."""
    since: int = await api.tell("count", None)
    ends = time.monotonic() + seconds
    with report.bar("Chats that stream at once", CHATS) as count:

        async def chat(user: int) -> list[Post]:
            posts = []
            sent: int = await api.tell("wait", {"chat": user, "count": 0, "seconds": 0})
            while time.monotonic() < ends:
                update = webhook.update(user, f"Tell me everything. {STREAM_SHAPE}")
                posts.append(await webhook.bring(update, user=user))
                patience = ANSWER_S if user == without else FLOOD_S
                sent = await api.tell(
                    "wait", {"chat": user, "count": sent + 1, "seconds": patience}
                )
            count()
            return posts

        users = range(2_000, 2_000 + CHATS)
        every = await asyncio.gather(*(chat(user) for user in users))
    calls = await api.calls(since)
    posts = [post for posts in every for post in posts if post.user != without]
    answers = [shown(post, calls) for post in posts]
    return [answer.final if answer is not None else FLOOD_S * 1000 for answer in answers]


async def _pollers_memory(platform: Platform, api: BotApi, agent: Agent) -> int:
    """Return a poller's PSS, kB, while it asks for many bots that people write to."""
    report.say(f"{BOTS} bots that are asked for …")
    for number in range(1, BOTS + 1):
        await _add_bot(api, agent, number, Receives.POLLING)
    writers = [Writer(api, number, 3_000 + number) for number in range(1, BOTS + 1)]
    for message in range(MESSAGES_A_BOT):
        for writer in writers:
            await writer.say(f"Hello {message}. chunks=2 interval_ms=10")
        await asyncio.gather(*(writer.wait() for writer in writers))
    return max(processes.pss_kb(pid) for pid in platform.pids("poller"))


def _table(figures: report.Figures) -> Table:
    rows = [
        (f"{name}: {part}", figure) if isinstance(value, dict) else (name, value)
        for name, value in figures.items()
        for part, figure in (value.items() if isinstance(value, dict) else [("", value)])
    ]
    return report.table("Telegram", ["measure", "figure"], rows)
