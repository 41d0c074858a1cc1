"""Conversations and their stretches of history."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin import links
from agents.admin.archive import ArchivedFilter
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline
from agents.admin.privacy import private_mark
from sessions.admin import extraction_words
from sessions.admin.text import ConversationText, count, session_link
from sessions.models import (
    ChatSession,
    Extraction,
    Generation,
    InboundMessage,
    TranscriptEntry,
    Turn,
)


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


class ExtractionInline(ReadOnlyInline):
    """What of the conversation a model read for facts, and what waits for it."""

    model = Extraction
    team_path = "session__team"
    fields = readonly_fields = (
        "state",
        "exchanges",
        "facts",
        "reason_in_words",
        "attempts",
        "due_at",
        "finished_at",
    )
    ordering = ("-id",)
    per_page = 10

    @admin.display(description=_("reason"))
    def reason_in_words(self, row: Extraction) -> str:
        return extraction_words.of(row.reason)


@admin.register(ChatSession)
class ChatSessionAdmin(ConversationText, ReadOnlyAdmin):
    """Conversations of the team's agents."""

    team_path = "team"
    text_path = "title"
    text_columns = ("title_in_short", "title_or_private")
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
    inlines = (GenerationInline, ExtractionInline)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[ChatSession]":
        rows: models.QuerySet[ChatSession] = super().get_queryset(request)
        return rows.annotate(turn_count=count(Turn, "session"))

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
        return session_link(row.session)

    @admin.display(description=_("agent"))
    def agent(self, row: Generation) -> str:
        return row.session.agent.name

    @admin.display(description=_("transcript"))
    def entries_link(self, row: Generation) -> str:
        return links.to_list(TranscriptEntry, _("all entries"), generation__id__exact=row.pk)
