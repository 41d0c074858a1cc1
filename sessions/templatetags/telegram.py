"""Whether a page leads to Telegram."""

from django import template
from django.template import RequestContext

from agents.models import User
from sessions.channels.telegram.connecting import bots_of

register = template.Library()


@register.simple_tag(takes_context=True)
def has_bots(context: RequestContext) -> bool:
    """Return whether there is a bot that the reader may connect to."""
    user = context["request"].user
    return isinstance(user, User) and bots_of(user).exists()
