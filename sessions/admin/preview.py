"""The prompt as a chosen viewer's turn would get it, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.admin import agent_pages, private_views
from agents.core import prompt
from agents.core.messages import JsonObject
from agents.core.viewer import Viewer
from agents.models import Agent, Person
from agents.services import access, audit, chain, documents
from agents.services.figures import grouped
from sessions import prompting

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Look = Literal["full", "first", "minimal"]

LOOKS: Final[Mapping[Look, "_StrPromise"]] = {
    "full": _("a conversation"),
    "first": _("the first conversation"),
    "minimal": _("by itself (minimal)"),
}
NOBODY: Final = "nobody"
MYSELF: Final = "me"
# Beyond this a list to choose from is no help.
MOST_PEOPLE: Final = 500
# What may hold a person's own words. Of somebody else only its size is shown.
_PERSONAL: Final = frozenset({prompt.STATE, prompt.MEMORY, "USER.md"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """For whom the prompt is made.

    Args:
        key: As it stands in the address.
        is_own: Whether it is the user's own, or nobody's.
        is_readable: Whether every part may be read.
    """

    key: str
    viewer: Viewer
    person: Person | None
    is_own: bool
    is_readable: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the prompt; no text where it is somebody else's."""

    name: str
    version: str
    characters: int
    tokens: int
    removed: int
    percent: int
    text: str | None


def preview(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Show the parts in their order, with what each takes of the model's window."""
    chosen = _chosen(request, agent)
    _note(request, agent, chosen)
    look = _look(request)
    window = prompting.window_of(chain.rows_of(agent.pk))
    made = prompting.assemble_for(
        agent,
        chosen.viewer,
        now=timezone.now(),
        person=chosen.person,
        window_tokens=window,
        mode="minimal" if look == "minimal" else "full",
        with_ritual=look == "first",
    )
    parts = _parts(made, chosen)
    tokens = sum(part.tokens for part in parts)
    return TemplateResponse(
        request,
        "admin/persona/preview.html",
        {
            **admin.site.each_context(request),
            "title": agent.name,
            "agent": agent,
            "parts": parts,
            "tokens": grouped(tokens),
            "window": grouped(window),
            "window_percent": f"{100 * tokens / window:.1f}",
            "chosen": chosen,
            "look": look,
            "looks": _looks(agent),
            "people": _people(agent)[:MOST_PEOPLE],
            "persona_url": agent_pages.address("persona", agent),
        },
    )


def _looks(agent: Agent) -> list[tuple[Look, "_StrPromise"]]:
    """Return what a prompt can be made for; a first conversation needs its document."""
    has_ritual = agent.documents.filter(name=documents.RITUAL, archived_at=None).exists()
    return [(name, words) for name, words in LOOKS.items() if name != "first" or has_ritual]


def _look(request: HttpRequest) -> Look:
    asked = request.GET.get("mode", "full")
    for name in LOOKS:
        if name == asked:
            return name
    raise Http404


def _chosen(request: HttpRequest, agent: Agent) -> Chosen:
    key = request.GET.get("viewer", MYSELF)
    if key == NOBODY:
        viewer = Viewer(agent.team_id, agent.pk)
        return Chosen(key, viewer, None, is_own=True, is_readable=True)
    people = _people(agent)
    if key == MYSELF:
        # None for somebody who never talked in this team: their prompt has nothing personal.
        person = people.filter(user=request.user.pk).first()
    else:
        person = people.filter(public_id=_uuid(key)).first()
        if person is None:
            raise Http404
    viewer = Viewer(
        agent.team_id, agent.pk, person_id=person.pk if person else None, is_private=True
    )
    is_own = person is None or person.user_id == request.user.pk
    is_readable = is_own or access.may_view_private(request, agent.team_id)
    return Chosen(key, viewer, person, is_own=is_own, is_readable=is_readable)


def _note(request: HttpRequest, agent: Agent, chosen: Chosen) -> None:
    """Write down that somebody else's words are shown, before they are."""
    if chosen.is_readable and not chosen.is_own and chosen.person is not None:
        private_views.note(
            request,
            subject=f"{audit.subject_of(agent)}/prompt",
            team_id=agent.team_id,
            person_id=chosen.person.pk,
        )


def _people(agent: Agent) -> QuerySet[Person]:
    living = Person.objects.filter(team=agent.team_id, archived_at=None, merged_into=None)
    return living.order_by("display_name", "id")


def _uuid(key: str) -> UUID:
    try:
        return UUID(key)
    except ValueError as exc:
        raise Http404 from exc


def _parts(made: prompt.Prompt, chosen: Chosen) -> list[Part]:
    texts = {part.name: part.text for part in made.parts}
    total = sum(_figure(entry, "tokens") for entry in made.manifest) or 1
    return [_part(entry, texts, chosen, total) for entry in made.manifest]


def _part(entry: JsonObject, texts: Mapping[str, str], chosen: Chosen, total: int) -> Part:
    name = str(entry["part"])
    is_shown = chosen.is_readable or name not in _PERSONAL
    tokens = _figure(entry, "tokens")
    return Part(
        name=name,
        version=_version(entry["version"]) if is_shown else "",
        characters=_figure(entry, "characters"),
        tokens=tokens,
        removed=_figure(entry, "cut"),
        percent=round(100 * tokens / total),
        text=texts.get(name, "") if is_shown else None,
    )


def _figure(entry: JsonObject, name: str) -> int:
    value = entry[name]
    return value if isinstance(value, int) else 0


def _version(reference: object) -> str:
    """Return the number of a document's version, as ``v3``; memory names several documents."""
    text = str(reference or "")
    return f"v{text.rpartition('v')[2]}" if text and " " not in text else ""


agent_pages.add("preview", "persona/preview/", preview)
