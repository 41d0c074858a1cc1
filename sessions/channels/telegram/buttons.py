"""What stands behind a button: what to do, signed for the one person who may press it.

Telegram hands the data back from whoever presses, in at most 64 bytes. The signature binds it to
the bot and the person: neither another member of a group nor a made-up request can use it.
"""

import base64
import hmac
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from sessions.models import ChannelAccount

MAX_BYTES: Final = 64
# 96 bits, as base64: a forger has one try a request, and each leaves a trace.
_MAC_BYTES: Final = 12
_MAC_CHARACTERS: Final = 16
_SALT: Final = "sessions.channels.telegram.buttons"

# What buttons do.
STOP: Final = "stop"
COMMAND: Final = "cmd"


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button that its own person pressed.

    Args:
        action: One of the constants above.
        subject: What it is done to, such as a turn's number.
    """

    action: str
    subject: str


def sign(action: str, subject: str, *, account: ChannelAccount, person_id: int) -> str:
    """Return the data of a button that only this person may press.

    Raises:
        ValueError: It is longer than Telegram takes.
    """
    data = f"{action}:{subject}:{_mac(action, subject, account, person_id, settings.SECRET_KEY)}"
    if len(data.encode()) > MAX_BYTES:
        raise ValueError(f"a button's data has at most {MAX_BYTES} bytes")
    return data


def fits(action: str, subject: str) -> bool:
    """Return whether a button can hold this."""
    return len(f"{action}:{subject}:".encode()) + _MAC_CHARACTERS <= MAX_BYTES


def verify(data: str, *, account: ChannelAccount, person_id: int) -> Pressed | None:
    """Return what a pressed button is for; None unless it was signed for this person and bot."""
    parts = data.split(":")
    if len(parts) < 3 or not data.isascii():
        return None
    action, subject, given = parts[0], ":".join(parts[1:-1]), parts[-1]
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        if hmac.compare_digest(given, _mac(action, subject, account, person_id, key)):
            return Pressed(action, subject)
    return None


def _mac(
    action: str, subject: str, account: ChannelAccount, person_id: int, key: str | bytes
) -> str:
    value = f"{account.pk}:{person_id}:{action}:{subject}"
    digest = salted_hmac(_SALT, value, secret=key, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:_MAC_BYTES]).decode()
