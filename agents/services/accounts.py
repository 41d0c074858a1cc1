"""What a person does to a provider account: change it, forgive it, or take it out of use."""

from ipaddress import IPv4Address
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.core.errors import AddressNotAllowed
from agents.models import ProviderAccount, Team, User
from agents.services import audit, secrets

MAX_ADDRESS = 200


@transaction.atomic
def clear(account: ProviderAccount, *, by: User | None = None) -> None:
    """Put an account back into use: no cool-down, no failures, not switched off.

    Args:
        by: Who did it, for the audit log; None for the platform.
    """
    if by is not None:
        _tell(account, "account.cleared", by, f"failures: {account.failures}")
    account.failures = 0
    account.cool_until = None
    account.switched_off_at = None
    account.switched_off_by = None
    account.last_error_code = ""
    account.last_error = ""
    account.last_error_at = None
    account.save(
        update_fields=[
            "failures",
            "cool_until",
            "switched_off_at",
            "switched_off_by",
            "last_error_code",
            "last_error",
            "last_error_at",
            "updated_at",
        ]
    )


@transaction.atomic
def switch_off(account: ProviderAccount, *, by: User | None) -> None:
    """Take an account out of every chain until it is cleared."""
    if account.switched_off_at is not None:
        return
    account.switched_off_at = timezone.now()
    account.switched_off_by = by
    account.save(update_fields=["switched_off_at", "switched_off_by", "updated_at"])
    if by is not None:
        _tell(account, "account.switched_off", by, "")


def _tell(account: ProviderAccount, action: str, by: User, reason: str) -> None:
    audit.record(
        team_id=account.team_id,
        actor=by,
        action=action,
        subject=audit.subject_of(account),
        reason=reason,
    )


def note_tested(account: ProviderAccount) -> None:
    """Note that a model of the account answered, which puts it back into use."""
    account.tested_at = timezone.now()
    account.save(update_fields=["tested_at", "updated_at"])
    clear(account)


@transaction.atomic
def save_edited(
    account: ProviderAccount, *, new_key: str, by_superuser: bool, is_moved: bool
) -> None:
    """Store an account that was edited.

    Args:
        new_key: In clear; it takes the place of the key or reference there is. Empty to keep it.
        is_moved: Its address is another one now. Who may be trusted with private addresses
            decides about the new address, and only for it.

    Raises:
        ValidationError: The stored key would go to another address, which nobody said.
    """
    if is_moved and not new_key and must_have_new_key(account, by_superuser=by_superuser):
        raise ValidationError(KEY_STAYS)
    if new_key:
        account.sealed_key = secrets.seal(new_key)
        account.key_reference = ""
    elif account.key_reference:
        account.sealed_key = ""
    if is_moved:
        account.may_reach_private = by_superuser
    if new_key or is_moved:
        account.tested_at = None
    account.save()


KEY_STAYS = _("The stored key belongs to the old address. Paste the key of the new one.")


def must_have_new_key(account: ProviderAccount, *, by_superuser: bool) -> bool:
    """Return whether a change of the account's address needs the key anew.

    Whoever could send a stored key to an address of their own would read it there. A reference
    names a secret of this deployment: superusers set it, so only they may say where it goes.
    """
    return bool(account.sealed_key) or (bool(account.key_reference) and not by_superuser)


def free_name(team: Team, wanted: str) -> str:
    """Return a name that no account of the team has yet."""
    taken = set(ProviderAccount.objects.filter(team=team).values_list("name", flat=True))
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


def clean_address(text: str) -> str:
    """Return a server's address in one form; empty stays empty.

    Where nobody wrote how to reach it, it is reached as its name suggests: without encryption
    by a number or a name without a dot, encrypted otherwise.

    Names without a dot are fine: that is how servers on one machine or network find each other.

    Raises:
        ValidationError: It is none, or carries what does not belong into it.
    """
    text = text.strip()
    if not text:
        return ""
    address = text if "://" in text else f"{_scheme(text)}://{text}"
    try:
        parts = urlsplit(address)
        has_port = parts.port is None or parts.port > 0
    except ValueError as exc:
        raise ValidationError(_NO_ADDRESS) from exc
    is_plain = address.isprintable() and not any(c.isspace() or c == "\\" for c in address)
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port or not is_plain:
        raise ValidationError(_NO_ADDRESS)
    if _is_odd_number(parts.hostname):
        raise ValidationError(_NO_ADDRESS)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValidationError(_("Leave out names, passwords, “?” and “#”; the key has its field."))
    if len(address) > MAX_ADDRESS:
        raise ValidationError(_NO_ADDRESS)
    return address


def _is_odd_number(host: str) -> bool:
    """Return whether a host is a number that is no IPv4 address in full, such as ``127.1``.

    Names never end in a number, and the ways to shorten an address are read differently by
    everybody; no client of ours asks them.
    """
    last = host.rstrip(".").rpartition(".")[2]
    if ":" in host or not (last.isdecimal() or last.startswith("0x")):
        return False
    try:
        IPv4Address(host)
    except ValueError:
        return True
    return False


def _scheme(text: str) -> str:
    host = text.partition("/")[0].rpartition(":")[0] or text.partition("/")[0]
    is_near = "." not in host or host.replace(".", "").isdecimal()
    return "http" if is_near else "https"


_NO_ADDRESS = _("This is no address of a server. Write it like https://example.org/v1")


def forgive_refused() -> None:
    """Put accounts back into use that were refused for what stands outside of their rows.

    For the start of the platform, with which variables and files get their new values: a key that
    is still wrong costs one more refused call, an address that is still private none. What a
    person switched off stays off; the platform switches off in the moment of the error.
    """
    refused = ProviderAccount.objects.filter(
        ~Q(key_reference="") | Q(last_error_code=AddressNotAllowed.code),
        switched_off_at=F("last_error_at"),
        switched_off_by=None,
    )
    for account in refused.select_for_update():
        clear(account)
