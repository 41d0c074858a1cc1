"""What of an agent's settings every turn reads."""

from agents import sql
from agents.core.prompt import Source

_DOCUMENTS = """
    SELECT id, version_number, name, text FROM agents_agentdocument
    WHERE agent_id = %s AND (person_id IS NULL OR person_id = %s)
"""
_GRANTS = "SELECT tool FROM agents_toolgrant WHERE agent_id = %s ORDER BY tool"


def documents(agent_id: int, *, person_id: int | None) -> list[Source]:
    """Return the agent's persona, with the USER.md of the person who may see it, if any."""
    return [
        Source(name, text, version=f"{document_id}v{version}")
        for document_id, version, name, text in sql.fetch(_DOCUMENTS, [agent_id, person_id])
    ]


def granted_tools(agent_id: int) -> tuple[str, ...]:
    """Return the names of the tools that the agent may use, sorted."""
    return tuple(tool for (tool,) in sql.fetch(_GRANTS, [agent_id]))
