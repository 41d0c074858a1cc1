"""Who did what that somebody may have to answer for."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.base import AppendOnlyModel


class AuditEvent(AppendOnlyModel):
    """One act, kept for ever; written by services and by the database's own functions."""

    team_id = models.BigIntegerField(_("team"), null=True)
    actor = models.CharField(_("actor"), max_length=64, help_text="user:3")
    action = models.CharField(_("action"), max_length=64)
    subject = models.CharField(_("subject"), max_length=100)
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    # {"v": 1, "fields": {name: [before, after]}}; secrets and private texts never stand in it.
    changes = models.JSONField(_("changes"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        ordering = ("-id",)
        indexes: ClassVar = [
            models.Index(fields=["team_id", "created_at"], name="audit_by_team_and_time"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}"
