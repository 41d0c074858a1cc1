"""Pollers: what they take in, whose turn it is, and what they do when something is wrong."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from agents.core.errors import LeaseLost
from agents.db import in_db
from sessions.channels.telegram import polling as polling_of_bots
from sessions.channels.telegram import receiving, registering, tending, tokens
from sessions.channels.telegram.polling import Poller
from sessions.channels.telegram.standing import Trouble
from sessions.models import ChannelAccount, ChannelUpdate, InboundMessage
from tests import factories
from tests.fakes.telegram import TOKEN, FakeTelegram, Fault

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = "222222:AAfake-token_of-the-second-bot"
WAIT_S = 20.0


@pytest.fixture(autouse=True)
def _quick(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.QANOT_LEASE_S = 1.0
    settings.QANOT_HEARTBEAT_S = 0.2
    monkeypatch.setattr("sessions.channels.telegram.polling.FIRST_PAUSE_S", 0.05)


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


def bot_at(telegram: FakeTelegram, token: str = TOKEN, **given: Any) -> ChannelAccount:
    """Make the row of a bot that the fake knows; Any: columns."""
    return factories.telegram_account(
        sealed_token=tokens.seal_token(token),
        base_url=telegram.base_url,
        may_reach_private=True,
        **given,
    )


@asynccontextmanager
async def polling() -> AsyncIterator[Poller]:
    """Run a poller."""
    stop, poller = asyncio.Event(), Poller(look_every_s=0.05)
    task = asyncio.create_task(poller.run(stop))
    try:
        yield poller
    finally:
        stop.set()
        await task


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a state of the database or the fake, which tell nobody when they change."""
    async with asyncio.timeout(WAIT_S):
        while not await is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def texts() -> list[str]:
    """Return what was taken in, in its order."""
    found = InboundMessage.objects.order_by("pk").values_list("content__text", flat=True)
    return await in_db(lambda: list(found.all()))


async def row(bot: ChannelAccount) -> ChannelAccount:
    """Return a bot's row as it is now."""
    return await in_db(ChannelAccount.objects.get, pk=bot.pk)


def change(bot: ChannelAccount, **columns: Any) -> Awaitable[int]:
    """Change a bot's row as its page would; Any: columns."""
    return in_db(ChannelAccount.objects.filter(pk=bot.pk).update, **columns)


async def test_messages_are_taken_in_once_and_confirmed_after_they_are_stored(
    telegram: FakeTelegram,
) -> None:
    bot = await in_db(bot_at, telegram)
    telegram.say("Written while nobody polled")
    telegram.put(telegram.say("Twice"), times=2)
    async with polling():
        telegram.say("And now")

        async def is_confirmed() -> bool:
            return not telegram.bot().waiting and len(await texts()) == 3

        await until(is_confirmed)
    stored = await row(bot)
    assert await texts() == ["Written while nobody polled", "Twice", "And now"]
    assert await in_db(ChannelUpdate.objects.count) == 3
    assert stored.update_offset == telegram.bot().next_update
    assert stored.received_at is not None
    assert stored.lease_token is None


async def test_updates_are_heard_where_their_numbers_begin_anew(telegram: FakeTelegram) -> None:
    bot = await in_db(bot_at, telegram, update_offset=727_334_708)
    for n in range(3):
        telegram.say(f"message {n}")
    async with polling():

        async def is_confirmed() -> bool:
            return not telegram.bot().waiting and len(await texts()) == 3

        await until(is_confirmed)
        telegram.say("And on")

        async def is_heard() -> bool:
            return not telegram.bot().waiting and len(await texts()) == 4

        await until(is_heard)
    assert (await row(bot)).update_offset == telegram.bot().next_update


async def test_bots_come_and_go_while_a_poller_runs(telegram: FakeTelegram) -> None:
    telegram.add_bot(SECOND)
    async with polling() as poller:
        first = await in_db(bot_at, telegram)
        second = await in_db(bot_at, telegram, SECOND)

        async def both() -> bool:
            return poller.tended == {first.pk, second.pk}

        await until(both)
        telegram.say("To the second", token=SECOND)
        await change(first, switched_off_at=timezone.now())

        async def only_second() -> bool:
            return poller.tended == {second.pk} and await texts() == ["To the second"]

        await until(only_second)
        telegram.say("Waits")
        await change(first, switched_off_at=None)

        async def heard() -> bool:
            return await texts() == ["To the second", "Waits"]

        await until(heard)


