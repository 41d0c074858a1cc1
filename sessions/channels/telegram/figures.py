"""How the bots of a deployment are, in numbers, asked of PostgreSQL when somebody looks."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils import timezone

from sessions.channels.telegram.standing import Trouble
from sessions.dashboards import RECENTLY, first_id_of
from sessions.models import ChannelAccount, ChannelUpdate, Outgoing


@dataclass(frozen=True, slots=True)
class Bots:
    """The bots that are switched on, and what passed through them within the hour.

    Args:
        heard: A poller tends them, and nothing is wrong.
        troubled: Their rows tell of trouble.
        unheard: Nobody tends them.
        sends: What they sent or have to send, by state.
        held_back: Sends that wait because Telegram was asked too often.
    """

    heard: int
    troubled: int
    unheard: int
    updates: int
    sends: Mapping[str, int]
    held_back: int


def bots() -> Bots:
    """Return the figures of all teams."""
    now = timezone.now()
    is_troubled = Q(last_error_code__in=Trouble.values)
    is_tended = Q(leased_until__gte=now)
    found = ChannelAccount.objects.filter(
        channel=ChannelAccount.Channel.TELEGRAM,
        archived_at=None,
        switched_off_at=None,
        agent__isnull=False,
        agent__archived_at=None,
    ).aggregate(
        heard=Count("pk", filter=is_tended & ~is_troubled),
        troubled=Count("pk", filter=is_troubled),
        unheard=Count("pk", filter=~is_troubled & ~is_tended),
    )
    recent = Outgoing.objects.filter(
        account__channel=ChannelAccount.Channel.TELEGRAM,
        public_id__gte=first_id_of(now - RECENTLY),
    )
    counted = recent.order_by().values_list("state").annotate(count=Count("pk"))
    waiting = Outgoing.objects.filter(state=Outgoing.State.QUEUED, not_before__gt=now)
    return Bots(
        **found,
        updates=ChannelUpdate.objects.filter(received_at__gte=now - RECENTLY).count(),
        sends=dict.fromkeys(Outgoing.State.values, 0) | dict(counted),
        held_back=waiting.count(),
    )
