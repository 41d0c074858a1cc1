"""Bots that are measured, the people who write to them, and what the fake Bot API recorded."""

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from agents.models import Agent
from sessions.channels.telegram import registering, tokens
from sessions.models import ChannelAccount

NS_PER_MS: Final = 1_000_000
ANSWER_S: Final = 120.0
# What the fake provider says: when it was asked, and when it sent each piece (tests/fakes).
ASKED: Final = re.compile(r"r=(\d+) ")
SENT: Final = re.compile(r"t=(\d+)\b")

# A recorded request of the fake, read by its keys.
Call = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BotApi:
    """The fake Bot API in its own process, told what to do over HTTP."""

    client: aiohttp.ClientSession
    url: str

    async def tell(self, what: str, told: object) -> Any:  # Any: JSON of the answer
        """Tell it something; return what it says."""
        timeout = aiohttp.ClientTimeout(total=ANSWER_S + 10)
        async with self.client.post(
            f"{self.url}/control/{what}", json=told, timeout=timeout
        ) as answer:
            answer.raise_for_status()
            return await answer.json()

    async def calls(self, since: int = 0) -> list[Call]:
        """Return what was asked of it from a number on."""
        found: list[Call] = await self.tell("calls", since)
        return found


def make_bot(
    agent: Agent, number: int, url: str, *, receives: ChannelAccount.Receives
) -> ChannelAccount:
    """Make a bot whose people need not wait: the pause before an answer is a choice, no work."""
    token = token_of(number)
    return ChannelAccount.objects.create(
        team=agent.team,
        agent=agent,
        channel=ChannelAccount.Channel.TELEGRAM,
        name=f"Bot {number}",
        sealed_token=tokens.seal_token(token),
        bot_id=tokens.bot_id_of(token),
        username=f"bench{number}_bot",
        base_url=url,
        may_reach_private=True,
        access=ChannelAccount.Access.OPEN,
        receives=receives,
        pause_s=0,
        messages_per_minute=30_000,
    )


def token_of(number: int) -> str:
    """Return the token of the fake's bot of a number."""
    return f"{900_000 + number}:bench-token-of-nobody"


@dataclass(slots=True)
class Writer:
    """Somebody in a private chat with a bot.

    Args:
        sent: Messages that they got from the bot, as far as they waited for them.
    """

    api: BotApi
    bot: int
    user: int
    sent: int = 0

    async def say(self, text: str) -> None:
        """Write to the bot; Telegram keeps it until somebody asks."""
        await self.api.tell("say", {"text": text, "user": self.user, "token": token_of(self.bot)})

    async def wait(self, seconds: float = ANSWER_S) -> bool:
        """Wait for one more message of the bot; False where none comes in time."""
        told = {"chat": self.user, "count": self.sent + 1, "seconds": seconds}
        count: int = await self.api.tell("wait", told)
        has_come = count > self.sent
        self.sent = count
        return has_come


@dataclass(slots=True)
class Post:
    """One update that was brought to the webhook; times are CLOCK_MONOTONIC nanoseconds."""

    user: int
    sent_ns: int
    status: int
    took_ms: float


@dataclass(slots=True)
class Webhook:
    """Brings updates to the platform as Telegram does."""

    client: aiohttp.ClientSession
    address: str
    account: int
    _number: int = field(default=0)

    def update(self, user: int, text: str) -> dict[str, object]:
        """Return a message of somebody as an update."""
        self._number += 1
        who = {"id": user, "is_bot": False, "first_name": f"Person {user}", "language_code": "en"}
        message = {
            "message_id": self._number,
            "date": int(time.time()),
            "chat": {"id": user, "type": "private", "first_name": f"Person {user}"},
            "from": who,
            "text": text,
        }
        return {"update_id": self._number, "message": message}

    async def bring(self, update: dict[str, object], *, user: int) -> Post:
        """Post an update; over a connection that the server just closed, once more."""
        sent_ns = time.monotonic_ns()
        try:
            status = await self._post(update)
        except aiohttp.ServerDisconnectedError:
            status = await self._post(update)
        took_ms = (time.monotonic_ns() - sent_ns) / NS_PER_MS
        return Post(user, sent_ns, status, took_ms)

    async def _post(self, update: dict[str, object]) -> int:
        head = {"X-Telegram-Bot-Api-Secret-Token": registering.secret_of(self.account)}
        async with self.client.post(
            f"http://{self.address}/telegram/{self.account}/", json=update, headers=head
        ) as answer:
            await answer.read()
            return answer.status


@dataclass(frozen=True, slots=True)
class Shown:
    """How one answer came to a chat, in the platform's own time, milliseconds.

    Args:
        draft: From the message to the first draft with words in it; None without drafts.
        final: From the message to the whole answer.
    """

    draft: float | None
    final: float


def shown(post: Post, calls: list[Call]) -> Shown | None:
    """Return how the answer to a message came; None where it did not come."""
    own = [
        call
        for call in calls
        if call["params"].get("chat_id") == post.user and call["at_ns"] >= post.sent_ns
    ]
    finals = [call for call in own if call["status"] == 200 and call["result"] and _asked(call)]
    if not finals:
        return None
    final = finals[0]
    drafts = [call for call in own if "draft_id" in call["params"] and _asked(call)]
    asked, pieces = _asked(final), _pieces(final)
    first = None
    if drafts:
        # From the question's arrival to its first piece: the provider's time, not ours.
        provider_ns = pieces[0] - asked
        first = (drafts[0]["at_ns"] - post.sent_ns - provider_ns) / NS_PER_MS
    whole = (final["at_ns"] - post.sent_ns - (pieces[-1] - asked)) / NS_PER_MS
    return Shown(first, whole)


def _asked(call: Call) -> int:
    found = ASKED.search(json.dumps(call["params"]))
    return int(found[1]) if found else 0


def _pieces(call: Call) -> list[int]:
    return [int(stamp) for stamp in SENT.findall(json.dumps(call["params"]))]
