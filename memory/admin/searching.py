"""Search in an agent's memory, with what each reason gave to each score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.admin import agent_pages
from agents.core.viewer import Viewer
from agents.models import Agent, Chat, Person
from agents.services import access
from memory import words
from memory.index.scopes import Shelves
from memory.index.terms import QUERY_CHARACTERS
from memory.models import Passage
from memory.policy import searched_days
from memory.search import search

if TYPE_CHECKING:
    from memory.search.results import Found

MYSELF: Final = "me"
NOBODY: Final = "nobody"
LIMIT: Final = 20
MOST_CHATS: Final = 200


@dataclass(frozen=True, slots=True)
class Share:
    """What one reason gave to a score.

    Args:
        width: Of the widest bar on the page, in percent.
    """

    name: str
    value: float
    width: int
    is_against: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found, with its score split up."""

    found: "Found"
    shares: tuple[Share, ...]


def page(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Search as oneself, as nobody, or as one of the team's groups; never as somebody else."""
    choices = _choices(request, agent)
    as_whom = request.GET.get("as", MYSELF)
    if as_whom not in choices:
        as_whom = next(iter(choices))
    in_documents = request.GET.get("in") == "documents"
    query = request.GET.get("q", "").strip()[:QUERY_CHARACTERS]
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": agent.name,
        "agent": agent,
        "choices": choices,
        "as_whom": as_whom,
        "query": query,
        "in_documents": in_documents,
        "most": QUERY_CHARACTERS,
    }
    if query:
        viewer = _viewer(request, agent, as_whom)
        result = search(
            viewer,
            query,
            now=timezone.now(),
            limit=LIMIT,
            kinds=[Passage.Kind.DOCUMENT] if in_documents else None,
            shelves=Shelves.LIBRARY if in_documents else None,
            notes_days=searched_days(agent),
        )
        context["hits"] = _hits(result.found)
        context["notes"] = [words.of_note(str(note)) for note in result.notes]
    return TemplateResponse(request, "admin/memory/search.html", context)


def _choices(request: HttpRequest, agent: Agent) -> Mapping[str, object]:
    """Return for whom may be searched."""
    found: dict[str, object] = {}
    if _own_person(request, agent) is not None:
        found[MYSELF] = _("me: my own part, and what is shared")
    found[NOBODY] = _("nobody: only what is shared")
    chats = Chat.objects.filter(team=agent.team_id, parent=None).order_by("title", "id")
    for chat in chats[:MOST_CHATS]:
        found[f"chat:{chat.pk}"] = str(chat)
    return found


def _viewer(request: HttpRequest, agent: Agent, as_whom: str) -> Viewer:
    if as_whom.startswith("chat:"):
        return Viewer(agent.team_id, agent.pk, chat_id=int(as_whom.removeprefix("chat:")))
    person = _own_person(request, agent) if as_whom == MYSELF else None
    return Viewer(agent.team_id, agent.pk, person_id=person.pk if person else None, is_private=True)


def _own_person(request: HttpRequest, agent: Agent) -> Person | None:
    user = access.user_of(request)
    return Person.objects.filter(team=agent.team_id, user=user, merged_into=None).first()


def _hits(found: "list[Found]") -> list[Hit]:
    widest = max((abs(value) for hit in found for value in hit.why.values()), default=0.0) or 1.0
    return [
        Hit(
            hit,
            tuple(
                Share(name, value, max(round(100 * abs(value) / widest), 1), value < 0)
                for name, value in sorted(hit.why.items(), key=lambda part: -abs(part[1]))
                if value
            ),
        )
        for hit in found
    ]


agent_pages.add("memory_search", "memory/", page)
