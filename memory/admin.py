"""What agents keep: whose it is and when it came, and its words where they are the viewer's."""

from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline
from agents.admin.privacy import SharedScope, as_written
from memory import files, lengths
from memory.models import DailyNote, MemoryDocument, MemoryDocumentVersion, WalEntry

SCOPE = ("team", "scope", "agent", "person", "chat")


@admin.register(WalEntry)
class WalEntryAdmin(SharedScope, ReadOnlyAdmin):
    """Facts noted before the agent answered; those that were taken back say so."""

    team_path = "team"
    text_path = "text"
    fields = readonly_fields = (
        *SCOPE,
        "category",
        "is_durable",
        "author",
        "origin",
        "source",
        "thread",
        "created_at",
        "retracted_at",
        "text_in_full",
    )
    list_display = (
        "created_at",
        "category",
        "text_in_short",
        "scope",
        "agent",
        "person",
        "is_durable",
        "retracted_at",
        "source",
    )
    list_select_related = ("agent", "person")
    list_filter = ("category", "is_durable", "scope", "origin", "agent", "created_at")
    link_lookups = ("source",)
    search_fields = ("source", "agent__name", "person__display_name", "chat__title")


class MemoryVersionInline(SharedScope, ReadOnlyInline):
    """What the document said, the newest first."""

    model = MemoryDocumentVersion
    team_path = "document__team"
    scope_path = "document__"
    text_path = "text"
    fields = readonly_fields = ("version", "created_at", "source", "length")
    ordering = ("-number",)
    per_page = 20
    verbose_name_plural = _("versions, newest first")

    @admin.display(description=_("version"))
    def version(self, row: MemoryDocumentVersion) -> str:
        return links.to_row(MemoryDocumentVersion, row.pk, f"v{row.number}")

    @admin.display(description=_("characters"))
    def length(self, row: Any) -> int:
        return int(row.text_length)


@admin.register(MemoryDocument)
class MemoryDocumentAdmin(SharedScope, ReadOnlyAdmin):
    """MEMORY.md of every scope."""

    team_path = "team"
    text_path = "text"
    fields = readonly_fields = (*SCOPE, "name", "version_number", "updated_at", "text_in_full")
    list_display = (
        "name",
        "scope",
        "agent",
        "person",
        "chat",
        "version_number",
        "text_in_short",
        "updated_at",
    )
    list_select_related = ("agent", "person", "chat")
    list_filter = ("scope", "agent", "name")
    search_fields = ("name", "agent__name", "person__display_name", "chat__title")
    ordering = ("-updated_at", "-id")
    inlines = (MemoryVersionInline,)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Warn where prompts do not show the document whole; figures are nobody's secret."""
        document = self.get_object(request, object_id)
        if isinstance(document, MemoryDocument) and document.name == files.MEMORY:
            length = lengths.length_of(document)
            if length.removed:
                self.message_user(request, lengths.words(length), messages.WARNING)
        response: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return response


@admin.register(MemoryDocumentVersion)
class MemoryDocumentVersionAdmin(SharedScope, ReadOnlyAdmin):
    """Every text that a memory document had."""

    team_path = "document__team"
    scope_path = "document__"
    text_path = "text"
    fields = readonly_fields = (
        "document_link",
        "number",
        "source",
        "created_at",
        "text_in_full",
    )
    list_display = ("__str__", "agent", "person", "source", "created_at", "text_in_short")
    list_select_related = ("document__agent", "document__person")
    list_filter = ("document__scope", "document__agent")
    link_lookups = ("document__id__exact",)
    search_fields = ("source", "document__agent__name", "document__person__display_name")
    ordering = ("-created_at", "-id")

    @admin.display(description=_("document"))
    def document_link(self, row: MemoryDocumentVersion) -> str:
        return links.to_row(MemoryDocument, row.document_id, row.document)

    @admin.display(description=_("agent"))
    def agent(self, row: MemoryDocumentVersion) -> Any:
        return row.document.agent

    @admin.display(description=_("person"))
    def person(self, row: MemoryDocumentVersion) -> Any:
        return row.document.person


@admin.register(DailyNote)
class DailyNoteAdmin(SharedScope, ReadOnlyAdmin):
    """A day's exchanges, cut short."""

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
        return rows.defer("question", "answer")

    @admin.display(description=_("exchange"))
    def exchange(self, row: Any) -> str:
        if not row.is_readable:
            return self.text_in_full(row)
        return as_written(f"{row.question}\n\n{row.answer}")
