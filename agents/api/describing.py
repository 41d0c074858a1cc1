"""How agents and their documents look to programs, and the tags that tell their states apart."""

import hashlib

from django.db.models import QuerySet
from django.db.models.functions import Length

from agents.api.schemas import (
    AgentDetailOut,
    DocumentOut,
    DocumentsOut,
    DocumentTextOut,
    LinkOut,
)
from agents.models import Agent, AgentDocument
from agents.services import settings_of_agents


def shared(agent: Agent) -> QuerySet[AgentDocument]:
    """Return an agent's documents, without those of single persons."""
    return AgentDocument.objects.filter(agent=agent, person=None)


def agent(row: Agent) -> tuple[AgentDetailOut, str]:
    """Return an agent with its settings, and its ETag."""
    chain = settings_of_agents.chain_of(row)
    in_use = shared(row).filter(archived_at=None).order_by("name")
    versions = list(in_use.values_list("name", "version_number"))
    out = AgentDetailOut(
        id=row.public_id,
        name=row.name,
        slug=row.slug,
        description=row.description,
        language=row.language,
        time_zone=row.time_zone,
        prompt_preset=row.prompt_preset,
        max_iterations=row.max_iterations,
        daily_cap_usd=row.daily_cap_usd,
        chain=[LinkOut(account=link.account.name, model=link.model) for link in chain],
        tools=settings_of_agents.tools_of(row),
        documents=[name for name, _number in versions],
        managed_by=row.managed_by,
        created_at=row.created_at,
    )
    # A change of the agent may take over texts: whoever makes it has seen these versions.
    digest = hashlib.sha256(f"{out.model_dump_json()}{versions}".encode()).hexdigest()
    return out, f'"{digest[:32]}"'


def documents(agent: Agent) -> DocumentsOut:
    """Return an agent's documents by name, without their texts."""
    rows = shared(agent).defer("text").annotate(length=Length("text")).order_by("name")
    return DocumentsOut(items=[_without_text(agent, row, row.length) for row in rows])


def document(agent: Agent, row: AgentDocument) -> tuple[DocumentTextOut, str]:
    """Return a document with its text, and its ETag."""
    facts = _without_text(agent, row, len(row.text)).model_dump()
    return DocumentTextOut(**facts, text=row.text), tag_of(row)


def tag_of(row: AgentDocument) -> str:
    """Return the ETag of a document's newest version."""
    return f'"v{row.version_number}"'


def _without_text(agent: Agent, row: AgentDocument, characters: int) -> DocumentOut:
    return DocumentOut(
        id=f"{agent.public_id}/{row.name}",
        name=row.name,
        version=row.version_number,
        characters=characters,
        is_in_use=row.archived_at is None,
        updated_at=row.updated_at,
    )
