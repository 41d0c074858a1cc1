"""How provider accounts stand, in rows that all workers share."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.functions import Least
from django.utils import timezone

from agents.core.errors import AccountRefused, ProviderError
from agents.db import in_db
from agents.models import ProviderAccount
from agents.services.chain import NO_ACCOUNT

_log = structlog.get_logger(__name__)

STEP_S: Final = 120
LONGEST_S: Final = 600


class SharedCoolDowns:
    """The ``CoolDowns`` of one turn.

    Args:
        accounts: As just loaded with the chain; the first look uses them, later ones look again.
    """

    def __init__(self, accounts: Sequence[ProviderAccount]) -> None:
        self._fresh = {account.pk: account for account in accounts}
        self._failing: set[int] = set()

    async def standing(self, account_ids: Sequence[int]) -> Mapping[int, float | None]:
        """Return seconds to wait for each account (0 = free), None where it is switched off."""
        wanted = [pk for pk in account_ids if pk != NO_ACCOUNT]
        accounts, self._fresh = self._fresh, {}
        if wanted and not accounts:
            accounts = await in_db(ProviderAccount.objects.in_bulk, wanted)
        self._failing = {pk for pk, account in accounts.items() if account.failures}
        now = timezone.now()
        waits: dict[int, float | None] = {
            pk: _wait_s(accounts[pk], now) for pk in wanted if pk in accounts
        }
        if NO_ACCOUNT in account_ids:
            waits[NO_ACCOUNT] = 0
        return waits

    async def failed(self, account_id: int, error: ProviderError) -> None:
        """Count a failure: cool down, or switch off where the account itself is refused."""
        if account_id != NO_ACCOUNT:
            self._failing.add(account_id)
            await in_db(note_failure, account_id, error)

    async def succeeded(self, account_id: int) -> None:
        """Clear the count, where there is one."""
        if account_id in self._failing:
            self._failing.discard(account_id)
            await in_db(note_success, account_id)


def note_failure(account_id: int, error: ProviderError) -> None:
    """Cool an account down for 120 s a failure in a row, 600 s at most, or switch it off.

    Written with ``update`` so that the account does not count as edited, and so that failures
    of several workers add up.
    """
    now = timezone.now()
    account = ProviderAccount.objects.filter(pk=account_id)
    noted = {
        "last_error_code": error.code,
        "last_error": error.detail[:500],
        "last_error_at": now,
    }
    if isinstance(error, AccountRefused):
        account.update(**noted, failures=F("failures") + 1, switched_off_at=now)
        _log.error("account.switched_off", account=account_id, code=error.code)
        return
    pause = Least((F("failures") + 1) * STEP_S, LONGEST_S) * timedelta(seconds=1)
    account.update(
        **noted,
        failures=F("failures") + 1,
        cool_until=ExpressionWrapper(Value(now) + pause, output_field=DateTimeField()),
    )
    _log.warning("account.cooling", account=account_id, code=error.code)


def note_success(account_id: int) -> None:
    """Clear an account's failures; what it last said stays to be read."""
    ProviderAccount.objects.filter(pk=account_id).update(failures=0, cool_until=None)


def _wait_s(account: ProviderAccount, now: datetime) -> float | None:
    if account.switched_off_at is not None:
        return None
    if account.cool_until is None:
        return 0
    return max((account.cool_until - now).total_seconds(), 0)
