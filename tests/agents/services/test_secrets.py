"""What is sealed stays closed to everybody without the secret key."""

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from agents.services import secrets

TEXT = "sk-ant-one-of-a-kind ключ"


def test_what_is_sealed_comes_back() -> None:
    assert secrets.unseal(secrets.seal(TEXT)) == TEXT


def test_sealed_twice_it_looks_different_and_shows_nothing() -> None:
    one, two = secrets.seal(TEXT), secrets.seal(TEXT)

    assert one != two
    assert "one-of-a-kind" not in one


def test_another_secret_key_does_not_open_it(settings: Settings) -> None:
    sealed = secrets.seal(TEXT)
    settings.SECRET_KEY = "another"

    with pytest.raises(secrets.Unreadable):
        secrets.unseal(sealed)


@pytest.mark.parametrize("text", ["", "sk-in-clear", "gAAAAA", "ключ", "A" * 120])
def test_what_was_never_sealed_is_not_taken_for_a_secret(text: str) -> None:
    with pytest.raises(secrets.Unreadable):
        secrets.unseal(text)


def test_a_changed_character_is_noticed() -> None:
    sealed = secrets.seal(TEXT)
    middle = len(sealed) // 2
    other = "A" if sealed[middle] != "A" else "B"

    with pytest.raises(secrets.Unreadable):
        secrets.unseal(sealed[:middle] + other + sealed[middle + 1 :])


def test_an_older_secret_key_opens_until_it_is_sealed_anew(settings: Settings) -> None:
    sealed = secrets.seal(TEXT)
    settings.SECRET_KEY_FALLBACKS = ["older still", django_settings.SECRET_KEY]
    settings.SECRET_KEY = "the new one"

    assert secrets.unseal(sealed) == TEXT
    assert not secrets.is_current(sealed)
    again = secrets.reseal(sealed)

    settings.SECRET_KEY_FALLBACKS = []
    assert secrets.is_current(again)
    assert secrets.unseal(again) == TEXT
