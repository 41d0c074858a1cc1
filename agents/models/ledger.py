"""What every model call used and cost; these rows survive whatever they speak of."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.base import AppendOnlyModel, PublicIdModel


class UsageRecord(AppendOnlyModel, PublicIdModel):
    """One model call of any kind.

    Origins are plain columns without foreign keys, so that deleting a session never
    changes what was spent. Costs are null where no price is known.
    """

    origin = models.CharField(_("origin"), max_length=64, help_text="turn:81")
    kind = models.CharField(_("kind"), max_length=32, default="turn")
    team_id = models.BigIntegerField(_("team"))
    agent_id = models.BigIntegerField(_("agent"), null=True)
    person_id = models.BigIntegerField(_("person"), null=True)
    channel = models.CharField(_("channel"), max_length=32, blank=True)
    job = models.CharField(_("job"), max_length=64, blank=True)
    account_id = models.BigIntegerField(_("account"), null=True)
    provider = models.CharField(_("provider"), max_length=100, blank=True)
    model = models.CharField(_("model"), max_length=200)
    input_tokens = models.PositiveIntegerField(_("input"), default=0)
    cache_read_tokens = models.PositiveIntegerField(_("cache read"), default=0)
    cache_write_tokens = models.PositiveIntegerField(_("cache write"), default=0)
    output_tokens = models.PositiveIntegerField(_("output"), default=0)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning"), default=0)
    is_estimate = models.BooleanField(_("estimated"), default=False)
    was_broken = models.BooleanField(_("broken off"), default=False)
    price = models.JSONField(_("price used"), null=True)
    cost_usd = models.DecimalField(_("cost (USD)"), max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("usage record")
        verbose_name_plural = _("usage records")
        ordering = ("-created_at", "-id")
        indexes: ClassVar = [
            models.Index(fields=["team_id", "created_at"], name="usage_by_team_and_time"),
            models.Index(fields=["origin"], name="usage_by_origin"),
            models.Index(fields=["agent_id", "created_at"], name="usage_by_agent_and_time"),
        ]

    def __str__(self) -> str:
        return f"{self.origin} · {self.model}"

    @property
    def context_tokens(self) -> int:
        """Return how full the window was after the call."""
        return (
            self.input_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.output_tokens
        )
