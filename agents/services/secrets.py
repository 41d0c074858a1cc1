"""Platform secrets in rows: sealed when stored, opened only where they are used.

Sealed with Fernet (AES-128-CBC and HMAC-SHA256) under a key that HKDF makes of ``SECRET_KEY``.
The keys of ``SECRET_KEY_FALLBACKS`` open too, so the secret key can be changed while rows are
sealed again (``manage.py rotate_keys``). What none of them opens stays closed: nothing is ever
taken for clear text.
"""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

# Keeps these keys apart from everything else that is derived from the secret key.
PURPOSE: Final = b"qanot: secrets in rows, 1"
KEY_BYTES: Final = 32


class Unreadable(Exception):
    """None of the secret keys opens what was sealed."""


def seal(text: str) -> str:
    """Return a secret in a form that may be stored; sealed twice, it looks different."""
    return _box(_keys()).encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Return what was sealed.

    Raises:
        Unreadable: It was sealed under a key that is not known here, or is damaged.
    """
    try:
        return _box(_keys()).decrypt(sealed).decode()
    except (InvalidToken, ValueError) as exc:
        raise Unreadable("sealed under another secret key") from exc


def reseal(sealed: str) -> str:
    """Seal again with the current secret key what any known one opens.

    Raises:
        Unreadable: None opens it.
    """
    return seal(unseal(sealed))


def is_current(sealed: str) -> bool:
    """Return whether the current secret key opens it, without the older ones."""
    try:
        _box(_keys()[:1]).decrypt(sealed)
    except (InvalidToken, ValueError):
        return False
    return True


def _keys() -> tuple[str, ...]:
    older: Sequence[str] = settings.SECRET_KEY_FALLBACKS
    return (settings.SECRET_KEY, *older)


@lru_cache(maxsize=8)
def _box(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str) -> bytes:
    made = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=PURPOSE).derive(key.encode())
    return urlsafe_b64encode(made)
