"""Where Telegram brings a bot's messages: the webhook's address and its secret.

The secret is made of the platform's secret key and the account's number, so that nothing more is
stored; while keys are rotated, those made of the older keys are good too.
"""

import hmac
from collections.abc import Sequence
from typing import Final

from django.conf import settings
from django.utils.crypto import salted_hmac

from sessions.channels.telegram.asking import ask
from sessions.channels.telegram.servers import TELEGRAM, server_of
from sessions.models import ChannelAccount

# What is asked for, polled or brought; all else never comes.
ALLOWED_UPDATES: Final = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "stopped_message_generation",
)
# More wait in Telegram's queue; each holds one of our database connections for a moment.
MAX_CONNECTIONS: Final = 20
# Below it messages are brought: /telegram/<account>/
PREFIX: Final = "/telegram/"
_SALT: Final = "sessions.channels.telegram.webhook"


class NoPublicAddress(Exception):
    """Telegram brings messages to https addresses only, and the settings have none."""


def webhook_url(account: ChannelAccount) -> str:
    """Return where an account's messages are brought.

    Raises:
        NoPublicAddress: ``QANOT_PUBLIC_URL`` is not set, or not https.
    """
    base: str = settings.QANOT_PUBLIC_URL
    # An own Bot API server calls plain addresses too.
    is_enough = base.startswith("https://" if server_of(account).base_url == TELEGRAM else "http")
    if not is_enough:
        raise NoPublicAddress("QANOT_PUBLIC_URL is no https address")
    return f"{base}{PREFIX}{account.pk}/"


def secret_of(account_id: int) -> str:
    """Return what Telegram shows with each message that it brings."""
    return _secret(account_id, settings.SECRET_KEY)


def is_secret_of(account_id: int, given: str) -> bool:
    """Return whether somebody knows an account's secret; takes as long whatever is wrong."""
    older: Sequence[str] = settings.SECRET_KEY_FALLBACKS
    known = [_secret(account_id, key) for key in (settings.SECRET_KEY, *older)]
    found = [hmac.compare_digest(secret.encode(), given.encode()) for secret in known]
    return any(found)


async def register(account: ChannelAccount) -> None:
    """Let Telegram bring an account's messages here; what waits there comes too.

    Raises:
        NoPublicAddress: There is nowhere to bring them to.
        KeyMissing, NotAToken, BadAddress, AskError: It could not be asked.
    """
    await ask(
        account,
        "setWebhook",
        url=webhook_url(account),
        secret_token=secret_of(account.pk),
        allowed_updates=list(ALLOWED_UPDATES),
        max_connections=MAX_CONNECTIONS,
    )


async def unregister(account: ChannelAccount) -> None:
    """Let Telegram keep a bot's messages until they are asked for; a foreign webhook goes too.

    Raises:
        KeyMissing, NotAToken, BadAddress, AskError: It could not be asked.
    """
    await ask(account, "deleteWebhook", drop_pending_updates=False)


async def bring_in_line(account: ChannelAccount) -> None:
    """Set or delete the webhook as the account's row says.

    Raises:
        NoPublicAddress, KeyMissing, NotAToken, BadAddress, AskError: It could not be done.
    """
    if account.receives == ChannelAccount.Receives.WEBHOOK:
        await register(account)
    else:
        await unregister(account)


def _secret(account_id: int, key: str) -> str:
    return salted_hmac(_SALT, str(account_id), secret=key, algorithm="sha256").hexdigest()
