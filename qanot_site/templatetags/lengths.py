"""How long something lasts, as a page shows it and goes on counting."""

from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

register = template.Library()


def spelled(seconds: float) -> str:
    """Return a length of time in its one or two largest units."""
    whole = max(round(seconds), 0)
    minutes, rest_s = divmod(whole, 60)
    hours, rest_min = divmod(minutes, 60)
    days, rest_h = divmod(hours, 24)
    if days:
        return gettext("%(days)s d %(hours)s h") % {"days": days, "hours": rest_h}
    if hours:
        return gettext("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest_min}
    if minutes:
        return gettext("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest_s}
    return gettext("%(seconds)s s") % {"seconds": whole}


@register.simple_tag
def since(moment: datetime | None, now: datetime) -> SafeString | str:
    """Return how long ago a moment was; static/admin-own/board.js keeps it right."""
    return _counted(moment, now, "since")


@register.simple_tag
def until(moment: datetime | None, now: datetime) -> SafeString | str:
    """Return how long it is to a moment."""
    return _counted(moment, now, "until")


def _counted(moment: datetime | None, now: datetime, direction: str) -> SafeString | str:
    if moment is None:
        return "–"
    seconds = (now - moment).total_seconds()
    return format_html(
        '<time datetime="{}" data-{}="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        direction,
        round(moment.timestamp(), 1),
        spelled(seconds if direction == "since" else -seconds),
    )
