"""Persona documents and what they said before."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline, TeamAdmin, TeamForm
from agents.admin.privacy import PrivateText, belongs_to_user
from agents.models import AgentDocument, AgentDocumentVersion, User
from agents.services import documents


class MarkdownField(forms.CharField):
    """Text as it was typed: browsers send CRLF, and blanks at the end may be meant."""

    def __init__(self, **kwargs: Any) -> None:
        widget = UnfoldAdminTextareaWidget(
            attrs={"rows": 24, "spellcheck": "false", "class": "qanot-editor"}
        )
        super().__init__(strip=False, required=False, widget=widget, **kwargs)

    def to_python(self, value: Any) -> str:
        """Return the text with plain line ends."""
        return (super().to_python(value) or "").replace("\r\n", "\n")


class DocumentForm(TeamForm):
    """The text, and why it changes."""

    text = MarkdownField(label=_("Text"))
    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Why this text changes; kept with the version."),
    )


class PersonsDocument(PrivateText):
    """USER.md is about one person: only that person reads it here."""

    text_path = "text"
    person_path = "person"

    def readable(self, request: HttpRequest) -> models.Q:
        nobodys = models.Q(**{f"{self.person_path}__isnull": True})
        return nobodys | belongs_to_user(request, self.person_path)


class VersionInline(PersonsDocument, ReadOnlyInline):
    """What the document said, the newest first."""

    model = AgentDocumentVersion
    team_path = "document__agent__team"
    person_path = "document__person"
    fields = readonly_fields = ("version", "created_at", "author", "reason", "text_length")
    ordering = ("-number",)
    per_page = 20
    verbose_name_plural = _("versions, newest first")

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[AgentDocumentVersion]":
        return super().get_queryset(request).select_related("author")

    @admin.display(description=_("version"))
    def version(self, row: AgentDocumentVersion) -> str:
        return links.to_row(AgentDocumentVersion, row.pk, f"v{row.number}")

    @admin.display(description=_("characters"))
    def text_length(self, row: Any) -> int:
        return int(row.text_length)


@admin.register(AgentDocument)
class AgentDocumentAdmin(PersonsDocument, TeamAdmin):
    """Documents of which an agent's system prompt is made."""

    team_path = "agent__team"
    form = DocumentForm
    fixed_fields = ("name", "person")
    list_display = ("name", "agent", "person", "version_number", "updated_at", "text_length")
    list_select_related = ("agent", "person")
    list_filter = ("agent__team", "agent", "name")
    search_fields = ("name", "agent__name", "person__display_name")
    autocomplete_fields = ("person",)
    inlines = (VersionInline,)
    warn_unsaved_form = True

    @admin.display(description=_("characters"))
    def text_length(self, row: Any) -> int:
        return int(row.text_length)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        head = ("agent", "name", "person")
        if obj is None:
            return (*head, "text", "reason")
        if not self.has_change_permission(request, obj):
            return (*head, "text_in_full")
        return (*head, "text", "reason")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "text_in_full")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse who may not read the text: they would overwrite it unseen."""
        may = super().has_change_permission(request, obj)
        return may and (obj is None or getattr(obj, "is_readable", False))

    def save_model(
        self, request: HttpRequest, obj: AgentDocument, form: DocumentForm, change: bool
    ) -> None:
        """Save through the service, which keeps the version."""
        author = request.user if isinstance(request.user, User) else None
        documents.save(
            obj,
            text=form.cleaned_data["text"],
            author=author,
            reason=form.cleaned_data["reason"],
        )


@admin.register(AgentDocumentVersion)
class AgentDocumentVersionAdmin(PersonsDocument, ReadOnlyAdmin):
    """Every text that a document had."""

    team_path = "document__agent__team"
    person_path = "document__person"
    fields = readonly_fields = (
        "document_link",
        "number",
        "author",
        "reason",
        "created_at",
        "text_in_full",
    )
    list_display = ("__str__", "agent", "author", "reason", "created_at", "text_in_short")
    list_select_related = ("document__agent", "author")
    list_filter = ("document__agent",)
    link_lookups = ("document__id__exact",)
    search_fields = ("document__name", "document__agent__name", "reason", "author__username")
    ordering = ("-created_at", "-id")

    @admin.display(description=_("agent"))
    def agent(self, row: AgentDocumentVersion) -> str:
        return row.document.agent.name

    @admin.display(description=_("document"))
    def document_link(self, row: AgentDocumentVersion) -> str:
        return links.to_row(AgentDocument, row.document_id, row.document)
