"""Changing the secret key, step by step, without losing what it sealed."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from agents.models import ProviderAccount
from agents.services import keys, secrets
from qanot_site.home import Home, Servers
from sessions.channels.telegram import tokens
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Home:
    """Give this deployment a home with a key of its own."""
    made = Home(tmp_path / "home")
    made.create()
    settings.QANOT_HOME = made.folder
    _restart(settings, made)
    return made


def _restart(settings: Settings, home: Home) -> None:
    """Read the settings anew, as every process does when it starts."""
    settings.SECRET_KEY = home.secret_key()
    settings.SECRET_KEY_FALLBACKS = home.old_secret_keys()


def _account() -> ProviderAccount:
    return factories.provider_account(sealed_key=secrets.seal("sk-1"), key_reference="")


def _key(account: ProviderAccount) -> str:
    account.refresh_from_db()
    return keys.key_of(account)


def test_the_homes_key_is_changed_in_two_steps_and_a_restart(
    home: Home, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    account, first = _account(), home.secret_key()
    bot = factories.telegram_account(sealed_token=tokens.seal_token("1:token-of-a-bot"))

    call_command("rotate_keys", "--new")
    # What runs goes on with the key that it knows.
    assert _key(account) == "sk-1"
    assert "Restart Qanot" in capsys.readouterr().out

    _restart(settings, home)
    assert _key(account) == "sk-1"
    call_command("rotate_keys", "--forget")
    assert "Keys sealed anew: 2" in capsys.readouterr().out

    _restart(settings, home)
    assert first not in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    assert _key(account) == "sk-1"
    bot.refresh_from_db()
    assert tokens.token_of(bot) == "1:token-of-a-bot"


def test_a_key_from_the_environment_is_followed(
    home: Home, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    account = _account()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "given", [settings.SECRET_KEY]

    call_command("rotate_keys")

    settings.SECRET_KEY_FALLBACKS = []
    assert _key(account) == "sk-1"
    assert "sk-1" not in capsys.readouterr().out


@pytest.mark.parametrize("step", ["--new", "--forget"])
def test_the_homes_key_is_left_alone_where_another_is_used(
    home: Home, settings: Settings, step: str
) -> None:
    before = (home.folder / "secret_key").read_text()
    settings.SECRET_KEY = "given"

    with pytest.raises(CommandError, match="QANOT_SECRET_KEY"):
        call_command("rotate_keys", step)

    assert (home.folder / "secret_key").read_text() == before


def test_an_unreadable_key_is_named_and_no_old_key_forgotten(
    home: Home, settings: Settings
) -> None:
    readable = _account()
    lost = factories.provider_account(sealed_key="gAAAAAlost", name="Lost")
    call_command("rotate_keys", "--new")
    _restart(settings, home)

    with pytest.raises(CommandError, match="Lost"):
        call_command("rotate_keys", "--forget")

    assert home.old_secret_keys()
    lost.refresh_from_db()
    assert lost.sealed_key == "gAAAAAlost"
    # The others are done: they are not held up.
    settings.SECRET_KEY_FALLBACKS = []
    assert _key(readable) == "sk-1"


def test_nothing_is_sealed_with_a_key_that_what_runs_does_not_know(
    home: Home, settings: Settings
) -> None:
    account = _account()
    sealed = account.sealed_key
    with home.locked():
        home.publish(Servers("", "", ""))
        call_command("rotate_keys", "--new")
        later_ns = (home.run / "servers.json").stat().st_mtime_ns + 1_000
        os.utime(home.folder / "secret_key", ns=(later_ns, later_ns))
        _restart(settings, home)

        with pytest.raises(CommandError, match="Restart Qanot first"):
            call_command("rotate_keys", "--forget")

    account.refresh_from_db()
    assert account.sealed_key == sealed
