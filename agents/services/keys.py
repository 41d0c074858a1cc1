"""Where an account's key is: sealed in its row, in a variable, or in a file."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from django.conf import settings
from django.db import transaction

from agents.core.errors import AuthenticationFailed
from agents.models import ProviderAccount
from agents.services import secrets

MAX_FILE_BYTES: Final = 4_096
# The platform's own secrets are nobody's key, whoever writes a reference.
_OWN_VARIABLES: Final = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
_OWN_PREFIX: Final = "QANOT_"


Reason = Literal[
    "bad_reference", "other_secret", "own", "variable_unset", "unreadable", "no_text_file", "empty"
]


class KeyMissing(AuthenticationFailed):
    """An account has a key that cannot be had now.

    Args:
        reason: Why, for whoever puts it into words.
        where: The variable or file that should hold it, if one should.
        why: What the system said of a file that cannot be read.
    """

    def __init__(self, detail: str, *, reason: Reason, where: str = "", why: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.where = where
        self.why = why


def key_of(account: ProviderAccount) -> str:
    """Return an account's key in clear; empty where it has none.

    Raises:
        KeyMissing: It has one that cannot be had now; the text says what to do.
    """
    return opened(account.sealed_key, account.key_reference)


def opened(sealed: str, reference: str) -> str:
    """Return a secret in clear from where it is; empty where it is nowhere.

    Args:
        sealed: The row's own sealed form; it wins.
        reference: ``env:NAME`` or ``file:/path``.

    Raises:
        KeyMissing: It is somewhere and cannot be had now.
    """
    if sealed:
        return _unsealed(sealed)
    if not reference:
        return ""
    kind, _, where = reference.partition(":")
    if kind == "env":
        return _from_variable(where)
    if kind == "file":
        return _from_file(where)
    raise KeyMissing("the key reference is neither env:NAME nor file:/path", reason="bad_reference")


def _unsealed(sealed: str) -> str:
    try:
        return secrets.unseal(sealed)
    except secrets.Unreadable as exc:
        raise KeyMissing(
            "the key was stored under another secret key: enter it again, or add the old secret"
            " key to QANOT_SECRET_KEY_FALLBACKS",
            reason="other_secret",
        ) from exc


def _from_variable(name: str) -> str:
    """Return the variable NAME, or what the file says that NAME_FILE names."""
    if name in _OWN_VARIABLES or name.startswith(_OWN_PREFIX):
        raise KeyMissing(
            f"the environment variable {name} is the platform's own", reason="own", where=name
        )
    if key := os.environ.get(name, "").strip():
        return key
    if path := os.environ.get(f"{name}_FILE", "").strip():
        return _from_file(path)
    raise KeyMissing(
        f"the environment variable {name} is not set", reason="variable_unset", where=name
    )


def _from_file(path: str) -> str:
    """Return the first line of a key's file."""
    if _is_own(Path(path)):
        raise KeyMissing(f"the file {path} is the platform's own", reason="own", where=path)
    try:
        head = _head_of(path)
    except (OSError, ValueError) as exc:
        why = (exc.strerror or "") if isinstance(exc, OSError) else ""
        raise KeyMissing(
            f"the key file {path} cannot be read: {why or 'it is no small text file'}",
            reason="unreadable" if why else "no_text_file",
            where=path,
            why=why,
        ) from exc
    if not head:
        raise KeyMissing(
            f"the key file {path} has no key in its first line", reason="empty", where=path
        )
    return head


def _is_own(path: Path) -> bool:
    home: Path = settings.QANOT_HOME
    return path.resolve().is_relative_to(home.resolve())


def _head_of(path: str) -> str:
    # Without O_NONBLOCK, opening a named pipe would hold up every turn of the process.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
            raise ValueError("not a small regular file")
        text = os.read(descriptor, MAX_FILE_BYTES).decode()
    finally:
        os.close(descriptor)
    return text.partition("\n")[0].strip()


@dataclass(frozen=True, slots=True)
class Resealed:
    """What came of sealing all stored keys with the current secret key.

    Args:
        changed: Keys that an older secret key had sealed.
        kept: Keys that the current one had sealed already.
        unreadable: Names of the accounts, with their teams, whose keys none opens.
    """

    changed: int
    kept: int
    unreadable: tuple[str, ...]


@transaction.atomic
def reseal_all() -> Resealed:
    """Seal every stored key with the current secret key, as far as a known one opens it.

    Safe to repeat. Accounts do not count as edited: their keys are the same.
    """
    changed, kept, unreadable = 0, 0, []
    sealed = ProviderAccount.objects.exclude(sealed_key="").select_related("team")
    for account in sealed.select_for_update(of=("self",)).order_by("pk"):
        if secrets.is_current(account.sealed_key):
            kept += 1
            continue
        try:
            again = secrets.reseal(account.sealed_key)
        except secrets.Unreadable:
            unreadable.append(f"{account.team}: {account}")
            continue
        ProviderAccount.objects.filter(pk=account.pk).update(sealed_key=again)
        changed += 1
    return Resealed(changed, kept, tuple(unreadable))
