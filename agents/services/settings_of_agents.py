"""An agent's settings, changed by a program: columns, chain and tools in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ChainLink, ProviderAccount, ToolGrant, User
from agents.services import audit
from agents.tools import registry

COLUMNS: Final = (
    "name",
    "description",
    "language",
    "time_zone",
    "prompt_preset",
    "max_iterations",
    "daily_cap_usd",
)


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a chain."""

    account: ProviderAccount
    model: str


def chain_of(agent: Agent) -> list[ChainLink]:
    """Return an agent's chain in its order, the accounts loaded."""
    return list(agent.chain_links.select_related("account").order_by("position", "id"))


def tools_of(agent: Agent) -> list[str]:
    """Return the names of the tools that an agent may use."""
    return list(agent.tool_grants.order_by("tool").values_list("tool", flat=True))


@transaction.atomic
def change(
    agent: Agent,
    *,
    values: Mapping[str, object],
    chain: Sequence[Place] | None,
    tools: Collection[str] | None,
    by: User,
    through: str,
) -> None:
    """Change an agent's settings, and tell the audit log what they were.

    Args:
        values: New values by column, of ``COLUMNS``.
        chain: The whole chain; None to leave it.
        tools: All tools; None to leave them.
        through: By which way it is changed, for the log.

    Raises:
        ValidationError: A value is none, by field.
    """
    before = {**audit.values_of(agent, COLUMNS), "chain": _told(agent), "tools": tools_of(agent)}
    for name, value in values.items():
        setattr(agent, name, value)
    _check(agent, values)
    if values:
        agent.save(update_fields=list(values))
    if chain is not None:
        _put_chain(agent, chain)
    if tools is not None:
        _put_tools(agent, tools)
    after = {**audit.values_of(agent, COLUMNS), "chain": _told(agent), "tools": tools_of(agent)}
    changes = audit.changes_between(before, after, after)
    if changes:
        audit.record(
            team_id=agent.team_id,
            actor=by,
            action="agent.changed",
            subject=audit.subject_of(agent),
            reason=through,
            changes=changes,
        )


def _check(agent: Agent, values: Mapping[str, object]) -> None:
    others = {field.name for field in Agent._meta.fields if field.name not in values}
    agent.full_clean(exclude=others, validate_unique=False, validate_constraints=False)
    if "time_zone" in values and values["time_zone"] not in available_timezones():
        raise ValidationError({"time_zone": _("There is no such time zone.")})


def _told(agent: Agent) -> list[str]:
    return [f"{link.account.name} · {link.model}" for link in chain_of(agent)]


def _put_chain(agent: Agent, chain: Sequence[Place]) -> None:
    """Bring the chain into this form; a place that was there keeps its limits and prices."""
    known: dict[tuple[int, str], list[ChainLink]] = {}
    for link in agent.chain_links.select_for_update().order_by("position", "id"):
        known.setdefault((link.account_id, link.model), []).append(link)
    for position, place in enumerate(chain, start=1):
        same = known.get((place.account.pk, place.model))
        link = same.pop(0) if same else ChainLink(agent=agent, account=place.account)
        link.model, link.position = place.model, position
        link.save()
    for rest in known.values():
        for link in rest:
            link.delete()


def _put_tools(agent: Agent, tools: Collection[str]) -> None:
    known = set(tools_of(agent))
    unknown = set(tools) - known - set(registry.names())
    if unknown:
        told = _("There is no tool called “%(name)s”.") % {"name": min(unknown)}
        raise ValidationError({"tools": told})
    agent.tool_grants.filter(tool__in=known - set(tools)).delete()
    ToolGrant.objects.bulk_create(
        ToolGrant(agent=agent, tool=name) for name in sorted(set(tools) - known)
    )
