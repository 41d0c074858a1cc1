"""Letting go of what is kept for a time only."""

from datetime import timedelta
from typing import Final

from django.utils import timezone

from sessions import extractions, overheard, uploads
from sessions.models import ChannelUpdate

# Telegram delivers an update again for a day at most.
UPDATES_KEPT_FOR: Final = timedelta(days=7)


def forget_old() -> None:
    """Forget which updates came long ago, and what is kept for a day only.

    That is what groups said to others, and files that nobody has sent. Conversations that were
    read for facts are forgotten a month later.
    """
    ChannelUpdate.objects.filter(received_at__lt=timezone.now() - UPDATES_KEPT_FOR).delete()
    overheard.forget_old()
    extractions.forget_old()
    uploads.forget_old()
