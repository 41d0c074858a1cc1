"""Connect my Telegram: a page for everybody whose team has a bot."""

from dataclasses import dataclass

import segno
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from agents.models import User
from agents.services import people
from agents.services.access import user_of
from sessions.channels.telegram import pairing
from sessions.models import ChannelAccount, ChannelContact


@dataclass(frozen=True, slots=True)
class Shown:
    """A bot as its page shows it to one person.

    Args:
        contact: Who they are there; None while they are not connected.
        address: A new link of theirs, where one was asked for.
    """

    bot: ChannelAccount
    contact: ChannelContact | None
    address: str = ""

    @property
    def picture(self) -> str:
        """Return the link as a QR code."""
        return qr_code(self.address)


def bots_of(user: User) -> QuerySet[ChannelAccount]:
    """Return the bots of a user's teams that hear."""
    return (
        ChannelAccount.objects.filter(
            channel=ChannelAccount.Channel.TELEGRAM,
            team__in=people.teams_of(user).filter(memberships__user=user),
            archived_at=None,
            switched_off_at=None,
            agent__archived_at=None,
        )
        .exclude(username="")
        .select_related("agent", "team")
        .order_by("team__name", "name", "id")
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def page(request: HttpRequest) -> HttpResponse:
    """Show the bots that the user may connect to; a POST names one and gets a link, shown once.

    Raises:
        Http404: There is no such bot.
    """
    user = user_of(request)
    bots = list(bots_of(user))
    chosen = request.POST.get("bot", "") if request.method == "POST" else None
    if chosen is not None and chosen not in [str(bot.pk) for bot in bots]:
        raise Http404
    own = ChannelContact.objects.filter(
        account__in=bots, person__user=user, access=ChannelContact.Access.ALLOWED
    )
    contacts = {contact.account_id: contact for contact in own}
    shown = [
        Shown(bot, contacts.get(bot.pk), _link(bot, user) if str(bot.pk) == chosen else "")
        for bot in bots
    ]
    return render(request, "account/telegram.html", {"bots": shown, "at": "telegram"})


def qr_code(address: str) -> str:
    """Return a QR code as SVG, dark on light in every theme: cameras read that best."""
    return segno.make(address, error="m", micro=False).svg_inline(
        scale=1, border=3, dark="#10312d", light="#ffffff", omitsize=True
    )


def _link(bot: ChannelAccount, user: User) -> str:
    _link, token = pairing.make_link(bot, people.person_of(user, bot.team), user)
    return pairing.address_of(bot, token)
