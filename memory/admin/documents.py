"""Memory documents with all their versions, compared and brought back."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, ReadOnlyInline
from agents.admin.privacy import SharedScope
from agents.admin.versions import compared
from agents.services import access
from memory import documents, files, lengths
from memory.admin.scopes import SCOPE, may_change
from memory.models import MemoryDocument, MemoryDocumentVersion


class MemoryVersionInline(SharedScope, ReadOnlyInline):
    """What the document said, the newest first."""

    model = MemoryDocumentVersion
    team_path = "document__team"
    scope_path = "document__"
    text_path = "text"
    fields = readonly_fields = ("version", "created_at", "author", "source", "reason", "length")
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
    """MEMORY.md and the other documents of every scope."""

    team_path = "team"
    text_path = "text"
    fields = readonly_fields = (
        *SCOPE,
        "name",
        "version_number",
        "updated_at",
        "deleted_at",
        "text_in_full",
    )
    list_display = (
        "name",
        "scope",
        "agent",
        "person",
        "chat",
        "version_number",
        "text_in_short",
        "updated_at",
        "deleted_at",
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
    change_form_template = "admin/memory/version.html"
    fields = readonly_fields = (
        "document_link",
        "number",
        "author",
        "source",
        "reason",
        "created_at",
        "text_in_full",
    )
    list_display = (
        "__str__",
        "agent",
        "person",
        "author",
        "source",
        "reason",
        "created_at",
        "text_in_short",
    )
    list_select_related = ("document__agent", "document__person", "author")
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

    def get_urls(self) -> list[URLPattern]:
        restore = self.admin_site.admin_view(require_POST(self.restore))
        name = "memory_memorydocumentversion_restore"
        return [path("<int:pk>/restore/", restore, name=name), *super().get_urls()]

    def restore(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Make the version the document's text again."""
        rows = self.get_queryset(request).select_related("document__person")
        version = rows.filter(pk=pk).first()
        if version is None:
            raise Http404
        if not (may_change(request, version.document) and version.is_readable):
            raise PermissionDenied
        if documents.restore(version, author=access.user_of(request)):
            messages.success(request, gettext("Restored: it is the document's newest version."))
        else:
            messages.info(request, gettext("The document says exactly this already."))
        address = reverse("admin:memory_memorydocument_change", args=[version.document_id])
        return HttpResponseRedirect(address)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: MemoryDocumentVersion | None = None,
    ) -> HttpResponse:
        """Show what the version changed, or how it differs from the current text."""
        if obj is not None:
            context |= compared(request, obj)
            context["document_page"] = "admin:memory_memorydocument_change"
            context["restore_page"] = "admin:memory_memorydocumentversion_restore"
            context["may_restore"] = (
                not context["is_newest"]
                and context["is_readable"]
                and may_change(request, obj.document)
            )
        shown: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return shown
