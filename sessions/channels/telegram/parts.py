"""What a file may say of a bot (``manage.py apply``): its settings, and where its token stands."""

from typing import Final

from agents.services import managed
from agents.services.managed import Parts
from sessions.models import ChannelAccount

# The bot's agent, which a file names by its slug.
AGENT: Final = "agent"
BOT_FIELDS: Final = (
    "token_reference",
    "base_url",
    "may_reach_private",
    "receives",
    "answer_mode",
    "unknown_policy",
    "access",
    "groups",
    "bound_channels",
    "shows_receipts",
    "pause_s",
    "messages_per_minute",
)


def bot_parts(bot: ChannelAccount) -> Parts:
    """Return what a file may say of a bot; a token that is sealed in its row is no part."""
    agent = bot.agent.slug if bot.agent is not None else ""
    return {AGENT: agent, **{name: getattr(bot, name) for name in BOT_FIELDS}}


managed.register(ChannelAccount, bot_parts)
