"""Messages that are brought: who may bring them, how much, and that each is taken in once."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, cast

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.db import in_db
from qanot_site.asgi import application
from sessions.channels.telegram import receiving, registering, webhook
from sessions.channels.telegram.standing import Trouble
from sessions.models import ChannelAccount, InboundMessage, Turn
from tests import factories
from tests.fakes.telegram import FakeTelegram

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    # Any: httpx knows applications by looser types.
    site = cast(Any, application)
    transport = httpx.ASGITransport(site, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://unknown.example") as made:
        yield made


def said(text: str) -> dict[str, Any]:
    """Return an update; Any: JSON."""
    return FakeTelegram().say(text)


async def bring(
    client: httpx.AsyncClient,
    account: int,
    content: bytes | dict[str, Any],
    *,
    secret: str | None = None,
) -> int:
    """Post as Telegram does; return the status."""
    shown = registering.secret_of(account) if secret is None else secret
    answer = await client.post(
        f"/telegram/{account}/",
        content=content if isinstance(content, bytes) else json.dumps(content),
        headers={"X-Telegram-Bot-Api-Secret-Token": shown} if shown else {},
    )
    return answer.status_code


def stored() -> list[str]:
    return list(InboundMessage.objects.values_list("content__text", flat=True))


async def test_message_is_stored_before_it_is_confirmed(client: httpx.AsyncClient) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    assert await bring(client, bot.pk, said("Brought")) == HTTPStatus.OK
    assert await in_db(stored) == ["Brought"]
    await in_db(bot.refresh_from_db)
    assert bot.received_at is not None


async def test_hundred_deliveries_of_one_update_make_one_turn(client: httpx.AsyncClient) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    update = said("Again and again")
    statuses = await asyncio.gather(*(bring(client, bot.pk, update) for _ in range(100)))
    assert set(statuses) == {HTTPStatus.OK}
    assert await in_db(stored) == ["Again and again"]
    assert await in_db(Turn.objects.count) == 1


async def test_nobody_without_the_secret_brings_anything(client: httpx.AsyncClient) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    other = registering.secret_of(bot.pk + 1)
    for secret in ("", "wrong", other, other[:-1]):
        status = await bring(client, bot.pk, said("Forged"), secret=secret)
        assert status == HTTPStatus.FORBIDDEN
    assert await in_db(stored) == []


async def test_only_bots_whose_messages_are_brought_have_an_address(
    client: httpx.AsyncClient,
) -> None:
    polled = await in_db(factories.telegram_account)
    off = await in_db(
        factories.telegram_account, receives="webhook", switched_off_at=timezone.now()
    )
    web = await in_db(factories.channel_account)
    for account in (polled.pk, off.pk, web.pk, 999_999, 10**17):
        assert await bring(client, account, said("x")) == HTTPStatus.NOT_FOUND
    for path in ("/telegram/", "/telegram/x/", f"/telegram/{polled.pk}", "/telegram/1/2/"):
        assert (await client.post(path)).status_code == HTTPStatus.NOT_FOUND
    assert (await client.get(f"/telegram/{polled.pk}/")).status_code == (
        HTTPStatus.METHOD_NOT_ALLOWED
    )


async def test_what_is_too_long_or_no_update_is_refused(client: httpx.AsyncClient) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")

    async def unnamed_length() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * (webhook.MAX_BYTES // 2)

    too_long = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert await bring(client, bot.pk, b" " * (webhook.MAX_BYTES + 1)) == too_long
    streamed = await client.post(
        f"/telegram/{bot.pk}/",
        content=unnamed_length(),
        headers={"X-Telegram-Bot-Api-Secret-Token": registering.secret_of(bot.pk)},
    )
    assert streamed.status_code == too_long
    for body in (b"", b"{", b"[]", b'"x"', b'{"update_id": "1"}', b'{"update_id": true}', b"\xff"):
        assert await bring(client, bot.pk, body) == HTTPStatus.BAD_REQUEST


async def test_secret_of_an_older_key_is_good_while_keys_are_rotated(
    client: httpx.AsyncClient, settings: Settings
) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    older = registering.secret_of(bot.pk)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, as long as keys have to be, and never used elsewhere"
    assert registering.secret_of(bot.pk) != older
    assert await bring(client, bot.pk, said("Still good"), secret=older) == HTTPStatus.OK
    settings.SECRET_KEY_FALLBACKS = []
    assert await bring(client, bot.pk, said("No more"), secret=older) == HTTPStatus.FORBIDDEN


async def test_message_that_breaks_something_of_ours_is_told_of_and_brought_again(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")

    def broken(account: ChannelAccount, update: dict[str, Any]) -> bool:
        raise RuntimeError("a mistake of ours")

    update = said("Breaks") | {"update_id": secrets.randbelow(2**31)}
    with monkeypatch.context() as patched:
        patched.setattr(receiving, "take", broken)
        status = await bring(client, bot.pk, update)
    assert status == HTTPStatus.INTERNAL_SERVER_ERROR
    await in_db(bot.refresh_from_db)
    assert bot.last_error_code == Trouble.UPDATE_BROKEN
    assert await in_db(stored) == []
    assert await bring(client, bot.pk, update) == HTTPStatus.OK
    assert await in_db(stored) == ["Breaks"]


async def test_message_that_stays_broken_is_passed_over_after_some_tries(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await in_db(factories.telegram_account, receives="webhook")
    # Tries are counted for two days; the numbers of other runs must not count here.
    update = said("Breaks") | {"update_id": secrets.randbelow(2**31)}

    def broken(account: ChannelAccount, update: dict[str, Any]) -> bool:
        raise RuntimeError("a mistake of ours")

    with monkeypatch.context() as patched:
        patched.setattr(receiving, "take", broken)
        statuses = [await bring(client, bot.pk, update) for _ in range(receiving.TRIES)]
    error = HTTPStatus.INTERNAL_SERVER_ERROR
    assert statuses == [*[error] * (receiving.TRIES - 1), HTTPStatus.OK]
    await in_db(bot.refresh_from_db)
    assert bot.last_error_code == Trouble.UPDATE_BROKEN
    # Its number is known now, so that it is not brought in later by a poller either.
    assert await bring(client, bot.pk, update) == HTTPStatus.OK
    assert await in_db(stored) == []


async def test_all_other_addresses_are_the_sites(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"Host": "localhost"})
    assert answer.status_code == HTTPStatus.OK
