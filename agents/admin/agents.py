"""Agents, with the models they ask and the tools they may use."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from agents.admin import links
from agents.admin.agent_pages import AgentPages
from agents.admin.archive import ArchiveActions, ArchivedFilter
from agents.admin.base import TeamAdmin, TeamForm, TeamInline
from agents.models import Agent, AgentDocument, ChainLink, ToolGrant
from agents.tools import registry


class ChainLinkInline(TeamInline):
    """The accounts and models that the agent asks, the first first."""

    model = ChainLink
    team_path = "agent__team"
    fields = ("position", "account", "model", "window_tokens", "max_output_tokens")
    ordering = ("position", "id")


class ToolGrantForm(TeamForm):
    """Offers the tools that are registered, and the granted one even where it no longer is."""

    tool = forms.ChoiceField(label=_("Tool"), widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = {*registry.names(), self.instance.tool} - {""}
        self.fields["tool"].choices = [(name, name) for name in sorted(names)]  # type: ignore[attr-defined]  # declared above


class ToolGrantInline(TeamInline):
    """What the agent may use; a tool without its row is refused."""

    model = ToolGrant
    form = ToolGrantForm
    team_path = "agent__team"
    fields = ("tool",)


@admin.register(Agent)
class AgentAdmin(AgentPages, ArchiveActions, TeamAdmin):
    """The team's agents."""

    team_path = "team"
    fieldsets = (
        (None, {"fields": ("team", "name", "slug", "description", "language", "time_zone")}),
        (_("Turns"), {"fields": ("prompt_preset", "max_iterations")}),
        (_("Record"), {"fields": ("public_id", "documents_of_agent", "created_at", "archived_at")}),
    )
    readonly_fields = ("public_id", "documents_of_agent", "created_at", "archived_at")
    list_display = ("name", "team", "description", "language", "created_at", "archived_at")
    list_select_related = ("team",)
    list_filter = (ArchivedFilter, "team", "language")
    search_fields = ("name", "slug", "description")
    prepopulated_fields = {"slug": ("name",)}  # noqa: RUF012 - the name Django reads
    inlines = (ChainLinkInline, ToolGrantInline)

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Leave the record out until there is one."""
        return self.fieldsets if obj else self.fieldsets[:-1]

    @admin.display(description=_("persona documents"))
    def documents_of_agent(self, agent: Agent) -> str:
        """Return links to the agent's documents, without those of single persons."""
        documents = agent.documents.filter(person=None).order_by("name")
        return links.joined(links.to_row(AgentDocument, row.pk, row.name) for row in documents)
