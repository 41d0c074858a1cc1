"""What was said, and what is on its way out."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import display

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline
from agents.admin.privacy import as_written
from agents.admin.showing import once
from agents.services import access
from sessions import outbox
from sessions.admin.attached import AttachmentInline
from sessions.admin.text import ConversationText, as_told, session_link
from sessions.models import (
    Content,
    InboundMessage,
    Outgoing,
    OutgoingPart,
    TranscriptEntry,
    TurnStep,
)

# Codes of channels and of ours; others are shown as they are.
REASONS = {
    "blocked": _("They blocked the bot, or it was removed from the group."),
    "chat_not_found": _("There is no such chat."),
    "no_rights": _("The bot may not write there."),
    "moved": _("The group became a supergroup; its next message comes from there."),
    "refused": _("The channel did not accept the message."),
    "too_large": _("The file is too large for the channel."),
    "no_file": _("The file is gone."),
    "expired": _("It could not be sent for two days."),
    "dropped": _("Somebody dropped it."),
    "interrupted": _("The platform stopped in the middle; it may have arrived."),
    "unanswered": _("The channel did not answer; it may have arrived."),
    "5xx": _("The channel failed in the middle; it may have arrived."),
    "429": _("The channel asked us to wait."),
    "paced": _("It waits its turn."),
    "401": _("The channel refuses the bot's token."),
}
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
    inlines = (AttachmentInline,)
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


class PartsInline(ReadOnlyInline):
    """The messages that a row became."""

    model = OutgoingPart
    team_path = "outgoing__account__team"
    fields = readonly_fields = (
        "number",
        "state",
        "external_id",
        "attempts",
        "error",
        "tried_at",
        "sent_at",
    )
    verbose_name_plural = _("messages on the channel")


@admin.register(Outgoing)
class OutgoingAdmin(ReadOnlyAdmin):
    """What is on its way out; what failed or was held back is sent again or dropped here.

    Whoever sees the page is an owner, editor or operator, and may do both.
    """

    team_path = "account__team"
    inlines = (PartsInline,)
    actions = ("send_selected_again", "drop_selected")
    fields = readonly_fields = (
        "kind",
        "session_link",
        "turn",
        "account",
        "peer",
        "thread",
        "state",
        "attempts",
        "reason",
        "created_at",
        "tried_at",
        "not_before",
        "sent_at",
        "public_id",
    )
    list_display = (
        "__str__",
        "kind",
        "state_label",
        "session_link",
        "turn",
        "sent_parts",
        "attempts",
        "reason",
        "created_at",
        "sent_at",
    )
    list_select_related = ("session", "turn", "account")
    list_filter = ("state", "kind", "session__agent", "account")
    link_lookups = ("session__id__exact",)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Outgoing]":
        rows: models.QuerySet[Outgoing] = super().get_queryset(request)
        is_sent = models.Q(parts__state=Outgoing.State.SENT)
        return rows.annotate(
            count_of_parts=models.Count("parts"), count_sent=models.Count("parts", filter=is_sent)
        )

    @display(description=_("state"), label=SEND_COLOURS)
    def state_label(self, row: Outgoing) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.display(description=_("conversation"))
    def session_link(self, row: Outgoing) -> str:
        return session_link(row.session) if row.session else ""

    @admin.display(description=_("messages"))
    def sent_parts(self, row: Any) -> str:
        """Return how many of the messages that were begun have been taken."""
        if not row.count_of_parts:
            return ""
        return f"{row.count_sent} / {row.count_of_parts}"

    @admin.display(description=_("reason"))
    def reason(self, row: Outgoing) -> str:
        words = REASONS.get(row.error)
        return str(words) if words is not None else row.error

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return whether the user runs any team; of which rows is asked of each."""
        return self.has_view_permission(request)

    @admin.action(description=_("Send again"), permissions=["operate"])
    def send_selected_again(
        self, request: HttpRequest, queryset: "models.QuerySet[Outgoing]"
    ) -> None:
        """Queue what failed or was held back."""
        rows = self._chosen(request, queryset)
        count = sum(outbox.send_again(row, by=access.user_of(request)) for row in rows)
        words = ngettext("%(n)s is sent again.", "%(n)s are sent again.", count)
        self._say(request, words, count, len(rows))

    @admin.action(description=_("Drop"), permissions=["operate"])
    def drop_selected(self, request: HttpRequest, queryset: "models.QuerySet[Outgoing]") -> None:
        """Send what waits or was held back no more."""
        rows = self._chosen(request, queryset)
        count = sum(outbox.drop(row, by=access.user_of(request)) for row in rows)
        words = ngettext("%(n)s was dropped.", "%(n)s were dropped.", count)
        self._say(request, words, count, len(rows))

    def _chosen(
        self, request: HttpRequest, queryset: "models.QuerySet[Outgoing]"
    ) -> list[Outgoing]:
        return list(self.narrow(request, queryset, access.READERS).select_related("account"))

    def _say(self, request: HttpRequest, words: str, count: int, chosen: int) -> None:
        if count:
            messages.success(request, words % {"n": count})
        if count < chosen:
            messages.info(request, _("The others are not in a state for this."))
