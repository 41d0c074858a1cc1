"""What is wrong with a bot, on its row, until it is well again."""

from collections.abc import Mapping
from typing import Final

import structlog
from django.db import models
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from sessions.models import ChannelAccount

_log = structlog.get_logger(__name__)

MAX_TEXT: Final = 500


class Trouble(models.TextChoices):
    """Why a bot hears nothing, or not all."""

    TOKEN_REVOKED = "token_revoked", _("token revoked")
    TOKEN_MISSING = "token_missing", _("no token")
    BAD_ADDRESS = "bad_address", _("bad address")
    OTHER_POLLER = "other_poller", _("used elsewhere")
    FOREIGN_WEBHOOK = "foreign_webhook", _("foreign webhook")
    UNREACHABLE = "unreachable", _("Telegram cannot be reached")
    REFUSED = "refused", _("refused by Telegram")
    NO_PUBLIC_ADDRESS = "no_address", _("no public address")
    WEBHOOK_FAILING = "webhook_failing", _("Telegram cannot reach us")
    UPDATE_BROKEN = "update_broken", _("a message could not be taken in")


# What is over as soon as the bot hears again.
PASSING: Final = frozenset(Trouble.values) - {Trouble.UPDATE_BROKEN}

_SENTENCES: Final[Mapping[str, Promise]] = {
    Trouble.TOKEN_REVOKED: _(
        "Telegram does not know its token any more. Get a new one from @BotFather and enter it."
    ),
    Trouble.TOKEN_MISSING: _(
        "Its token cannot be had: enter it again, or look where the reference leads."
    ),
    Trouble.BAD_ADDRESS: _("The address of its Bot API server may not be asked. Correct it."),
    Trouble.OTHER_POLLER: _(
        "Another program asks for its messages too. Stop that one, or get a new token from"
        " @BotFather."
    ),
    Trouble.FOREIGN_WEBHOOK: _(
        "Another program keeps setting a webhook for it. Stop that one, or get a new token from"
        " @BotFather."
    ),
    Trouble.UNREACHABLE: _(
        "Telegram does not answer. It is tried again and again; messages wait there for a day."
    ),
    Trouble.REFUSED: _("Telegram refuses to give its messages; its own words are below."),
    Trouble.NO_PUBLIC_ADDRESS: _(
        "Messages can be brought to an https address only: set QANOT_PUBLIC_URL, or let Qanot ask"
        " for them."
    ),
    Trouble.WEBHOOK_FAILING: _(
        "Telegram could not bring its messages to QANOT_PUBLIC_URL; its own words are below."
    ),
    Trouble.UPDATE_BROKEN: _("A message could not be taken in; the log says more."),
}


def sentence_of(code: str) -> str:
    """Return what is wrong and what helps, for people; empty for a code of somebody else."""
    return str(_SENTENCES.get(code, ""))


def note(account_id: int, trouble: Trouble, text: str = "") -> None:
    """Write down what is wrong.

    Args:
        text: What the other side said; never a token or an address with one.
    """
    ChannelAccount.objects.filter(pk=account_id).update(
        last_error_code=trouble, last_error=text[:MAX_TEXT], last_error_at=timezone.now()
    )
    _log.warning("bot.troubled", account=account_id, trouble=str(trouble), said=text[:MAX_TEXT])


def note_well(account_id: int) -> None:
    """Take back what was written down about receiving."""
    ailing = ChannelAccount.objects.filter(pk=account_id, last_error_code__in=PASSING)
    if ailing.update(last_error_code="", last_error="", last_error_at=None):
        _log.info("bot.well", account=account_id)
