"""Daily notes."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.models.scopes import ScopedModel, ScopedQuerySet


class DailyNote(ScopedModel):
    """One entry in a day's notes: a cut of what was asked and answered, or the agent's own note."""

    day = models.DateField(_("day"))
    occurred_at = models.DateTimeField(_("at"))
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    question = models.CharField(_("question"), max_length=120, blank=True)
    answer = models.CharField(_("answer"), max_length=220, blank=True)
    text = models.TextField(
        _("note"), blank=True, help_text=_("The agent's own note, where it is no exchange.")
    )
    source = models.CharField(_("source"), max_length=64, help_text="turn:81")

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("daily note")
        verbose_name_plural = _("daily notes")
        ordering = ("-occurred_at", "-id")
        constraints: ClassVar = [
            *ScopedModel.Meta.constraints,
            models.UniqueConstraint(fields=["source"], name="daily_note_once_a_turn"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-occurred_at", "-id"], name="note_newest_first"),
            models.Index(fields=["agent", "person", "day"], name="note_by_person_and_day"),
            models.Index(fields=["agent", "chat", "day"], name="note_by_chat_and_day"),
            models.Index(
                fields=["team", "scope", "day"],
                name="note_by_shared_scope",
                condition=models.Q(scope__in=["agent", "team"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} · {self.source}"
