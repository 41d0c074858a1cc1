"""What a person does to a provider account: forgive it, or take it out of use."""

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
