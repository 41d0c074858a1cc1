"""Conversations, to be followed from the session to its turns, steps and messages.

Everybody who reads a team sees that something was said, when and how long; what was said in a
direct conversation only its person sees.
"""

import json
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.db.models.functions import Coalesce, Length
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError
from unfold.decorators import display

from agents.admin import links
from agents.admin.archive import ArchivedFilter
from agents.admin.base import (
    ReadOnlyAdmin,
    ReadOnlyInline,
    SuperuserAdmin,
    TeamAdmin,
    yes_or_dash,
)
from agents.admin.privacy import PrivateText, as_written, belongs_to_user, private_mark
from agents.core.messages import load_reply
from agents.models import UsageRecord
from sessions.models import (
    ChannelAccount,
    ChatSession,
    Content,
    Generation,
    InboundMessage,
    Outgoing,
    TranscriptEntry,
    Turn,
    TurnStep,
    WorkerProcess,
)

STATE_COLOURS = {
    Turn.State.QUEUED: "info",
    Turn.State.RUNNING: "info",
    Turn.State.ANSWERED: "success",
    Turn.State.STOPPED: "warning",
    Turn.State.ENDED: "warning",
    Turn.State.FAILED: "danger",
}
SEND_COLOURS = {
    Outgoing.State.QUEUED: "info",
    Outgoing.State.SENDING: "info",
    Outgoing.State.SENT: "success",
    Outgoing.State.FAILED: "danger",
    Outgoing.State.UNKNOWN: "warning",
}


class ConversationText(PrivateText):
    """Text of a conversation: a group's for the team, a person's for that person."""

    text_path = "content__text"
    session_path: ClassVar[str] = ""

    def readable(self, request: HttpRequest) -> models.Q:
        is_group = models.Q(**{f"{self.session_path}kind": ChatSession.Kind.GROUP})
        return is_group | belongs_to_user(request, f"{self.session_path}person")

    # Words for flags that are seldom set: Django's red cross would look like a fault.
    @admin.display(description=_("error"), ordering="is_error")
    def failed(self, row: Any) -> str:
        return yes_or_dash(row.is_error)

    @admin.display(description=_("stopped early"), ordering="is_partial")
    def stopped_early(self, row: Any) -> str:
        return yes_or_dash(row.is_partial)


def _count(model: type[models.Model], to_row: str) -> Coalesce:
    """Count the rows that point at a row, without joining them to it."""
    rows = model._default_manager.filter(**{to_row: models.OuterRef("pk")}).order_by()
    counted = rows.values(to_row).annotate(n=models.Count("pk")).values("n")
    return Coalesce(models.Subquery(counted), 0, output_field=models.IntegerField())


def _session_link(session: ChatSession) -> str:
    # By number: a direct conversation's title is its person's own words.
    return links.to_row(ChatSession, session.pk, f"session:{session.pk}")


def _reply_text(stored: str) -> str:
    """Return a stored reply as one reads it, its tool calls below the text."""
    message = load_reply(stored).message
    calls = [
        f"→ {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
        for call in message.tool_calls
    ]
    return "\n\n".join(part for part in (message.text, *calls) if part)


def _as_told(text: str, *, is_reply: bool) -> str:
    """Return a content's text as people read it; the stored form where it is none we know."""
    if not is_reply:
        return text
    try:
        return _reply_text(text)
    except (ValueError, ValidationError):
        return text


class GenerationInline(ReadOnlyInline):
    """The conversation's stretches of history."""

    model = Generation
    team_path = "session__team"
    fields = readonly_fields = (
        "link",
        "opened_at",
        "closed_at",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "context_tokens",
    )
    ordering = ("-number",)
    per_page = 20

    @admin.display(description=_("number"))
    def link(self, row: Generation) -> str:
        return links.to_row(Generation, row.pk, row.number)


