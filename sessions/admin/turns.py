"""Turns with their messages, steps and entries, and the workers that run them."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline, SuperuserAdmin
from agents.admin.privacy import as_written, private_mark
from agents.models import UsageRecord
from sessions.admin.text import (
    ConversationText,
    as_told,
    clock,
    count,
    elapsed,
    seconds,
    session_link,
)
from sessions.admin.turn_operating import Operated
from sessions.models import InboundMessage, TranscriptEntry, Turn, TurnStep, WorkerProcess

STATE_COLOURS = {
    Turn.State.QUEUED: "info",
    Turn.State.RUNNING: "info",
    Turn.State.ANSWERED: "success",
    Turn.State.STOPPED: "warning",
    Turn.State.ENDED: "warning",
    Turn.State.FAILED: "danger",
}


class MessageInline(ConversationText, ReadOnlyInline):
    """The messages that the turn answers."""

    model = InboundMessage
    team_path = "session__team"
    session_path = "session__"
    fields = readonly_fields = ("link", "received_at", "person", "text_in_short", "status")
    ordering = ("id",)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[InboundMessage]":
        return super().get_queryset(request).select_related("person")

    @admin.display(description=_("message"))
    def link(self, row: InboundMessage) -> str:
        return links.to_row(InboundMessage, row.pk, row.ref)


class EntryInline(ConversationText, ReadOnlyInline):
    """What the turn left in the transcript."""

    model = TranscriptEntry
    team_path = "generation__session__team"
    session_path = "generation__session__"
    fields = readonly_fields = (
        "link",
        "role",
        "tool_name",
        "characters",
        "stopped_early",
        "failed",
        "created_at",
    )
    ordering = ("id",)

    @admin.display(description=_("entry"))
    def link(self, row: TranscriptEntry) -> str:
        return links.to_row(TranscriptEntry, row.pk, f"#{row.pk}")

    @admin.display(description=_("characters"))
    def characters(self, row: Any) -> str:
        return str(row.text_length)


@admin.register(Turn)
class TurnAdmin(Operated, ReadOnlyAdmin):
    """Turns: what each answered, in which steps, and how long it all took."""

    team_path = "session__team"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "session_link",
                    "is_private",
                    "usage_link",
                    "public_id",
                )
            },
        ),
        (_("Times"), {"fields": ("times",)}),
    )
    readonly_fields = ("session_link", "usage_link", "times")
    list_display = (
        "__str__",
        "state_label",
        "agent",
        "session_link",
        "attempt",
        "steps",
        "accepted_at",
        "took",
    )
    list_select_related = ("session__agent", "session__person")
    list_filter = ("state", "session__agent", "session__account")
    link_lookups = ("session__id__exact",)
    search_fields = ("session__agent__name", "session__person__display_name")
    inlines = (MessageInline, EntryInline)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Turn]":
        rows: models.QuerySet[Turn] = super().get_queryset(request)
        rows = rows.select_related("session__agent", "session__person")
        return rows.annotate(step_count=count(TurnStep, "turn"))

    @display(description=_("state"), label=STATE_COLOURS)
    def state_label(self, row: Turn) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.display(description=_("conversation"))
    def session_link(self, row: Turn) -> str:
        return session_link(row.session)

    @admin.display(description=_("agent"))
    def agent(self, row: Turn) -> str:
        return row.session.agent.name

    @admin.display(description=_("steps"))
    def steps(self, row: Any) -> str:
        return links.to_list(TurnStep, row.step_count, turn__id__exact=row.pk)

    @admin.display(description=_("usage"))
    def usage_link(self, row: Turn) -> str:
        return links.to_list(UsageRecord, _("model calls"), origin=row.ref)

    @admin.display(description=_("took"))
    def took(self, row: Turn) -> str:
        return "–" if row.committed_at is None else elapsed(row.accepted_at, row.committed_at)

    @admin.display(description=_("course"))
    def times(self, row: Turn) -> SafeString:
        """Return the turn's times, each with how long after acceptance it came."""
        marks = (
            (_("accepted"), row.accepted_at),
            (_("claimed"), row.claimed_at),
            (_("request sent"), row.request_sent_at),
            (_("first token"), row.first_token_at),
            (_("last token"), row.last_token_at),
            (_("committed"), row.committed_at),
            (_("delivered"), row.delivered_at),
            (_("stop requested"), row.stop_requested_at),
        )
        lines = [
            (name, clock(at), elapsed(row.accepted_at, at)) for name, at in marks if at is not None
        ]
        rows = format_html_join("", "<tr><td>{}</td><td>{}</td><td>{}</td></tr>", lines)
        return format_html('<table class="qanot-times">{}</table>', rows)


@admin.register(TurnStep)
class TurnStepAdmin(ConversationText, ReadOnlyAdmin):
    """Single model calls and tool calls."""

    team_path = "turn__session__team"
    session_path = "turn__session__"
    fields = readonly_fields = (
        "turn",
        "number",
        "kind",
        "name",
        "call_id",
        "attempt",
        "started_at",
        "finished_at",
        "seconds",
        "failed",
        "error_or_private",
        "text_in_full",
    )
    list_display = (
        "__str__",
        "turn",
        "kind",
        "name",
        "attempt",
        "started_at",
        "seconds",
        "characters",
        "failed",
    )
    list_select_related = ("turn",)
    list_filter = ("kind", "is_error", "turn__session__agent")
    link_lookups = ("turn__id__exact",)
    search_fields = ("name", "call_id")
    ordering = ("-id",)

    @admin.display(description=_("seconds"))
    def seconds(self, row: TurnStep) -> str:
        return seconds(row)

    @admin.display(description=_("characters"))
    def characters(self, row: Any) -> str:
        return "–" if row.text_length is None else str(row.text_length)

    @admin.display(description=_("error text"))
    def error_or_private(self, row: Any) -> str:
        """Return what went wrong; a tool's error may quote what it was asked."""
        return row.error or "–" if row.is_readable else private_mark(len(row.error))

    @admin.display(description=_("text"))
    def text_in_full(self, row: Any) -> str:
        if not row.is_readable or row.content is None:
            return super().text_in_full(row)
        is_reply = row.kind == TurnStep.Kind.MODEL
        return as_written(as_told(row.content.text, is_reply=is_reply))


@admin.register(WorkerProcess)
class WorkerProcessAdmin(SuperuserAdmin):
    """Worker processes that lived here."""

    fields = readonly_fields = ("name", "started_at")
    list_display = ("id", "name", "started_at")
    ordering = ("-id",)
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False
