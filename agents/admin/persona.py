"""An agent's persona on one page: its documents in the prompt's order, and what is proposed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext

from agents.admin import agent_pages, purposes
from agents.admin.documents import length_words
from agents.admin.managed import is_managed
from agents.admin.persona_templates import LANGUAGES
from agents.models import Agent, AgentDocument, DocumentProposal, User
from agents.services import access, documents, managed, measuring, personas
from agents.services.figures import grouped
from agents.services.measuring import Measure

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Shown where they exist, without an invitation to write them.
_UNASKED: Final = frozenset({purposes.PERSONS, "HEARTBEAT.md", "BOOTSTRAP.md"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One document on the page.

    Args:
        document: None where it is not written yet.
        share: Percent of all documents' tokens.
    """

    name: str
    purpose: "_StrPromise | str"
    address: str
    document: AgentDocument | None = None
    measure: Measure | None = None
    words: str = ""
    share: int = 0
    proposals: int = 0

    @property
    def is_archived(self) -> bool:
        """Return whether no prompt shows it any more."""
        return self.document is not None and self.document.archived_at is not None


def overview(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Show what the agent is made of."""
    is_editor = may_edit(request, agent)
    entries = list(_entries(request, agent))
    open_proposals = list(_open_proposals(agent))
    return TemplateResponse(
        request,
        "admin/persona/overview.html",
        {
            **admin.site.each_context(request),
            "title": agent.name,
            "agent": agent,
            "entries": entries,
            "tokens": grouped(sum(entry.measure.tokens for entry in entries if entry.measure)),
            "cut_entries": [entry for entry in entries if entry.measure and entry.measure.removed],
            "proposals": open_proposals,
            "may_edit": is_editor,
            "kept_in_file": managed.sentence(agent),
            "persons_documents": agent.documents.filter(name=purposes.PERSONS).count(),
            "templates": personas.templates(),
            "languages": LANGUAGES,
            "language": _language(),
            "first_document": next((entry for entry in entries if entry.document), None),
        },
    )


def use_again(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Let prompts show an archived document again."""
    if request.method != "POST":
        return HttpResponse(status=405)
    rows = agent.documents.filter(person=None)
    document = rows.filter(name=request.POST.get("name", "")).first()
    if document is None:
        raise Http404
    by = request.user if isinstance(request.user, User) else None
    if documents.use_again(document, by=by):
        told = gettext("%(name)s is in use again.") % {"name": document.name}
        messages.success(request, told)
    return HttpResponseRedirect(agent_pages.address("persona", agent))


def may_edit(request: HttpRequest, agent: Agent) -> bool:
    """Return whether the user may change the agent's documents."""
    if is_managed(agent):
        return False
    teams = access.teams(request, access.EDITORS)
    return teams is None or agent.team_id in teams


def _language() -> str:
    """Return the person's language, as templates name theirs."""
    return (get_language() or "").partition("-")[0]


def _entries(request: HttpRequest, agent: Agent) -> Iterator[Entry]:
    stored = _stored(request, agent)
    waiting = dict(
        _open_proposals(agent).order_by().values_list("name").annotate(models.Count("id"))
    )
    now = timezone.now()
    measures = {
        name: measuring.measure(agent, document.text, now=now)
        for name, document in stored.items()
        if document.archived_at is None and name != "HEARTBEAT.md"
    }
    total = sum(measure.tokens for measure in measures.values()) or 1
    for name in _names(stored):
        document, measure = stored.get(name), measures.get(name)
        if document is None and name in _UNASKED:
            continue
        yield Entry(
            name=name,
            purpose=purposes.of(name),
            address=_address(agent, name, document),
            document=document,
            measure=measure,
            words=length_words(measure) if measure else "",
            share=round(100 * measure.tokens / total) if measure else 0,
            proposals=waiting.get(name, 0),
        )


def _stored(request: HttpRequest, agent: Agent) -> dict[str, AgentDocument]:
    """Return the shared documents by name, and the user's own USER.md."""
    own = models.Q(person__user=request.user.pk)
    rows = agent.documents.filter(models.Q(person=None) | own)
    return {document.name: document for document in rows}


def _names(stored: Mapping[str, AgentDocument]) -> Iterator[str]:
    for name in purposes.PURPOSES:
        yield name
        if name == "TOOLS.md":
            yield from sorted(other for other in stored if other.endswith(purposes.PLUGINS))


def _address(agent: Agent, name: str, document: AgentDocument | None) -> str:
    if document is not None:
        return reverse("admin:agents_agentdocument_change", args=[document.pk])
    query = urlencode({"agent": agent.pk, "name": name})
    return f"{reverse('admin:agents_agentdocument_add')}?{query}"


def _open_proposals(agent: Agent) -> "models.QuerySet[DocumentProposal]":
    rows = agent.proposals.filter(state=DocumentProposal.State.OPEN)
    return rows.select_related("person")


agent_pages.add("persona", "persona/", overview)
agent_pages.add("use_again", "persona/use-again/", use_again, roles=access.EDITORS)
