"""A pressed button comes to rest, and a message shows that it arrived, however they reached us."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from agents.core.messages import JsonObject
from agents.db import in_db
from qanot_site.asgi import application
from sessions.channels.telegram import courtesies, registering, tokens
from sessions.channels.telegram.polling import Poller
from sessions.models import ChannelUpdate
from tests import factories
from tests.fakes.telegram import TOKEN, FakeTelegram

pytestmark = pytest.mark.django_db(transaction=True)

# Any: httpx names the same calls by other types.
ASGI: Any = application
PRESSED: JsonObject = {
    "id": "4382bfdwdsb323b2d9",
    "from": {"id": 7, "is_bot": False, "first_name": "Ann"},
    "chat_instance": "1",
    "data": "stop:1:forged",
    "message": {"message_id": 3, "date": 0, "chat": {"id": 7, "type": "private"}},
}


async def test_press_that_was_brought_is_acknowledged_in_the_answer() -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    assert await brought(bot.pk, {"update_id": 1, "callback_query": PRESSED}) == {
        "method": "answerCallbackQuery",
        "callback_query_id": PRESSED["id"],
    }


async def test_press_that_was_polled_is_acknowledged() -> None:
    with FakeTelegram() as telegram:
        await in_db(
            factories.telegram_account,
            sealed_token=tokens.seal_token(TOKEN),
            base_url=telegram.base_url,
            may_reach_private=True,
        )
        telegram.put({"update_id": 5, "callback_query": PRESSED})
        stop = asyncio.Event()
        poller = asyncio.create_task(Poller(look_every_s=0.05).run(stop))
        await asyncio.to_thread(
            telegram.wait_until, lambda: bool(telegram.called("answerCallbackQuery"))
        )
        stop.set()
        await poller
    (call,) = telegram.called("answerCallbackQuery")
    assert call.params["callback_query_id"] == PRESSED["id"]
    assert await in_db(ChannelUpdate.objects.count) == 1


def test_other_updates_ask_for_no_acknowledgement() -> None:
    others: list[JsonObject] = [{}, {"callback_query": 3}, {"callback_query": {"id": 3}}]
    for update in others:
        assert courtesies.of_press({"update_id": 1, **update}) is None


@pytest.mark.parametrize("receives", ["webhook", "polling"])
async def test_message_that_is_taken_in_gets_a_reaction_where_the_bot_shows_receipts(
    receives: str,
) -> None:
    with FakeTelegram() as telegram:
        bot = await in_db(
            factories.telegram_account,
            sealed_token=tokens.seal_token(TOKEN),
            base_url=telegram.base_url,
            may_reach_private=True,
            receives=receives,
            shows_receipts=True,
        )
        said = telegram.say("Hello")
        if receives == "webhook":
            asked = await brought(bot.pk, said)
        else:
            stop = asyncio.Event()
            poller = asyncio.create_task(Poller(look_every_s=0.05).run(stop))
            await asyncio.to_thread(
                telegram.wait_until, lambda: bool(telegram.called("setMessageReaction"))
            )
            stop.set()
            await poller
            asked = telegram.called("setMessageReaction")[0].params
    assert asked["reaction"] == [{"type": "emoji", "emoji": "👀"}]
    assert (asked["chat_id"], asked["message_id"]) == (7, said["message"]["message_id"])


@pytest.mark.parametrize(
    ("columns", "text", "chat"),
    [
        ({"shows_receipts": False}, "Hello", None),
        ({"access": "allowlist"}, "Hello", None),
        # To others.
        ({}, "Hello", {"id": -100_5, "type": "supergroup", "title": "Room"}),
        # A command's own words tell it.
        ({}, "/status", None),
    ],
)
async def test_nothing_else_gets_a_reaction(
    columns: dict[str, Any], text: str, chat: dict[str, Any] | None
) -> None:
    given = {"receives": "webhook", "shows_receipts": True} | columns
    bot = await in_db(factories.telegram_account, **given)
    assert await brought(bot.pk, FakeTelegram().say(text, chat=chat)) == {}


async def brought(account: int, update: JsonObject) -> JsonObject:
    """Bring an update as Telegram does; return what we ask for in the answer."""
    secret = {"X-Telegram-Bot-Api-Secret-Token": registering.secret_of(account)}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(ASGI), base_url="http://unknown.example"
    ) as client:
        answer = await client.post(
            f"/telegram/{account}/", content=json.dumps(update), headers=secret
        )
    assert answer.status_code == 200
    return answer.json() if answer.content else {}
