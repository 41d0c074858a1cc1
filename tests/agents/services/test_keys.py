"""Where keys come from, and how they are sealed anew."""

import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from agents.core.errors import AuthenticationFailed
from agents.core.messages import UserMessage
from agents.core.protocols import ModelCall
from agents.models import ChainLink, ProviderAccount
from agents.services import chain, keys, secrets
from tests import factories


def _account(reference: str = "", sealed_key: str = "") -> ProviderAccount:
    return ProviderAccount(name="A", key_reference=reference, sealed_key=sealed_key)


def test_a_sealed_key_is_opened() -> None:
    assert keys.key_of(_account(sealed_key=secrets.seal("sk-1"))) == "sk-1"


def test_an_account_without_a_key_has_none() -> None:
    assert keys.key_of(_account()) == ""


def test_a_sealed_key_goes_before_a_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-2")

    assert keys.key_of(_account("env:MODEL_KEY", secrets.seal("sk-1"))) == "sk-1"


def test_a_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", " sk-1\n")

    assert keys.key_of(_account("env:MODEL_KEY")) == "sk-1"


def test_a_variable_may_name_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-1\n# of the team\n")
    monkeypatch.setenv("MODEL_KEY_FILE", str(tmp_path / "key"))

    assert keys.key_of(_account("env:MODEL_KEY")) == "sk-1"


def test_a_file_gives_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("  sk-1  \r\nsk-2\n")

    assert keys.key_of(_account(f"file:{tmp_path}/key")) == "sk-1"


def test_what_cannot_be_had_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "long").write_text("x" * 5_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe")
    said = {
        "env:NOT_SET": "NOT_SET is not set",
        f"file:{tmp_path}/none": "No such file",
        f"file:{tmp_path}/empty": "no key in its first line",
        f"file:{tmp_path}/long": "no small text file",
        f"file:{tmp_path}/binary": "no small text file",
        f"file:{tmp_path}/pipe": "no small text file",
        f"file:{tmp_path}": "no small text file",
        "file:/dev/zero": "no small text file",
        "vault:secret": "neither env:NAME nor file:/path",
    }

    for reference, words in said.items():
        with pytest.raises(AuthenticationFailed, match=words):
            keys.key_of(_account(reference))


@pytest.mark.parametrize(
    "reference",
    ["env:DATABASE_URL", "env:REDIS_URL", "env:QANOT_SECRET_KEY", "env:QANOT_SECRET_KEY_FALLBACKS"],
)
def test_the_platforms_own_secrets_are_nobodys_key(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(reference.removeprefix("env:"), "secret")

    with pytest.raises(AuthenticationFailed, match="the platform's own"):
        keys.key_of(_account(reference))


def test_files_of_the_home_are_nobodys_key(settings: Settings, tmp_path: Path) -> None:
    settings.QANOT_HOME = tmp_path / "home"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret_key").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "home" / "secret_key")

    for path in ("home/secret_key", "link", "away/../home/secret_key"):
        path = str(tmp_path / path)
        with pytest.raises(AuthenticationFailed, match="the platform's own"):
            keys.key_of(_account(f"file:{path}"))


async def test_a_key_that_nobody_can_open_is_never_sent(settings: Settings) -> None:
    account = _account(sealed_key=secrets.seal("sk-1"))
    account.pk, account.kind = 1, ProviderAccount.Kind.OPENAI
    settings.SECRET_KEY = "another"
    (link,) = chain.open_chain([ChainLink(account=account, model="m")])
    call = ModelCall("m", (), (UserMessage("hi"),), (), max_output_tokens=10)

    with pytest.raises(AuthenticationFailed, match="enter it again") as caught:
        await link.provider.complete(call)

    assert account.sealed_key not in str(caught.value)
    await chain.close_providers()


@pytest.mark.django_db
def test_keys_are_sealed_anew_and_those_that_nobody_opens_are_named(settings: Settings) -> None:
    ours = django_settings.SECRET_KEY
    old = factories.provider_account(sealed_key=secrets.seal("sk-old"))
    settings.SECRET_KEY = "lost"
    lost = factories.provider_account(sealed_key=secrets.seal("sk-lost"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [ours]
    new = factories.provider_account(sealed_key=secrets.seal("sk-new"))
    factories.provider_account()
    edited_at, sealed = old.updated_at, new.sealed_key

    done = keys.reseal_all()

    assert (done.changed, done.kept, done.unreadable) == (1, 1, (f"{lost.team}: {lost}",))
    settings.SECRET_KEY_FALLBACKS = []
    for account in (old, new, lost):
        account.refresh_from_db()
    assert keys.key_of(old) == "sk-old"
    # An edit would close the connections of every worker.
    assert old.updated_at == edited_at
    assert new.sealed_key == sealed
    with pytest.raises(AuthenticationFailed):
        keys.key_of(lost)

    again = keys.reseal_all()
    assert (again.changed, again.kept) == (0, 2)
