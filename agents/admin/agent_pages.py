"""Pages of one agent beside its form: its persona, the prompt, the try-out.

Packages above this one add theirs, as tools do: ``add`` when their admin module is imported.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse

from agents.admin.base import TeamAdmin
from agents.models import Agent
from agents.services import access

View = Callable[[HttpRequest, Agent], HttpResponseBase]


@dataclass(frozen=True, slots=True)
class AgentPage:
    """A page below an agent's address.

    Args:
        name: Of its address: ``admin:agents_agent_<name>``, with the agent's id.
        route: What follows the agent's id in it.
        roles: Who may open it.
    """

    name: str
    route: str
    view: View
    roles: Collection[str]


_pages: Final[dict[str, AgentPage]] = {}


def add(name: str, route: str, view: View, *, roles: Collection[str] = access.READERS) -> None:
    """Add a page."""
    _pages[name] = AgentPage(name, route, view, roles)


def has(name: str) -> bool:
    """Return whether somebody added a page."""
    return name in _pages


def address(name: str, agent: Agent | int) -> str:
    """Return where an agent's page is."""
    pk = agent.pk if isinstance(agent, Agent) else agent
    return reverse(f"admin:agents_agent_{name}", args=[pk])


class AgentPages:
    """Mixed into the agents' admin page: serves what was added."""

    def get_urls(self) -> list[URLPattern]:
        """Return the pages' addresses before the form's, which would take any."""
        page: Any = self  # a mixin of a ModelAdmin
        own = [
            path(
                f"<int:agent_id>/{found.route}",
                page.admin_site.admin_view(partial(_serve, page, found)),
                name=f"agents_agent_{found.name}",
            )
            for found in _pages.values()
        ]
        return [*own, *super().get_urls()]  # type: ignore[misc]  # of the ModelAdmin


def _serve(
    page: TeamAdmin, found: AgentPage, request: HttpRequest, agent_id: int
) -> HttpResponseBase:
    """Show the page of an agent of the user's teams; any other does not exist."""
    agent = page.get_queryset(request).select_related("team").filter(pk=agent_id).first()
    if agent is None:
        raise Http404
    teams = access.teams(request, found.roles)
    if teams is not None and agent.team_id not in teams:
        raise PermissionDenied
    return found.view(request, agent)
