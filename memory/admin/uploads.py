"""Uploaded documents: an agent's page to bring, watch and remove them, and the list of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from agents.admin import agent_pages
from agents.admin.base import ReadOnlyAdmin
from agents.admin.privacy import SharedScope
from agents.models import Agent, Chat, Person, ToolGrant
from agents.services import access
from agents.services.files import MAX_BYTES
from memory import upload_words, uploads
from memory.admin.scopes import SCOPE, may_change
from memory.errors import UploadRefused
from memory.models import Scope, UploadedDocument
from memory.reading.kinds import ENDINGS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

State = UploadedDocument.State

MYSELF: Final = "me"
MOST_CHATS: Final = 200
SHOWN: Final = 300
_COLOURS: Final = {
    State.WAITING: "info",
    State.READING: "info",
    State.READY: "success",
    State.FAILED: "danger",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One document on its agent's page.

    Args:
        percent: How much of it can be found; None while it is not read, or where it cannot be.
    """

    document: UploadedDocument
    whose: str
    percent: int | None
    is_found_by_words: bool
    error: str
    may_remove: bool

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will change by itself."""
        return self.document.state == State.FAILED or self.percent == 100


# --- an agent's page -----------------------------------------------------------------------------


def page(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Show an agent's documents, and take in what is posted."""
    choices = _choices(request, agent)
    if request.method == "POST":
        return _take(request, agent, choices)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        **_listed(request, agent),
        "title": agent.name,
        "agent": agent,
        "choices": choices,
        "kinds": ", ".join(ENDINGS),
        "accept": ",".join(f".{ending}" for ending in (*ENDINGS, "htm", "markdown")),
        "most_mb": MAX_BYTES // 2**20,
        "lacks_tool": not ToolGrant.objects.filter(agent=agent, tool="rag_search").exists(),
    }
    return TemplateResponse(request, "admin/memory/documents.html", context)


def live(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Show the list alone, as it is now."""
    return TemplateResponse(request, "admin/memory/documents_live.html", _listed(request, agent))


@require_POST
def remove(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Take a document out."""
    document = _own(request, agent)
    uploads.forget(document, actor=access.user_of(request))
    messages.success(request, gettext("Removed, with all that was found in it."))
    return HttpResponseRedirect(agent_pages.address("documents", agent))


@require_POST
def again(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Let a document that could not be read be read again."""
    uploads.again(_own(request, agent), by=access.user_of(request))
    return HttpResponseRedirect(agent_pages.address("documents", agent))


def _choices(request: HttpRequest, agent: Agent) -> Mapping[str, "_StrPromise | str"]:
    """Return for whom the user may bring documents."""
    found: dict[str, _StrPromise | str] = {}
    editors = access.teams(request, access.EDITORS)
    if editors is None or agent.team_id in editors:
        found[Scope.AGENT] = _("everybody who talks with this agent")
        found[Scope.TEAM] = _("everybody who talks with any agent of the team")
    if _own_person(request, agent) is not None:
        found[MYSELF] = _("me alone")
    if Scope.AGENT in found:
        chats = Chat.objects.filter(team=agent.team_id, parent=None).order_by("title", "id")
        for chat in chats[:MOST_CHATS]:
            found[f"chat:{chat.pk}"] = gettext("the group %(chat)s") % {"chat": chat}
    return found


def _home(request: HttpRequest, agent: Agent, whose: str) -> dict[str, object]:
    """Return the scope that a choice stands for."""
    home: dict[str, object] = {"team_id": agent.team_id, "scope": Scope.AGENT}
    if whose == Scope.TEAM:
        return home | {"scope": Scope.TEAM}
    home["agent_id"] = agent.pk
    if whose == MYSELF and (person := _own_person(request, agent)) is not None:
        home |= {"scope": Scope.PERSON, "person_id": person.pk}
    elif whose.startswith("chat:"):
        home |= {"scope": Scope.CHAT, "chat_id": int(whose.removeprefix("chat:"))}
    return home


def _own_person(request: HttpRequest, agent: Agent) -> Person | None:
    user = access.user_of(request)
    return Person.objects.filter(team=agent.team_id, user=user, merged_into=None).first()


def _take(
    request: HttpRequest, agent: Agent, choices: Mapping[str, "_StrPromise | str"]
) -> HttpResponse:
    """Take in the files of a form: several from the page's button, one at a time when dropped."""
    whose = request.POST.get("whose", "")
    if whose not in choices:
        raise PermissionDenied
    home = _home(request, agent, whose)
    added, refused = 0, []
    for file in request.FILES.getlist("files"):
        try:
            _add(file, home, request)
        except UploadRefused as refusal:
            refused.append(f"{file.name}: {upload_words.of_error(refusal.code)}")
        else:
            added += 1
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"added": added, "refused": refused}, status=422 if refused else 200)
    for sentence in refused:
        messages.error(request, sentence)
    if added:
        said = ngettext("%(n)s document was taken in.", "%(n)s documents were taken in.", added) % {
            "n": added
        }
        messages.success(request, said)
    elif not refused:
        messages.error(request, gettext("Choose a file first."))
    return HttpResponseRedirect(agent_pages.address("documents", agent))


