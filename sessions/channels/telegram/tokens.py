"""A bot's token: sealed in its row or referred to, and opened only where the Bot API is asked.

The token is the bot: it stands in the address of every request, so no address of one may reach a
log, an error or a page either.
"""

import re
from typing import Final

from django.db import transaction

from agents.services import keys, secrets
from sessions.models import ChannelAccount

# As @BotFather gives them: the bot's number, a colon, and letters, digits, "_" and "-".
_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{8,200}", re.ASCII)


class NotAToken(ValueError):
    """What was given as a token has not the form of one."""


def seal_token(token: str) -> str:
    """Return a token in the form in which a row keeps it.

    Raises:
        NotAToken: It has not the form of one.
    """
    return secrets.seal(checked(token))


def token_of(account: ChannelAccount) -> str:
    """Return a bot's token in clear.

    Raises:
        KeyMissing: There is none that can be had now.
        NotAToken: What was found has not the form of one.
    """
    token = keys.opened(account.sealed_token, account.token_reference)
    if not token:
        raise keys.KeyMissing("the bot has no token", reason="empty")
    return checked(token)


def checked(token: str) -> str:
    """Return a token without white space around it.

    Raises:
        NotAToken: It has not the form of one; in an address it would be something else.
    """
    token = token.strip()
    if not _TOKEN.fullmatch(token):
        # Without the text: what was pasted may be another secret.
        raise NotAToken("a bot's token looks like 123456789:AA…")
    return token


def bot_id_of(token: str) -> int:
    """Return the bot that a token names."""
    return int(checked(token).partition(":")[0])


@transaction.atomic
def reseal_all() -> keys.Resealed:
    """Seal every stored token with the current secret key, as ``keys.reseal_all`` does keys."""
    changed, kept, unreadable = 0, 0, []
    sealed = ChannelAccount.objects.exclude(sealed_token="").select_related("team")
    for account in sealed.select_for_update(of=("self",)).order_by("pk"):
        if secrets.is_current(account.sealed_token):
            kept += 1
            continue
        try:
            again = secrets.reseal(account.sealed_token)
        except secrets.Unreadable:
            unreadable.append(f"{account.team}: {account}")
            continue
        ChannelAccount.objects.filter(pk=account.pk).update(sealed_token=again)
        changed += 1
    return keys.Resealed(changed, kept, tuple(unreadable))
