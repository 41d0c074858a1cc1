"""What agents would like to change about themselves, to be accepted or refused once."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from agents.admin import agent_pages, deciding
from agents.admin.base import ReadOnlyAdmin
from agents.models import AgentDocument, DocumentProposal, User
from agents.services import access, diffs, managed, measuring, proposals

OPEN = DocumentProposal.State.OPEN


@admin.register(DocumentProposal)
class DocumentProposalAdmin(ReadOnlyAdmin):
    """An agent's proposals; a person decides."""

    team_path = "agent__team"
    change_form_template = "admin/persona/proposal.html"
    fields = readonly_fields = ("agent", "name", "reason", "source", "person", "created_at")
    list_display = ("name", "agent", "reason", "person", "source", "created_at", "state")
    list_select_related = ("agent", "person")
    list_filter = (deciding.DecidedFilter, "agent__team", "agent", "name")
    search_fields = ("name", "agent__name", "reason", "source")

    def get_urls(self) -> list[URLPattern]:
        decide = self.admin_site.admin_view(require_POST(self.decide))
        name = "agents_documentproposal_decide"
        return [path("<int:pk>/decide/", decide, name=name), *super().get_urls()]

    def count_waiting(self, request: HttpRequest) -> int:
        """Return how many wait for this user's decision."""
        rows = DocumentProposal.objects.filter(state=OPEN)
        return self.narrow(request, rows, self.edit_roles).count()

    def may_decide(self, request: HttpRequest, proposal: DocumentProposal) -> bool:
        """Return whether the user may accept or refuse this one."""
        teams = access.teams(request, self.edit_roles)
        return teams is None or proposal.agent.team_id in teams

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Accept or refuse, once; whoever comes second is told."""
        rows = self.get_queryset(request).select_related("agent")
        proposal = rows.filter(pk=pk).first()
        user = request.user
        if proposal is None or not isinstance(user, User):
            raise Http404
        if not self.may_decide(request, proposal):
            return HttpResponse(status=403)
        is_accepted = "accept" in request.POST
        if is_accepted:
            managed.refuse_edit(proposal.agent)
        if is_accepted == ("refuse" in request.POST):
            return HttpResponse(status=400)
        if is_accepted:
            decision = proposals.accept(
                proposal, user=user, seen_version=deciding.seen_version(request)
            )
        else:
            decision = proposals.refuse(proposal, user=user)
        deciding.tell(request, decision, is_accepted=is_accepted)
        here = reverse("admin:agents_documentproposal_change", args=[pk])
        there = agent_pages.address("persona", proposal.agent_id)
        return HttpResponseRedirect(there if decision == "done" else here)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: DocumentProposal | None = None,
    ) -> HttpResponse:
        """Show the proposed text against what the document says now."""
        if obj is not None:
            context |= self._comparison(request, obj)
        shown: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return shown

    def _comparison(self, request: HttpRequest, proposal: DocumentProposal) -> dict[str, Any]:
        shared = AgentDocument.objects.filter(agent=proposal.agent_id, person=None)
        document = shared.filter(name=proposal.name).first()
        version = document.version_number if document else 0
        is_open = proposal.state == OPEN
        before = document.text if document and is_open else _text_of(proposal, document)
        return {
            "proposal": proposal,
            "document": document,
            "seen_version": version,
            "has_moved_on": is_open and version != proposal.base_version,
            "is_open": is_open,
            "may_decide": is_open and self.may_decide(request, proposal),
            "kept_in_file": managed.sentence(proposal.agent) if is_open else "",
            "diff": diffs.compare(before, proposal.text),
            "persona_url": agent_pages.address("persona", proposal.agent_id),
            "measure": measuring.measure(proposal.agent, proposal.text, now=timezone.now()),
        }


def _text_of(proposal: DocumentProposal, document: AgentDocument | None) -> str:
    """Return the text from which the agent started."""
    if document is None:
        return ""
    started = document.versions.filter(number=proposal.base_version)
    return started.values_list("text", flat=True).first() or ""
