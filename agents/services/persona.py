"""What of an agent's settings every turn reads."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agents import sql
from agents.core.prompt import Source
from agents.models import Agent, Membership, Person

# What a text may hold in braces.
VALUES: Final = ("bot_name", "owner_name", "date", "timezone")

_DOCUMENTS = """
    SELECT id, version_number, name, text FROM agents_agentdocument
    WHERE agent_id = %s AND (person_id IS NULL OR person_id = %s) AND archived_at IS NULL
"""
_GRANTS = "SELECT tool FROM agents_toolgrant WHERE agent_id = %s ORDER BY tool"


def documents(agent_id: int, *, person_id: int | None) -> list[Source]:
    """Return the agent's persona, with the USER.md of the person who may see it, if any.

    What is archived is left out.
    """
    return [
        Source(name, text, version=f"{document_id}v{version}")
        for document_id, version, name, text in sql.fetch(_DOCUMENTS, [agent_id, person_id])
    ]


def granted_tools(agent_id: int) -> tuple[str, ...]:
    """Return the names of the tools that the agent may use, sorted."""
    return tuple(tool for (tool,) in sql.fetch(_GRANTS, [agent_id]))


def values(agent: Agent, texts: Iterable[str], *, zone: str, now: datetime) -> dict[str, str]:
    """Return what stands for ``{name}`` in an agent's texts.

    Args:
        texts: The owner's name is looked up only where one of them asks for it.
        zone: In which the day is told.
    """
    found = {
        "date": f"{now.astimezone(ZoneInfo(zone)):%Y-%m-%d}",
        "bot_name": agent.name,
        "timezone": zone,
    }
    if any("{owner_name}" in text for text in texts):
        found["owner_name"] = _owner_name(agent.team_id)
    return found


def _owner_name(team_id: int) -> str:
    owner = (
        Person.objects.filter(
            team_id=team_id,
            user__memberships__team_id=team_id,
            user__memberships__role=Membership.Role.OWNER,
        )
        .order_by("id")
        .first()
    )
    return owner.display_name if owner else ""