def _add(file: UploadedFile, home: Mapping[str, object], request: HttpRequest) -> None:
    if (file.size or 0) > MAX_BYTES:
        raise UploadRefused("too_large")
    user = access.user_of(request)
    uploads.add(file.read(), name=file.name or "", home=home, source=f"user:{user.pk}", author=user)


def _listed(request: HttpRequest, agent: Agent) -> dict[str, Any]:
    """Return the documents that an agent looks into and the user may read about."""
    rows = list(_readable(request, agent).order_by("-pk")[:SHOWN])
    progress = uploads.progress(rows)
    shown = [
        Shown(
            document=row,
            whose=_whose(row),
            percent=progress[row.pk].percent if row.pk in progress else None,
            is_found_by_words=row.pk in progress and progress[row.pk].is_found_by_words,
            error=upload_words.of_error(row.error) if row.error else "",
            may_remove=may_change(request, row),
        )
        for row in rows
    ]
    return {
        "documents": shown,
        "agent": agent,
        "is_moving": any(not each.is_over for each in shown),
    }


def _readable(request: HttpRequest, agent: Agent) -> "models.QuerySet[UploadedDocument]":
    own = models.Q(scope=Scope.TEAM)
    own |= models.Q(scope__in=[Scope.AGENT, Scope.CHAT], agent=agent)
    if (person := _own_person(request, agent)) is not None:
        own |= models.Q(scope=Scope.PERSON, agent=agent, person=person)
    rows = UploadedDocument.objects.filter(own, team=agent.team_id).defer("parts")
    return rows.select_related("file", "chat", "person", "author")


def _whose(row: UploadedDocument) -> str:
    match row.scope:
        case Scope.TEAM:
            return gettext("all agents")
        case Scope.AGENT:
            return gettext("this agent")
        case Scope.CHAT:
            return str(row.chat)
    return gettext("me alone")


def _own(request: HttpRequest, agent: Agent) -> UploadedDocument:
    """Return the document that a form names, if the user may change it."""
    key = request.POST.get("document", "")
    row = _readable(request, agent).filter(pk=int(key)).first() if key.isdecimal() else None
    if row is None:
        raise Http404
    if not may_change(request, row):
        raise PermissionDenied
    return row


agent_pages.add("documents", "documents/", page)
agent_pages.add("documents_live", "documents/live/", live)
agent_pages.add("documents_remove", "documents/remove/", remove)
agent_pages.add("documents_again", "documents/again/", again)


# --- all of them ---------------------------------------------------------------------------------


@admin.register(UploadedDocument)
class UploadedDocumentAdmin(SharedScope, ReadOnlyAdmin):
    """Every uploaded document; what one is called that is a person's own, is theirs."""

    team_path = "team"
    text_path = "name"
    text_columns = ("short_name", "file_name")
    list_before_template = "admin/memory/documents_of.html"
    fields = readonly_fields = (
        *SCOPE,
        "file_name",
        "state",
        "reason",
        "characters",
        "pieces",
        "found",
        "sha256",
        "source",
        "author",
        "created_at",
        "read_at",
    )
    list_display = (
        "short_name",
        "standing",
        "scope",
        "agent",
        "person",
        "chat",
        "pieces",
        "author",
        "created_at",
    )
    list_select_related = ("agent", "person", "chat", "author")
    list_filter = ("state", "scope", "agent")
    search_fields = ("sha256", "source", "agent__name", "person__display_name", "chat__title")
    ordering = ("-created_at", "-id")

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[UploadedDocument]":
        """Leave the texts behind: no page of the admin shows them."""
        rows: models.QuerySet[UploadedDocument] = super().get_queryset(request)
        return rows.defer("parts", "name")

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row; Django names the page after it, so a private name is taken out."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and not row.is_readable:
            row.name = str(_("private"))
        return row

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the way to the agents' own pages, where documents are brought."""
        teams = access.teams(request, access.READERS)
        agents = Agent.objects.filter(archived_at=None)
        if teams is not None:
            agents = agents.filter(team__in=teams)
        context = {**(extra_context or {}), "agents_of_documents": agents.order_by("name")[:50]}
        response: HttpResponse = super().changelist_view(request, context)
        return response

    @admin.display(description=_("name"))
    def short_name(self, row: Any) -> str:
        return self.text_in_short(row)

    @admin.display(description=_("name"))
    def file_name(self, row: Any) -> str:
        return self.text_in_full(row) if not row.is_readable else row.name

    @display(description=_("state"), label=_COLOURS)
    def standing(self, row: UploadedDocument) -> tuple[str, str]:
        return row.state, row.get_state_display()

    @admin.display(description=_("error"))
    def reason(self, row: UploadedDocument) -> str:
        return upload_words.of_error(row.error) if row.error else "–"

    @admin.display(description=_("found by now"))
    def found(self, row: UploadedDocument) -> str:
        known = uploads.progress([row]).get(row.pk)
        return f"{known.percent} %" if known else "–"
