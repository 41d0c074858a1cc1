"""Agents, with the models they ask and the tools they may use."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.widgets import UnfoldAdminSelectWidget

from agents.admin import agent_pages, links
from agents.admin import connect_words as words
from agents.admin.agent_pages import AgentPages
from agents.admin.archive import ArchiveActions, ArchivedFilter
from agents.admin.base import TeamAdmin, TeamForm, TeamInline
from agents.admin.managed import ManagedAgents
from agents.admin.showing import once
from agents.models import Agent, AgentDocument, ChainLink, ProviderAccount, ToolGrant
from agents.services import caps
from agents.tools import registry


class ChainLinkForm(TeamForm):
    """One place of the chain, headed by how it stands and what it costs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None:
            # The name under which Unfold looks for a row's heading.
            self.instance.get_inline_title = partial(words.link_title, self.instance)


class ChainLinkInline(TeamInline):
    """The accounts and models that the agent asks, the first first."""

    model = ChainLink
    form = ChainLinkForm
    template = StackedInline.template
    template_before = "admin/models/chain_before.html"
    team_path = "agent__team"
    fieldsets = (
        (None, {"fields": ("account", "model", "position")}),
        (
            _("Window, thinking, tools, own price"),
            {
                "classes": ("collapse",),
                "fields": (
                    ("window_tokens", "max_output_tokens"),
                    ("effort", "supports_tools", "supports_images"),
                    ("input_usd_mtok", "output_usd_mtok"),
                ),
            },
        ),
    )
    ordering = ("position", "id")
    ordering_field = "position"

    def get_formset(
        self, request: HttpRequest, obj: models.Model | None = None, **kwargs: Any
    ) -> Any:
        """Let those drag who may change the order; an inline is made for each request."""
        if not self.has_change_permission(request, obj):
            self.ordering_field = ""
        formset = super().get_formset(request, obj, **kwargs)
        account = formset.form.base_fields.get("account")
        if account is not None and isinstance(obj, Agent):
            # Of all teams that somebody edits, only the agent's own pays for it.
            account.queryset = account.queryset.filter(team=obj.team_id)
        return formset

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[ChainLink]":
        """Load what the headings name."""
        rows = super().get_queryset(request)
        return rows.select_related("account__switched_off_by")

    def formfield_for_dbfield(
        self, db_field: "models.Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "account":
            # An account is added where it is tested, on a page that fits no pop-up.
            wrapper = field.widget
            wrapper.can_add_related = wrapper.can_change_related = wrapper.can_view_related = False
        return field


class ToolGrantForm(TeamForm):
    """Offers the tools that are registered, and the granted one even where it no longer is."""

    tool = forms.ChoiceField(
        label=_("Tool"), widget=UnfoldAdminSelectWidget(attrs={"aria-label": _("Tool")})
    )

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
class AgentAdmin(ManagedAgents, AgentPages, ArchiveActions, TeamAdmin):
    """The team's agents."""

    team_path = "team"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "team",
                    "name",
                    "slug",
                    "description",
                    "language",
                    "time_zone",
                    "documents_of_agent",
                )
            },
        ),
        (_("Money"), {"fields": ("daily_cap_usd", "spent_today")}),
        (
            _("Memory"),
            {
                "fields": (
                    "keeps_memory",
                    ("auto_recall", "extracts_facts"),
                    ("detector_pack", "private_facts"),
                    "notes_days",
                    "memory_of_agent",
                )
            },
        ),
        (
            _("Voice and groups"),
            {"fields": ("speech_account", "speech_model", "hears_groups")},
        ),
        (_("Turns"), {"fields": ("prompt_preset", "max_iterations"), "classes": ("collapse",)}),
        (
            _("Record"),
            {
                "fields": ("public_id", "as_file", "created_at", "archived_at"),
                "classes": ("collapse",),
            },
        ),
    )
    readonly_fields = (
        "spent_today",
        "public_id",
        "as_file",
        "documents_of_agent",
        "memory_of_agent",
        "created_at",
        "archived_at",
    )
    list_display = ("name", "team", "description", "language", "created_at", "archived_at")
    list_select_related = ("team",)
    list_filter = (ArchivedFilter, "team", "language")
    search_fields = ("name", "slug", "description")
    prepopulated_fields = {"slug": ("name",)}  # noqa: RUF012 - the name Django reads
    inlines = (ChainLinkInline, ToolGrantInline)

    def get_form(
        self,
        request: HttpRequest,
        obj: models.Model | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Offer for hearing the accounts of the agent's team that speak the wire for it."""
        form = super().get_form(request, obj, change, **kwargs)
        account = form.base_fields.get("speech_account")
        if account is not None:
            rows = account.queryset.filter(kind=ProviderAccount.Kind.OPENAI)
            account.queryset = rows.filter(team=obj.team_id) if isinstance(obj, Agent) else rows
            # An account is added where it is tested, on a page that fits no pop-up.
            wrapper = account.widget
            wrapper.can_add_related = wrapper.can_change_related = wrapper.can_view_related = False
        return form

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Leave the record out until there is one."""
        fieldsets = super().get_fieldsets(request, obj)
        return fieldsets if obj else fieldsets[:-1]

    @admin.display(description=_("today"))
    @once
    def spent_today(self, agent: Agent) -> str:
        """Return what the agent spent of what it may spend."""
        if agent._state.adding:
            return "–"
        return words.spent(caps.allowance(agent, now=timezone.now()))

    @admin.display(description=_("as a file"))
    def as_file(self, agent: Agent) -> str:
        """Return a link to the agent as `manage.py apply` takes it."""
        if agent._state.adding or not agent_pages.has("export"):
            return "–"
        return links.to_page(agent_pages.address("export", agent), _("Download"))

    @admin.display(description=_("look into it"))
    def memory_of_agent(self, agent: Agent) -> str:
        """Return links to the search in the agent's memory and to its documents."""
        if agent._state.adding or not agent_pages.has("memory_search"):
            return "–"
        search = links.to_page(agent_pages.address("memory_search", agent), _("Search its memory"))
        documents = links.to_page(agent_pages.address("documents", agent), _("Its documents"))
        return links.joined((search, documents))

    @admin.display(description=_("persona"))
    @once
    def documents_of_agent(self, agent: Agent) -> str:
        """Return links to the persona's page and to its documents, without single persons'."""
        if agent._state.adding:
            return "–"
        page = links.to_page(agent_pages.address("persona", agent), _("Overview"))
        documents = agent.documents.filter(person=None, archived_at=None).order_by("name")
        rows = (links.to_row(AgentDocument, row.pk, row.name) for row in documents)
        return links.joined((page, *rows))