async def test_bot_of_an_archived_agent_or_without_a_token_is_left_alone(
    telegram: FakeTelegram,
) -> None:
    archived = await in_db(factories.agent, archived_at=timezone.now())
    await in_db(bot_at, telegram, agent=archived)
    await in_db(factories.telegram_account)
    assert await in_db(tending.hold, uuid.uuid4()) == []


async def test_second_poller_waits_until_the_first_is_gone(telegram: FakeTelegram) -> None:
    bot = await in_db(bot_at, telegram)
    async with polling() as first:

        async def is_first() -> bool:
            return first.tended == {bot.pk}

        await until(is_first)
        async with polling() as second:
            telegram.say("One")

            async def is_taken() -> bool:
                return await texts() == ["One"]

            await until(is_taken)
            assert not second.tended
    async with polling() as third:
        telegram.say("Two")

        async def is_third() -> bool:
            return third.tended == {bot.pk} and await texts() == ["One", "Two"]

        await until(is_third)


async def test_bot_of_a_poller_that_hangs_is_free_when_its_lease_runs_out(
    telegram: FakeTelegram,
) -> None:
    now, token = timezone.now(), uuid.uuid4()
    life = tending.life_of(token)
    await life.hold()
    bot = await in_db(
        bot_at, telegram, lease_token=token, leased_until=now + timedelta(seconds=0.5)
    )
    try:
        async with polling() as poller:

            async def is_taken() -> bool:
                return poller.tended == {bot.pk}

            await until(is_taken)
    finally:
        await life.release()
    assert timezone.now() - now >= timedelta(seconds=0.5)


async def test_bot_of_a_poller_that_was_killed_is_free_at_once(telegram: FakeTelegram) -> None:
    an_hour_on = timezone.now() + timedelta(hours=1)
    bot = await in_db(bot_at, telegram, lease_token=uuid.uuid4(), leased_until=an_hour_on)
    async with polling() as poller:

        async def is_taken() -> bool:
            return poller.tended == {bot.pk}

        await until(is_taken)


def test_poller_that_slept_past_its_lease_stores_nothing(telegram: FakeTelegram) -> None:
    bot = bot_at(telegram, lease_token=uuid.uuid4())
    update = telegram.say("Late")
    with pytest.raises(LeaseLost):
        tending.take(bot, update, token=uuid.uuid4())
    bot.refresh_from_db()
    assert bot.update_offset == 0
    assert not ChannelUpdate.objects.exists()


async def test_foreign_webhook_is_taken_away_and_what_waited_is_taken_in(
    telegram: FakeTelegram,
) -> None:
    telegram.bot().webhook = "https://elsewhere.example/hook"
    telegram.say("Meant for the other")
    bot = await in_db(bot_at, telegram)
    async with polling():

        async def is_heard() -> bool:
            return await texts() == ["Meant for the other"]

        await until(is_heard)
    assert not telegram.bot().webhook
    assert (await row(bot)).last_error_code == ""


async def test_other_program_that_polls_is_told_of_on_the_row_and_forgotten_later(
    telegram: FakeTelegram,
) -> None:
    conflict = "Conflict: terminated by other getUpdates request"
    telegram.fail(Fault("getUpdates", times=2, status=409, description=conflict))
    bot = await in_db(bot_at, telegram)
    async with polling():
        await until(lambda: _has(bot, Trouble.OTHER_POLLER))
        await until(lambda: _has(bot, ""))


async def test_revoked_token_is_shown_and_not_tried_again_until_another_is_entered(
    telegram: FakeTelegram,
) -> None:
    telegram.bot().is_revoked = True
    bot = await in_db(bot_at, telegram)
    async with polling() as poller:
        await until(lambda: _has(bot, Trouble.TOKEN_REVOKED))
        asked = len(telegram.calls)
        # The lease is kept, so that no other poller tries it again either.
        await until(lambda: _is_renewed(bot, poller))
        assert len(telegram.calls) == asked
        fresh = "111111:AAfake-the-new-token"
        telegram.add_bot(fresh)
        telegram.say("Hello again", token=fresh)
        await change(bot, sealed_token=tokens.seal_token(fresh))

        async def is_heard() -> bool:
            return await texts() == ["Hello again"]

        await until(is_heard)
        await until(lambda: _has(bot, ""))


