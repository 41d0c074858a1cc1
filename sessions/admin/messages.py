"""What was said, and what is on its way out."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin
from agents.admin.privacy import as_written
from agents.admin.showing import once
from sessions.admin.text import ConversationText, as_told, session_link
from sessions.models import Content, InboundMessage, Outgoing, TranscriptEntry, TurnStep

SEND_COLOURS = {
    Outgoing.State.QUEUED: "info",
    Outgoing.State.SENDING: "info",
    Outgoing.State.SENT: "success",
    Outgoing.State.FAILED: "danger",
    Outgoing.State.UNKNOWN: "warning",
}


@admin.register(InboundMessage)
class InboundMessageAdmin(ConversationText, ReadOnlyAdmin):
    """Messages as channels brought them."""

    team_path = "session__team"
    session_path = "session__"
    fields = readonly_fields = (
        "session_link",
        "turn",
        "account",
        "person",
        "sender",
        "external_id",
        "status",
        "received_at",
        "public_id",
        "text_in_full",
    )
    list_display = (
        "__str__",
        "received_at",
        "person",
        "agent",
        "session_link",
        "turn",
        "text_in_short",
        "status",
    )
    list_select_related = ("session__agent", "person", "turn")
    list_filter = ("status", "session__agent", "account")
    link_lookups = ("session__id__exact", "turn__id__exact")
    search_fields = ("external_id", "person__display_name", "session__agent__name")

    @admin.display(description=_("conversation"))
    def session_link(self, row: InboundMessage) -> str:
        return session_link(row.session)

    @admin.display(description=_("agent"))
    def agent(self, row: InboundMessage) -> str:
        return row.session.agent.name


@admin.register(TranscriptEntry)
class TranscriptEntryAdmin(ConversationText, ReadOnlyAdmin):
    """Conversations as the model knows them."""

    team_path = "generation__session__team"
    session_path = "generation__session__"
    fields = readonly_fields = (
        "session_link",
        "generation",
        "turn",
        "role",
        "message",
        "tool_name",
        "tool_call_id",
        "stopped_early",
        "failed",
        "created_at",
        "erased_at",
        "text_in_full",
    )
    list_display = (
        "id",
        "created_at",
        "role",
        "session_link",
        "turn",
        "tool_name",
        "text_in_short",
        "stopped_early",
        "failed",
    )
    list_select_related = ("generation__session", "turn")
    list_filter = ("role", "is_error", "is_partial", "generation__session__agent")
    link_lookups = (
        "generation__id__exact",
        "generation__session__id__exact",
        "turn__id__exact",
    )
    search_fields = ("tool_name", "tool_call_id")
    ordering = ("-id",)

    @admin.display(description=_("conversation"))
    def session_link(self, row: TranscriptEntry) -> str:
        return session_link(row.generation.session)

    @admin.display(description=_("erased at"))
    def erased_at(self, row: TranscriptEntry) -> datetime | None:
        return row.content.erased_at

    @admin.display(description=_("text"))
    def text_in_short(self, row: Any) -> str | SafeString:
        """Return a reply's length: the beginning of its stored form tells nothing."""
        if row.is_readable and row.role == TranscriptEntry.Role.ASSISTANT:
            return _("%(count)s characters") % {"count": row.text_length}
        return super().text_in_short(row)

    @admin.display(description=_("text"))
    def text_in_full(self, row: Any) -> str:
        if not row.is_readable:
            return super().text_in_full(row)
        is_reply = row.role == TranscriptEntry.Role.ASSISTANT
        return as_written(as_told(row.content.text, is_reply=is_reply))


@admin.register(Content)
class ContentAdmin(ReadOnlyAdmin):
    """Where texts lie, and whether they were erased; to be read on their entry's page."""

    team_path = "team"
    fields = readonly_fields = ("team", "characters", "erased_at", "entries_link", "steps_link")
    list_display = ("__str__", "team", "characters", "erased_at")
    list_select_related = ("team",)
    list_filter = ("team", "erased_at")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Content]":
        rows: models.QuerySet[Content] = super().get_queryset(request)
        return rows.annotate(text_length=Length("text")).defer("text")

    @admin.display(description=_("characters"))
    def characters(self, row: Any) -> int:
        return int(row.text_length)

    @admin.display(description=_("transcript"))
    @once
    def entries_link(self, row: Content) -> str:
        return links.joined(
            links.to_row(TranscriptEntry, pk, f"#{pk}")
            for pk in row.entries.values_list("pk", flat=True)
        )

    @admin.display(description=_("steps"))
    @once
    def steps_link(self, row: Content) -> str:
        return links.joined(links.to_row(TurnStep, step.pk, step) for step in row.steps.all())


@admin.register(Outgoing)
class OutgoingAdmin(ReadOnlyAdmin):
    """What is on its way out."""

    team_path = "session__team"
    fields = readonly_fields = (
        "session_link",
        "turn",
        "state",
        "attempts",
        "error",
        "created_at",
        "sent_at",
        "public_id",
    )
    list_display = (
        "__str__",
        "state_label",
        "session_link",
        "turn",
        "attempts",
        "error",
        "created_at",
        "sent_at",
    )
    list_select_related = ("session", "turn")
    list_filter = ("state", "session__agent", "session__account")
    link_lookups = ("session__id__exact",)

    @display(description=_("state"), label=SEND_COLOURS)
    def state_label(self, row: Outgoing) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.display(description=_("conversation"))
    def session_link(self, row: Outgoing) -> str:
        return session_link(row.session) if row.session else ""
