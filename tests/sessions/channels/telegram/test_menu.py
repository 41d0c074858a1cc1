"""The menu of commands: one person's chat in their language, and a bot that a file named."""

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.utils import translation
from django.utils.translation import gettext

from sessions.channels.telegram import menu, setup, tokens
from sessions.channels.telegram.servers import own_sessions
from sessions.models import ChannelAccount
from sessions.tasks import set_menu
from tests import factories
from tests.fakes.telegram import TOKEN, FakeTelegram, Fault

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


@pytest.fixture
def bot(telegram: FakeTelegram) -> ChannelAccount:
    return factories.telegram_account(
        sealed_token=tokens.seal_token(TOKEN),
        base_url=telegram.base_url,
        may_reach_private=True,
        bot_id=None,
        username="",
    )


def test_menu_of_a_persons_chat_is_in_the_language_they_chose(
    telegram: FakeTelegram, bot: ChannelAccount
) -> None:
    person = factories.person(team=bot.team, language="ru")
    contact = factories.channel_contact(account=bot, external_id="77", person=person)
    set_menu(contact.pk)
    ((key, listed),) = telegram.bot().commands.items()
    assert key == "chat:77:"
    with translation.override("ru"):
        words = gettext("Choose the language")
    assert words in [command["description"] for command in listed]


def test_menu_that_cannot_be_set_breaks_nothing(
    telegram: FakeTelegram, bot: ChannelAccount
) -> None:
    telegram.fail(Fault("setMyCommands", kind="refuse", status=403))
    set_menu(factories.channel_contact(account=bot, external_id="77").pk)
    set_menu(10**9)
    assert len(telegram.called("setMyCommands")) == 1
    assert not telegram.bot().commands


def test_bot_of_a_file_learns_who_it_is(telegram: FakeTelegram, bot: ChannelAccount) -> None:
    async def introduce() -> None:
        async with own_sessions():
            await setup.introduce(bot)

    async_to_sync(introduce)()
    bot.refresh_from_db()
    assert (bot.bot_id, bot.username) == (111111, "fake111111_bot")
    assert bot.reads_all_group_messages is False
    assert len(telegram.bot().commands) == 10


def test_menus_are_set_once_a_release_and_again_after_a_failure(
    telegram: FakeTelegram, bot: ChannelAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep() -> int:
        """Keep the menus current; return how often one was set."""

        async def kept() -> None:
            async with own_sessions():
                await menu.keep_current(bot)

        before = len(telegram.called("setMyCommands"))
        async_to_sync(kept)()
        return len(telegram.called("setMyCommands")) - before

    telegram.fail(Fault("setMyCommands", times=None, status=500))
    keep()
    assert not telegram.bot().commands
    telegram.clear()
    assert (keep(), keep()) == (10, 0)
    assert len(telegram.bot().commands) == 10
    monkeypatch.setattr(menu, "fingerprint", lambda: "of the next release")
    assert keep() == 10


def test_every_description_fits_the_menu() -> None:
    for where in menu.SCOPES:
        for language in ("en", "uz", "ru", "tr", "pl"):
            for command in menu.listed(where, language):
                assert isinstance(command, dict)
                assert 1 <= len(str(command["description"])) <= 256
