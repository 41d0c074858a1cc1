"""What a document said before: compared with another version, and brought back."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin import agent_pages, links
from agents.admin.base import ReadOnlyAdmin, page_of
from agents.admin.documents import PersonsDocument, tell_restored
from agents.models import AgentDocument, AgentDocumentVersion, User
from agents.services import diffs, documents


@admin.register(AgentDocumentVersion)
class AgentDocumentVersionAdmin(PersonsDocument, ReadOnlyAdmin):
    """Every text that a document had."""

    team_path = "document__agent__team"
    person_path = "document__person"
    change_form_template = "admin/persona/version.html"
    fields = readonly_fields = ("document_link", "number", "author", "reason", "created_at")
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

    def get_urls(self) -> list[URLPattern]:
        restore = self.admin_site.admin_view(require_POST(self.restore))
        name = "agents_agentdocumentversion_restore"
        return [path("<int:pk>/restore/", restore, name=name), *super().get_urls()]

    def restore(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Make the version the document's text again."""
        rows = self.get_queryset(request).select_related("document__agent")
        version = rows.filter(pk=pk).first()
        user = request.user
        if version is None or not isinstance(user, User):
            raise Http404
        if not self._may_restore(request, version):
            raise PermissionDenied
        tell_restored(request, documents.restore(version, author=user))
        address = reverse("admin:agents_agentdocument_change", args=[version.document_id])
        return HttpResponseRedirect(address)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: AgentDocumentVersion | None = None,
    ) -> HttpResponse:
        """Show what the version changed, or how it differs from the current text."""
        if obj is not None:
            context |= self._comparison(request, obj)
        shown: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return shown

    def _comparison(self, request: HttpRequest, version: AgentDocumentVersion) -> dict[str, Any]:
        shown = compared(request, version)
        return shown | {
            "may_restore": not shown["is_newest"] and self._may_restore(request, version),
            "document_page": "admin:agents_agentdocument_change",
            "restore_page": "admin:agents_agentdocumentversion_restore",
            "persona_url": agent_pages.address("persona", version.document.agent_id),
        }

    def _may_restore(self, request: HttpRequest, version: AgentDocumentVersion) -> bool:
        page = page_of(self.admin_site, AgentDocument)
        if page is None or not getattr(version, "is_readable", False):
            return False
        row = page.get_queryset(request).filter(pk=version.document_id).first()
        return row is not None and page.has_change_permission(request, row)


def compared(request: HttpRequest, version: Any) -> dict[str, Any]:
    """Return what a version's page shows: what it changed, or how it differs from the text now.

    Args:
        version: Of any document that keeps its versions by number.
    """
    document = version.document
    is_readable = bool(getattr(version, "is_readable", False))
    against = "current" if request.GET.get("against") == "current" else "previous"
    shown = {
        "version": version,
        "document": document,
        "is_readable": is_readable,
        "is_newest": version.number == document.version_number,
        "against": against,
    }
    if is_readable and against == "current":
        shown["diff"] = diffs.compare(version.text, document.text)
    elif is_readable:
        shown["diff"] = diffs.compare(_text_before(version), version.text)
    return shown


def _text_before(version: Any) -> str:
    earlier = version.document.versions.filter(number__lt=version.number).order_by("-number")
    return earlier.values_list("text", flat=True).first() or ""
