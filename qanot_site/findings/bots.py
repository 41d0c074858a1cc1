"""Bots of Telegram that hear nothing, or not all."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from qanot_site.findings.registry import Finding, check, figures
from sessions.channels.telegram.standing import Trouble, sentence_of
from sessions.models import ChannelAccount

# A poller finds a new bot within seconds.
LONGEST_WAIT: Final = timedelta(seconds=30)
# A message that could not be taken in is news for so long.
BROKEN_IS_NEWS: Final = timedelta(days=1)


@check
def troubled_bots() -> Iterator[Finding]:
    """Yield bots whose rows tell of trouble."""
    since = timezone.now() - BROKEN_IS_NEWS
    ailing = _bots().filter(last_error_code__in=Trouble.values)
    for bot in ailing.exclude(last_error_code=Trouble.UPDATE_BROKEN, last_error_at__lt=since):
        if bot.last_error_code == Trouble.NO_PUBLIC_ADDRESS:
            # The check below says it, whether or not a poller has tried.
            continue
        yield Finding(
            code=f"bots.{bot.last_error_code}",
            level="warning",
            subject=str(bot),
            text=_("It does not hear what people write: %(trouble)s.")
            % {"trouble": Trouble(bot.last_error_code).label},
            fix=sentence_of(bot.last_error_code),
        )


@check
def bots_without_https() -> Iterator[Finding]:
    """Yield bots whose messages cannot be brought, as there is no address to bring them to."""
    if settings.QANOT_PUBLIC_URL.startswith("https://"):
        return
    brought = _bots().filter(receives=ChannelAccount.Receives.WEBHOOK, base_url="")
    yield from (_without_https(bot) for bot in brought)


@check(about="deployment")
def pollers() -> Iterator[Finding]:
    """Yield that nobody asks for the messages of bots."""
    now = timezone.now()
    nobodys = Q(leased_until=None, created_at__lt=now - LONGEST_WAIT)
    waiting = _bots().filter(nobodys | Q(leased_until__lt=now - LONGEST_WAIT))
    if unheard := len(waiting):
        yield Finding(
            code="pollers.none",
            level="warning",
            subject=_("The poller"),
            text=_("Nobody asks Telegram for the messages of %(unheard)s bots.")
            % figures(unheard=unheard),
            fix=_("Start the platform with: python3 manage.py up — or the unit qanot-poller."),
        )


def _bots() -> QuerySet[ChannelAccount]:
    """Return the bots that are to hear what they are told."""
    return ChannelAccount.objects.filter(
        channel=ChannelAccount.Channel.TELEGRAM,
        archived_at=None,
        switched_off_at=None,
        agent__isnull=False,
        agent__archived_at=None,
    ).order_by("pk")


def _without_https(bot: ChannelAccount) -> Finding:
    return Finding(
        code="bots.no_https",
        level="warning",
        subject=str(bot),
        text=_("Its messages are to be brought, and there is no https address to bring them to."),
        fix=sentence_of(Trouble.NO_PUBLIC_ADDRESS),
    )
