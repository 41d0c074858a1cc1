"""What model calls used and cost."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, choices, yes_or_dash
from agents.models import Agent, Person, ProviderAccount, UsageRecord
from agents.services import access


class AgentFilter(admin.SimpleListFilter):
    """By agent, though the ledger holds its number only."""

    title = _("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        rows = choices(model_admin.admin_site, request, Agent.objects.all(), access.READERS)
        return [(str(row.pk), row.name) for row in rows]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        value = self.value()
        return queryset.filter(agent_id=value) if value and value.isdigit() else queryset


def _name_of(model: type[models.Model], column: str, field: str) -> models.Subquery:
    rows = model._default_manager.filter(pk=models.OuterRef(column))
    return models.Subquery(rows.values(field)[:1])


@admin.register(UsageRecord)
class UsageRecordAdmin(ReadOnlyAdmin):
    """One row a model call; they outlive what they speak of, so names may be missing."""

    team_path = "team_id"
    fields = (
        "origin",
        "kind",
        "agent_name",
        "person_name",
        "channel",
        "job",
        "account_name",
        "provider",
        "model",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "is_estimate",
        "was_broken",
        "price",
        "cost_usd",
        "created_at",
    )
    readonly_fields = ("agent_name", "person_name", "account_name")
    list_display = (
        "created_at",
        "origin",
        "kind",
        "agent_name",
        "person_name",
        "model",
        "input_tokens",
        "cache_read_tokens",
        "output_tokens",
        "cost_usd",
        "broken_off",
    )
    list_filter = (
        AgentFilter,
        "kind",
        "channel",
        "model",
        "was_broken",
        "is_estimate",
        "created_at",
    )
    link_lookups = ("origin",)
    search_fields = ("origin", "model", "provider")

    def get_queryset(self, request: HttpRequest) -> "QuerySet[UsageRecord]":
        rows: QuerySet[UsageRecord] = super().get_queryset(request)
        return rows.annotate(
            agent_known_as=_name_of(Agent, "agent_id", "name"),
            person_known_as=_name_of(Person, "person_id", "display_name"),
            account_known_as=_name_of(ProviderAccount, "account_id", "name"),
        )

    @admin.display(description=_("broken off"), ordering="was_broken")
    def broken_off(self, row: UsageRecord) -> str:
        return yes_or_dash(row.was_broken)

    @admin.display(description=_("agent"), ordering="agent_id")
    def agent_name(self, row: Any) -> str:
        return _linked(Agent, row.agent_id, row.agent_known_as)

    @admin.display(description=_("person"), ordering="person_id")
    def person_name(self, row: Any) -> str:
        return _linked(Person, row.person_id, row.person_known_as)

    @admin.display(description=_("account"), ordering="account_id")
    def account_name(self, row: Any) -> str:
        return _linked(ProviderAccount, row.account_id, row.account_known_as)


def _linked(model: type[models.Model], pk: int | None, name: str | None) -> str:
    """Return a link where the row still is, else its number."""
    if name is not None:
        return links.to_row(model, pk, name)
    return "–" if pk is None else f"#{pk}"
