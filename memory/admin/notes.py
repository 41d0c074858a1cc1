"""Daily notes: what was asked and answered, cut short, and agents' own lines."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.admin.base import ReadOnlyAdmin
from agents.admin.privacy import SharedScope, as_written
from memory.admin.scopes import SCOPE
from memory.models import DailyNote


@admin.register(DailyNote)
class DailyNoteAdmin(SharedScope, ReadOnlyAdmin):
    """A day's exchanges, cut short, and agents' own lines."""

    team_path = "team"
    text_path = "question"
    fields = readonly_fields = (*SCOPE, "day", "occurred_at", "source", "exchange")
    list_display = ("occurred_at", "text_in_short", "scope", "agent", "person", "chat", "source")
    list_select_related = ("agent", "person", "chat")
    list_filter = ("scope", "agent", "day")
    search_fields = ("source", "agent__name", "person__display_name", "chat__title")

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[DailyNote]":
        """Leave the answer behind as well: it is as private as the question."""
        rows: models.QuerySet[DailyNote] = super().get_queryset(request)
        return rows.defer("question", "answer", "text")

    @admin.display(description=_("exchange"))
    def exchange(self, row: Any) -> str:
        if not row.is_readable:
            return self.text_in_full(row)
        return as_written(row.text or f"{row.question}\n\n{row.answer}")