async def test_token_that_is_refused_in_passing_is_tried_again(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert polling_of_bots.TOKEN_AGAIN_S <= 300
    monkeypatch.setattr(polling_of_bots, "TOKEN_AGAIN_S", 0.1)
    telegram.fail(Fault("getUpdates", status=401, description="Unauthorized"))
    telegram.say("Not lost")
    bot = await in_db(bot_at, telegram)
    async with polling():

        async def is_heard() -> bool:
            return await texts() == ["Not lost"]

        await until(is_heard)
        await until(lambda: _has(bot, ""))


async def test_bot_is_given_this_releases_menus(telegram: FakeTelegram) -> None:
    telegram.say("Hello")
    await in_db(bot_at, telegram)
    async with polling():

        async def are_set() -> bool:
            return len(telegram.bot().commands) == 10

        await until(are_set)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("getUpdates", times=3, status=502, description="Bad Gateway"),
        Fault("getUpdates", times=3, kind="hang_up"),
    ],
    ids=["5xx", "network"],
)
async def test_telegram_that_is_away_is_asked_again(telegram: FakeTelegram, fault: Fault) -> None:
    telegram.fail(fault)
    telegram.say("Not lost")
    bot = await in_db(bot_at, telegram)
    async with polling():
        await until(lambda: _has(bot, Trouble.UNREACHABLE))

        async def is_heard() -> bool:
            return await texts() == ["Not lost"]

        await until(is_heard)
        await until(lambda: _has(bot, ""))
    # Neither the row nor anything that it keeps shows where it was asked.
    assert TOKEN not in (await row(bot)).last_error


async def test_token_that_is_gone_and_address_that_is_none_are_told_of(
    telegram: FakeTelegram,
) -> None:
    missing = await in_db(factories.telegram_account, token_reference="env:NOBODY_SET_THIS")
    bad = await in_db(bot_at, telegram)
    await change(bad, base_url="ftp://nowhere")
    async with polling():
        await until(lambda: _has(missing, Trouble.TOKEN_MISSING))
        await until(lambda: _has(bad, Trouble.BAD_ADDRESS))


async def test_update_that_cannot_be_taken_in_does_not_hold_up_the_others(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = telegram.say("Breaks something of ours")["update_id"]
    telegram.say("Fine")
    take = receiving.take

    def sometimes(account: ChannelAccount, update: dict[str, Any]) -> bool:
        if update["update_id"] == broken:
            raise RuntimeError("a mistake of ours")
        return take(account, update)

    monkeypatch.setattr(receiving, "take", sometimes)
    bot = await in_db(bot_at, telegram)
    async with polling():

        async def is_heard() -> bool:
            return await texts() == ["Fine"]

        await until(is_heard)
    assert (await row(bot)).last_error_code == Trouble.UPDATE_BROKEN


async def test_webhook_is_set_by_a_poller_with_a_secret_and_taken_away_by_polling(
    telegram: FakeTelegram, settings: Settings
) -> None:
    settings.QANOT_PUBLIC_URL = "https://bots.example.org"
    bot = await in_db(bot_at, telegram, receives="webhook")
    async with polling():

        async def is_set() -> bool:
            return bool(telegram.bot().webhook)

        await until(is_set)
        assert telegram.bot().webhook == f"https://bots.example.org/telegram/{bot.pk}/"
        assert registering.is_secret_of(bot.pk, telegram.bot().secret)
        await change(bot, receives="polling")

        async def is_gone() -> bool:
            return not telegram.bot().webhook

        await until(is_gone)


async def test_webhook_without_an_address_and_one_that_fails_are_told_of(
    telegram: FakeTelegram, settings: Settings
) -> None:
    settings.QANOT_PUBLIC_URL = ""
    bot = await in_db(bot_at, telegram, receives="webhook")
    async with polling():
        await until(lambda: _has(bot, Trouble.NO_PUBLIC_ADDRESS))
    settings.QANOT_PUBLIC_URL = "https://bots.example.org"
    telegram.bot().last_error = "Connection timed out"
    telegram.put({"message": {"message_id": 1, "chat": {"id": 7}}})
    async with polling():
        await until(lambda: _has(bot, Trouble.WEBHOOK_FAILING))
    assert (await row(bot)).last_error == "Connection timed out"


async def _has(bot: ChannelAccount, trouble: str) -> bool:
    return (await row(bot)).last_error_code == trouble


async def _is_renewed(bot: ChannelAccount, poller: Poller) -> bool:
    now = await row(bot)
    before = now.leased_until
    await asyncio.sleep(0.3)
    later = await row(bot)
    assert later.lease_token == poller.token
    return before is not None and later.leased_until is not None and later.leased_until > before
