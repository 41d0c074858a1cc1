"""Bots over the real aiogram: what they ask, what goes wrong, and that no error shows a token."""

import asyncio
import traceback
from collections.abc import AsyncIterator, Iterator

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import BufferedInputFile, MessageEntity

from agents.services import keys
from sessions.channels.telegram import client, setup, tokens, wire
from sessions.channels.telegram.servers import Server, server_of
from sessions.models import ChannelAccount
from tests.fakes.telegram import TOKEN, FakeTelegram, Fault, too_many
from tests.fakes.telegram_rules import Refused


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def bot(telegram: FakeTelegram) -> AsyncIterator[Bot]:
    yield client.opened(TOKEN, Server(telegram.base_url, may_reach_private=True))
    await client.close_bots()


async def test_looking_a_token_up_cuts_nobody_elses_request_off(
    telegram: FakeTelegram, bot: Bot
) -> None:
    telegram.fail(Fault(method="sendMessage", kind="silence", seconds=0.3))
    sent = asyncio.create_task(bot.send_message(7, "Hello"))
    draft = setup.Draft(token=TOKEN, base_url=telegram.base_url, may_reach_private=True)
    looks = [setup.look(draft), setup.look(draft)]
    assert {found.bot_id for found in await asyncio.gather(*looks)} == {111111}
    assert (await sent).text == "Hello"


def account(**given: object) -> ChannelAccount:
    return ChannelAccount(channel="telegram", **given)


async def test_bot_asks_its_own_server_and_its_answers_are_read(
    telegram: FakeTelegram,
) -> None:
    row = account(
        sealed_token=tokens.seal_token(f" {TOKEN}\n"),
        base_url=f"{telegram.base_url}/",
        may_reach_private=True,
    )
    bot = client.bot_of(row)
    me = await bot.get_me()
    sent = await bot.send_message(
        7, "Hi 👋", entities=[MessageEntity(type="bold", offset=3, length=2)]
    )
    await client.close_bots()
    assert me.username == "fake111111_bot"
    assert [call.method for call in telegram.calls] == ["getMe", "sendMessage"]
    assert telegram.api.messages[7, sent.message_id].text == "Hi 👋"


async def test_files_go_and_come(telegram: FakeTelegram, bot: Bot) -> None:
    await bot.send_document(7, BufferedInputFile(b"1;2", "table.csv"), caption="A table")
    file_id = telegram.api.keep_file(b"picture", "p.jpg")
    found = await bot.get_file(file_id)
    loaded = await bot.download_file(found.file_path or "")
    assert telegram.called("sendDocument")[0].files
    assert loaded is not None
    assert loaded.read() == b"picture"


async def test_private_address_is_asked_only_where_it_may_be(telegram: FakeTelegram) -> None:
    bot = client.opened(TOKEN, Server(telegram.base_url))
    with pytest.raises(wire.NotReached):
        await bot.get_me()
    await client.close_bots()
    assert not telegram.calls


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (too_many(3), TelegramRetryAfter),
        (Fault(status=502, description="Bad Gateway"), TelegramServerError),
        (
            Fault(status=403, description="Forbidden: bot was blocked by the user"),
            TelegramForbiddenError,
        ),
        (Fault(status=409, description="Conflict"), TelegramConflictError),
        (Fault(status=401, description="Unauthorized"), TelegramUnauthorizedError),
        (Fault(kind="hang_up"), wire.Unanswered),
        (Fault(kind="lose"), wire.Unanswered),
    ],
)
async def test_faults_are_told_apart_and_none_shows_the_token(
    telegram: FakeTelegram, bot: Bot, fault: Fault, expected: type[Exception]
) -> None:
    telegram.fail(fault)
    with pytest.raises(expected) as raised:
        await bot.send_message(7, "Hello")
    telegram.assert_done()
    _assert_hidden(raised.value)
    # Only the lost answer is one of something done.
    assert bool(telegram.texts(7)) == (fault.kind == "lose")


async def test_server_that_is_away_is_told_apart_from_one_that_is_silent(
    telegram: FakeTelegram, bot: Bot
) -> None:
    telegram.fail(Fault(kind="silence", seconds=5))
    with pytest.raises(wire.Unanswered) as silent:
        await asyncio.wait_for(bot.get_me(request_timeout=1), 5)
    away = client.opened(TOKEN, Server("http://127.0.0.1:9", may_reach_private=True))
    with pytest.raises(wire.NotReached) as absent:
        await away.get_me()
    _assert_hidden(silent.value)
    _assert_hidden(absent.value)


async def test_what_the_real_one_refuses_is_refused(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.api.topics[-1001] = {5}
    sent = await bot.send_message(7, "once")
    for refused in (
        bot.send_message(7, "x" * 4_097),
        bot.send_message(7, "🙂" * 2_049),
        bot.send_message(7, "ab", entities=[MessageEntity(type="bold", offset=1, length=2)]),
        bot.send_message(-1001, "x", message_thread_id=1),
        bot.send_message_draft(-1001, 1, text="x"),
        bot.send_message_draft(7, 0, text="x"),
        bot.edit_message_text("once", chat_id=7, message_id=sent.message_id),
    ):
        with pytest.raises(TelegramBadRequest):
            await refused
    telegram.api.closed[8] = Refused(403, "Forbidden: bot was blocked by the user")
    with pytest.raises(TelegramAPIError):
        await bot.send_message(8, "x")


def test_token_is_sealed_and_what_is_none_is_refused_without_being_shown() -> None:
    row = account(sealed_token=tokens.seal_token(TOKEN))
    assert TOKEN not in row.sealed_token
    assert tokens.token_of(row) == TOKEN
    assert tokens.bot_id_of(TOKEN) == 111111
    for text in ("sk-secret", "1:ab/../../x", ""):
        with pytest.raises(tokens.NotAToken) as raised:
            tokens.seal_token(text)
        assert not text or text not in str(raised.value)


def test_token_may_stand_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALES_BOT", TOKEN)
    assert tokens.token_of(account(token_reference="env:SALES_BOT")) == TOKEN
    with pytest.raises(keys.KeyMissing):
        tokens.token_of(account(token_reference="env:QANOT_SECRET_KEY"))
    with pytest.raises(keys.KeyMissing):
        tokens.token_of(account())


def test_without_an_address_telegram_is_asked() -> None:
    assert server_of(account()).base_url == "https://api.telegram.org"


def _assert_hidden(error: BaseException) -> None:
    """Neither the error nor what it came of shows the token."""
    links = [error]
    while (earlier := links[-1].__cause__ or links[-1].__context__) is not None:
        links.append(earlier)
    shown = "".join(traceback.format_exception(error)) + "".join(map(repr, links))
    assert TOKEN not in shown
