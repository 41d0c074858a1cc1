"""What a person does to an account, and what a start does to one that is out of use."""

import pytest
from django.core.exceptions import ValidationError

from agents.core.errors import AddressNotAllowed, AuthenticationFailed, Overloaded
from agents.models import ProviderAccount
from agents.services import accounts, cool_downs, secrets
from tests import factories

pytestmark = pytest.mark.django_db


def _is_off(account: ProviderAccount) -> bool:
    account.refresh_from_db()
    return account.switched_off_at is not None


def test_a_refused_key_is_tried_again_at_the_next_start() -> None:
    account = factories.provider_account(key_reference="env:OPENAI_API_KEY")
    cool_downs.note_failure(account.pk, AuthenticationFailed("no such key"))
    assert _is_off(account)

    accounts.forgive_refused()

    assert not _is_off(account)


def test_an_address_that_may_be_allowed_by_now_is_tried_again_at_the_next_start() -> None:
    account = factories.provider_account(key_reference="", sealed_key="sealed")
    cool_downs.note_failure(account.pk, AddressNotAllowed("private"))
    account.refresh_from_db()
    assert (account.last_error_code, account.last_error) == ("address", "private")
    assert _is_off(account)

    accounts.forgive_refused()

    assert not _is_off(account)


def test_a_stored_key_that_was_refused_waits_for_a_person() -> None:
    account = factories.provider_account(key_reference="", sealed_key="sealed")
    cool_downs.note_failure(account.pk, AuthenticationFailed("no such key"))

    accounts.forgive_refused()

    assert _is_off(account)


def test_what_a_person_switched_off_stays_off_at_a_start() -> None:
    account = factories.provider_account(key_reference="env:OPENAI_API_KEY")
    cool_downs.note_failure(account.pk, Overloaded("busy"))
    account.refresh_from_db()
    accounts.switch_off(account, by=factories.user())

    accounts.forgive_refused()

    assert _is_off(account)


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", ""),
        (" https://example.org/v1 ", "https://example.org/v1"),
        ("example.org/v1", "https://example.org/v1"),
        ("example.org:8443/v1", "https://example.org:8443/v1"),
        ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("ollama:11434", "http://ollama:11434"),
        ("localhost", "http://localhost"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://[::ffff:127.0.0.1]", "http://[::ffff:127.0.0.1]"),
    ],
)
def test_addresses_are_brought_into_one_form(written: str, address: str) -> None:
    assert accounts.clean_address(written) == address


@pytest.mark.parametrize(
    "written",
    [
        "ftp://example.org",
        "file:///etc/passwd",
        "http://",
        "two words",
        "https://user:secret@example.org",
        "https://example.org/?key=1",
        "https://example.org/#x",
        "https://example.org\\@elsewhere.example",
        "https://example.org:port",
        "https://example.org/" + "x" * 300,
        "http://127.1:11434",
        "http://2130706433",
        "http://0x7f000001",
        "http://0177.0.0.1",
        "http://127.0.0.1.:11434",
    ],
)
def test_what_is_no_plain_address_is_refused(written: str) -> None:
    with pytest.raises(ValidationError):
        accounts.clean_address(written)


# --- keys and where they are sent --------------------------------------------------------------


def test_a_stored_key_is_never_saved_with_another_address() -> None:
    account = factories.provider_account(key_reference="", sealed_key=secrets.seal("sk-a"))
    account.base_url = "https://elsewhere.example"
    with pytest.raises(ValidationError):
        accounts.save_edited(account, new_key="", by_superuser=True, is_moved=True)
    account.refresh_from_db()
    assert account.base_url == ""


def test_what_was_tested_elsewhere_is_not_tested_here() -> None:
    account = factories.provider_account(tested_at=factories.NOON, key_reference="")
    account.base_url = "https://elsewhere.example"
    accounts.save_edited(account, new_key="", by_superuser=True, is_moved=True)
    account.refresh_from_db()
    assert account.tested_at is None
    assert account.may_reach_private


def test_what_a_person_switched_off_in_the_moment_of_an_error_stays_off() -> None:
    account = factories.provider_account(
        key_reference="env:OPENAI_API_KEY",
        switched_off_at=factories.NOON,
        last_error_at=factories.NOON,
        switched_off_by=factories.user(),
    )
    accounts.forgive_refused()
    assert _is_off(account)
