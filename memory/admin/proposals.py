"""New texts for MEMORY.md that wait for a decision."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin import deciding, links
from agents.admin.base import ReadOnlyAdmin
from agents.admin.privacy import SharedScope
from agents.services import access, diffs
from memory import proposals
from memory.admin.scopes import may_change
from memory.models import MemoryDocument, MemoryProposal

OPEN = MemoryProposal.State.OPEN


@admin.register(MemoryProposal)
class MemoryProposalAdmin(SharedScope, ReadOnlyAdmin):
    """A week's memory, put together anew; a person reads the difference and decides."""

    team_path = "document__team"
    scope_path = "document__"
    text_path = "text"
    change_form_template = "admin/memory/proposal.html"
    fields = readonly_fields = ("document_link", "reason", "source", "created_at", "state")
    list_display = ("document_link", "agent", "person", "source", "created_at", "state")
    list_select_related = ("document__agent", "document__person")
    list_filter = (deciding.DecidedFilter, "document__scope", "document__agent")
    search_fields = ("source", "document__agent__name", "document__person__display_name")

    @admin.display(description=_("document"))
    def document_link(self, row: MemoryProposal) -> str:
        return links.to_row(MemoryDocument, row.document_id, row.document)

    @admin.display(description=_("agent"))
    def agent(self, row: MemoryProposal) -> Any:
        return row.document.agent

    @admin.display(description=_("person"))
    def person(self, row: MemoryProposal) -> Any:
        return row.document.person

    def get_urls(self) -> list[URLPattern]:
        decide = self.admin_site.admin_view(require_POST(self.decide))
        name = "memory_memoryproposal_decide"
        return [path("<int:pk>/decide/", decide, name=name), *super().get_urls()]

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Accept or refuse, once; whoever comes second is told."""
        rows = self.get_queryset(request).select_related("document__person")
        proposal = rows.filter(pk=pk).first()
        if proposal is None:
            raise Http404
        if not may_change(request, proposal.document):
            return HttpResponse(status=403)
        is_accepted = "accept" in request.POST
        if is_accepted == ("refuse" in request.POST):
            return HttpResponse(status=400)
        user = access.user_of(request)
        if is_accepted:
            decision = proposals.accept(
                proposal, by=user, seen_version=deciding.seen_version(request)
            )
        else:
            decision = proposals.refuse(proposal, by=user)
        deciding.tell(request, decision, is_accepted=is_accepted)
        return HttpResponseRedirect(reverse("admin:memory_memoryproposal_change", args=[pk]))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: MemoryProposal | None = None,
    ) -> HttpResponse:
        """Show the proposed text against what the document says now."""
        if obj is not None:
            context |= _comparison(request, obj)
        shown: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return shown


def _comparison(request: HttpRequest, proposal: MemoryProposal) -> dict[str, Any]:
    document = proposal.document
    is_open = proposal.state == OPEN
    is_readable = bool(getattr(proposal, "is_readable", False))
    shown: dict[str, Any] = {
        "proposal": proposal,
        "document": document,
        "is_open": is_open,
        "is_readable": is_readable,
        "seen_version": document.version_number,
        "has_moved_on": is_open and document.version_number != proposal.base_version,
        "may_decide": is_open and is_readable and may_change(request, document),
    }
    if is_readable:
        before = document.text if is_open else _text_of(proposal)
        shown["diff"] = diffs.compare(before, proposal.text)
    return shown


def _text_of(proposal: MemoryProposal) -> str:
    """Return the text from which the proposal started."""
    started = proposal.document.versions.filter(number=proposal.base_version)
    return started.values_list("text", flat=True).first() or ""
