"""What a person does to a bot that is connected: switch it, put it away, change how it talks."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.models import User
from agents.services import audit
from sessions.channels.telegram.setup import SetupTrouble
from sessions.models import ChannelAccount


@transaction.atomic
def switch_off(bot: ChannelAccount, *, by: User) -> None:
    """Let a bot hear nothing; what people write waits at Telegram for a day."""
    if bot.switched_off_at is None:
        bot.switched_off_at = timezone.now()
        bot.save(update_fields=["switched_off_at"])
        _tell(bot, "bot.switched_off", by)


@transaction.atomic
def switch_on(bot: ChannelAccount, *, by: User) -> None:
    """Let a bot hear again; what went wrong before is tried anew."""
    bot.last_error_code, bot.last_error, bot.last_error_at = "", "", None
    bot.switched_off_at = None
    bot.save(update_fields=["switched_off_at", "last_error_code", "last_error", "last_error_at"])
    _tell(bot, "bot.switched_on", by)


@transaction.atomic
def archive(bot: ChannelAccount, *, by: User) -> None:
    """Put a bot away; its conversations stay, and it can be connected anew."""
    if bot.archived_at is None:
        bot.archived_at = timezone.now()
        bot.save(update_fields=["archived_at"])
        _tell(bot, "bot.archived", by)


def bring_back(bot: ChannelAccount, *, by: User) -> None:
    """Let an archived bot hear again.

    Raises:
        SetupTrouble: It was connected anew meanwhile.
    """
    if bot.archived_at is None:
        return
    bot.archived_at = None
    try:
        with transaction.atomic():
            bot.save(update_fields=["archived_at"])
            _tell(bot, "bot.brought_back", by)
    except IntegrityError as exc:
        raise SetupTrouble("here_already") from exc


def _tell(bot: ChannelAccount, action: str, by: User) -> None:
    audit.record(team_id=bot.team_id, actor=by, action=action, subject=audit.subject_of(bot))
