"""What a start does to accounts that are out of use."""

import pytest

from agents.core.errors import AddressNotAllowed, AuthenticationFailed, Overloaded
from agents.models import ProviderAccount
from agents.services import accounts, cool_downs
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