@admin.register(ChatSession)
class ChatSessionAdmin(ConversationText, ReadOnlyAdmin):
    """Conversations of the team's agents."""

    team_path = "team"
    text_path = "title"
    fields = readonly_fields = (
        "title_or_private",
        "key",
        "team",
        "agent",
        "account",
        "kind",
        "person",
        "chat",
        "created_at",
        "last_interaction_at",
        "leased_until",
        "archived_at",
        "turns_link",
        "messages_link",
        "entries_link",
    )
    list_display = (
        "number",
        "title_in_short",
        "agent",
        "channel",
        "kind",
        "person",
        "chat",
        "turns_link",
        "last_interaction_at",
    )
    list_select_related = ("agent", "account", "person", "chat")
    list_filter = (ArchivedFilter, "agent", "account", "kind")
    search_fields = ("person__display_name", "chat__title", "agent__name", "peer")
    ordering = ("-last_interaction_at", "-id")
    inlines = (GenerationInline,)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[ChatSession]":
        rows: models.QuerySet[ChatSession] = super().get_queryset(request)
        return rows.annotate(turn_count=_count(Turn, "session"))

    @admin.display(description=_("conversation"), ordering="id")
    def number(self, row: ChatSession) -> str:
        return f"session:{row.pk}"

    @admin.display(description=_("title"))
    def title_in_short(self, row: Any) -> str | SafeString:
        return self.text_in_short(row) or "–"

    @admin.display(description=_("title"))
    def title_or_private(self, row: Any) -> str | SafeString:
        return row.title or "–" if row.is_readable else private_mark(row.text_length)

    @admin.display(description=_("channel"), ordering="account__channel")
    def channel(self, row: ChatSession) -> str:
        return str(row.account.get_channel_display())

    @admin.display(description=_("key"))
    def key(self, row: ChatSession) -> str:
        return row.key

    @admin.display(description=_("turns"))
    def turns_link(self, row: Any) -> str:
        return links.to_list(Turn, row.turn_count, session__id__exact=row.pk)

    @admin.display(description=_("messages"))
    def messages_link(self, row: ChatSession) -> str:
        return links.to_list(InboundMessage, _("all messages"), session__id__exact=row.pk)

    @admin.display(description=_("transcript"))
    def entries_link(self, row: ChatSession) -> str:
        return links.to_list(
            TranscriptEntry, _("all entries"), generation__session__id__exact=row.pk
        )


@admin.register(Generation)
class GenerationAdmin(ReadOnlyAdmin):
    """Stretches of history, with what they used."""

    team_path = "session__team"
    fields = readonly_fields = (
        "session_link",
        "number",
        "opened_at",
        "closed_at",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "context_tokens",
        "entries_link",
    )
    list_display = (
        "__str__",
        "session_link",
        "agent",
        "opened_at",
        "closed_at",
        "input_tokens",
        "output_tokens",
        "context_tokens",
    )
    list_select_related = ("session__agent",)
    list_filter = ("session__agent",)
    ordering = ("-id",)

    @admin.display(description=_("conversation"))
    def session_link(self, row: Generation) -> str:
        return _session_link(row.session)

    @admin.display(description=_("agent"))
    def agent(self, row: Generation) -> str:
        return row.session.agent.name

    @admin.display(description=_("transcript"))
    def entries_link(self, row: Generation) -> str:
        return links.to_list(TranscriptEntry, _("all entries"), generation__id__exact=row.pk)


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


