"""The files of a message, on its page: what they are called and say is as private as its text."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin import links
from agents.admin.base import ReadOnlyInline
from agents.admin.privacy import private_mark
from agents.models import File
from sessions import file_words
from sessions.admin.text import ConversationText
from sessions.models import Attachment


class AttachmentInline(ConversationText, ReadOnlyInline):
    """What came with a message."""

    model = Attachment
    team_path = "message__session__team"
    session_path = "message__session__"
    text_path = "transcript__text"
    text_columns = ("file_name", "heard")
    fields = readonly_fields = (
        "number",
        "kind",
        "file_name",
        "media_type",
        "size_bytes",
        "progress",
        "heard",
    )
    ordering = ("number",)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Attachment]":
        return super().get_queryset(request).select_related("transcript")

    @admin.display(description=_("name"))
    def file_name(self, row: Any) -> str | SafeString:
        """Return the name, leading to the file's facts."""
        if not row.is_readable:
            return private_mark(len(row.name))
        return links.to_row(File, row.file_id, row.name) if row.file_id else row.name

    @admin.display(description=_("state"))
    def progress(self, row: Attachment) -> str:
        """Return how far it is, and why no further."""
        return file_words.trouble_of(row.error) or row.get_state_display()

    @admin.display(description=_("what is said in it"))
    def heard(self, row: Any) -> str | SafeString:
        """Return what a voice message says."""
        return "–" if row.transcript_id is None else self.text_in_full(row)
