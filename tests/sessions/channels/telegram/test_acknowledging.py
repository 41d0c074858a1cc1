"""A pressed button comes to rest, however the press reached us."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from agents.core.messages import JsonObject
from agents.db import in_db
from qanot_site.asgi import application
from sessions.channels.telegram import pressing, registering, tokens
from sessions.channels.telegram.polling import Poller
from sessions.models import ChannelUpdate
from tests import factories
from tests.fakes.telegram import TOKEN, FakeTelegram

pytestmark = pytest.mark.django_db(transaction=True)

# Any: httpx names the same calls by other types.
ASGI: Any = application
PRESSED = {
    "id": "4382bfdwdsb323b2d9",
    "from": {"id": 7, "is_bot": False, "first_name": "Ann"},
    "chat_instance": "1",
    "data": "stop:1:forged",
    "message": {"message_id": 3, "date": 0, "chat": {"id": 7, "type": "private"}},
}


async def test_press_that_was_brought_is_acknowledged_in_the_answer() -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    secret = {"X-Telegram-Bot-Api-Secret-Token": registering.secret_of(bot.pk)}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(ASGI), base_url="http://unknown.example"
    ) as client:
        body = json.dumps({"update_id": 1, "callback_query": PRESSED})
        answer = await client.post(f"/telegram/{bot.pk}/", content=body, headers=secret)
    assert answer.json() == {
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
        assert pressing.pressed_id({"update_id": 1, **update}) is None
