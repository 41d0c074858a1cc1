"""What a person does to a provider account: forgive it, or take it out of use."""

from django.db.models import F
from django.utils import timezone

from agents.models import ProviderAccount


def clear(account: ProviderAccount) -> None:
    """Put an account back into use: no cool-down, no failures, not switched off."""
    account.failures = 0
    account.cool_until = None
    account.switched_off_at = None
    account.last_error_code = ""
    account.last_error = ""
    account.last_error_at = None
    account.save(
        update_fields=[
            "failures",
            "cool_until",
            "switched_off_at",
            "last_error_code",
            "last_error",
            "last_error_at",
            "updated_at",
        ]
    )


def switch_off(account: ProviderAccount) -> None:
    """Take an account out of every chain until it is cleared."""
    if account.switched_off_at is not None:
        return
    account.switched_off_at = timezone.now()
    account.save(update_fields=["switched_off_at", "updated_at"])


def forgive_refused() -> None:
    """Put accounts back into use whose key or credit a provider refused.

    For the start of the platform, with which variables get their new values: a key that is still
    wrong costs one more refused call. What a person switched off stays off; the platform
    switches off in the moment of the error.
    """
    refused = ProviderAccount.objects.filter(
        key_reference__startswith="env:", switched_off_at=F("last_error_at")
    )
    for account in refused.select_for_update():
        clear(account)