class StepInline(ConversationText, ReadOnlyInline):
    """Model calls and tool calls, in order."""

    model = TurnStep
    team_path = "turn__session__team"
    session_path = "turn__session__"
    fields = readonly_fields = (
        "link",
        "kind",
        "name",
        "attempt",
        "started_at",
        "seconds",
        "characters",
        "failed",
    )
    ordering = ("number",)

    @admin.display(description=_("step"))
    def link(self, row: TurnStep) -> str:
        return links.to_row(TurnStep, row.pk, f"#{row.number}")

    @admin.display(description=_("seconds"))
    def seconds(self, row: TurnStep) -> str:
        return _seconds(row)

    @admin.display(description=_("characters"))
    def characters(self, row: Any) -> str:
        return "–" if row.text_length is None else str(row.text_length)


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
class TurnAdmin(ReadOnlyAdmin):
    """Turns: what each answered, in which steps, and how long it all took."""

    team_path = "session__team"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "session_link",
                    "agent",
                    "state",
                    "notice_code",
                    "attempt",
                    "orphaned",
                    "quarantine_attempts",
                    "is_private",
                    "usage_link",
                    "public_id",
                )
            },
        ),
        (_("Times"), {"fields": ("times",)}),
        (_("Prompt"), {"fields": ("manifest",), "classes": ("collapse",)}),
    )
    readonly_fields = ("session_link", "agent", "notice_code", "usage_link", "times")
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
    list_select_related = ("session__agent",)
    list_filter = ("state", "session__agent", "session__account")
    link_lookups = ("session__id__exact",)
    search_fields = ("session__agent__name", "session__person__display_name")
    inlines = (MessageInline, StepInline, EntryInline)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Turn]":
        rows: models.QuerySet[Turn] = super().get_queryset(request)
        return rows.annotate(step_count=_count(TurnStep, "turn"))

    @display(description=_("state"), label=STATE_COLOURS)
    def state_label(self, row: Turn) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.display(description=_("conversation"))
    def session_link(self, row: Turn) -> str:
        return _session_link(row.session)

    @admin.display(description=_("agent"))
    def agent(self, row: Turn) -> str:
        return row.session.agent.name

    @admin.display(description=_("steps"))
    def steps(self, row: Any) -> str:
        return links.to_list(TurnStep, row.step_count, turn__id__exact=row.pk)

    @admin.display(description=_("notice"))
    def notice_code(self, row: Turn) -> str:
        """Return the code alone: a notice's values may quote the conversation."""
        return str(row.notice.get("code", "–")) if isinstance(row.notice, dict) else "–"

    @admin.display(description=_("usage"))
    def usage_link(self, row: Turn) -> str:
        return links.to_list(UsageRecord, _("model calls"), origin=row.ref)

    @admin.display(description=_("took"))
    def took(self, row: Turn) -> str:
        return "–" if row.committed_at is None else _after(row.accepted_at, row.committed_at)

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
            (name, _clock(at), _after(row.accepted_at, at)) for name, at in marks if at is not None
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
        return _seconds(row)

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
        return as_written(_as_told(row.content.text, is_reply=is_reply))


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
        return _session_link(row.session)

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
        return _session_link(row.generation.session)

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
        return as_written(_as_told(row.content.text, is_reply=is_reply))


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
    def entries_link(self, row: Content) -> str:
        return links.joined(
            links.to_row(TranscriptEntry, pk, f"#{pk}")
            for pk in row.entries.values_list("pk", flat=True)
        )

    @admin.display(description=_("steps"))
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
        return _session_link(row.session)


@admin.register(ChannelAccount)
class ChannelAccountAdmin(TeamAdmin):
    """The team's doors on channels."""

    team_path = "team"
    fixed_fields = ("channel",)
    fields = ("team", "channel", "name")
    list_display = ("name", "channel", "team", "created_at", "archived_at")
    list_select_related = ("team",)
    list_filter = (ArchivedFilter, "team", "channel")
    ordering = ("team__name", "channel", "name")
    search_fields = ("name",)


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


def _seconds(step: TurnStep) -> str:
    if step.finished_at is None:
        return "–"
    return f"{(step.finished_at - step.started_at).total_seconds():.2f}"


def _after(start: datetime, end: datetime) -> str:
    milliseconds = round((end - start).total_seconds() * 1000)
    return f"{milliseconds} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.1f} s"


def _clock(at: datetime) -> str:
    return date_format(localtime(at), "Y-m-d H:i:s")
