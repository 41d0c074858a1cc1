"""How provider accounts stand, shared by all workers through their rows."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from agents.core.errors import AuthenticationFailed, ProviderError, RateLimited
from agents.db import in_db
from agents.models import ProviderAccount
from agents.services.cool_downs import SharedCoolDowns, note_failure, note_success
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


def fail(account: ProviderAccount, error: ProviderError) -> None:
    note_failure(account.pk, error)
    account.refresh_from_db()


def test_each_failure_in_a_row_cools_longer_up_to_ten_minutes() -> None:
    account = factories.provider_account()
    edited_at = account.updated_at
    with time_machine.travel(timezone.now(), tick=False):
        lengths = []
        for _ in range(7):
            fail(account, RateLimited("slow down"))
            assert account.cool_until is not None
            lengths.append(account.cool_until - timezone.now())
    assert lengths == [timedelta(seconds=s) for s in (120, 240, 360, 480, 600, 600, 600)]
    assert (account.last_error_code, account.last_error) == ("rate_limit", "slow down")
    assert account.updated_at == edited_at


def test_success_clears_the_count() -> None:
    account = factories.provider_account()
    fail(account, RateLimited("slow down"))
    note_success(account.pk)
    account.refresh_from_db()
    assert (account.failures, account.cool_until) == (0, None)


def test_refused_account_is_off_until_somebody_clears_it() -> None:
    account = factories.provider_account()
    fail(account, AuthenticationFailed("bad key"))
    assert account.switched_off_at is not None
    assert account.last_error_code == "auth"


async def test_workers_see_each_others_failures() -> None:
    from_db = await _accounts()
    one, two = SharedCoolDowns(from_db), SharedCoolDowns(from_db)
    free, off = (account.pk for account in from_db)
    assert await one.standing([free, off]) == {free: 0, off: 0}
    await one.failed(off, AuthenticationFailed("bad key"))
    await one.failed(free, RateLimited("slow"))
    await two.standing([free, off])
    seen = await two.standing([free, off])
    assert seen[off] is None
    wait_s = seen[free]
    assert wait_s is not None
    assert 110 < wait_s <= 120


async def _accounts() -> list[ProviderAccount]:
    return [await in_db(factories.provider_account) for _ in range(2)]
