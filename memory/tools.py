"""Tools over memory; importing the module offers them. Their texts are for the model: English."""

import json
from typing import Final

from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from agents.core.tooling import Tool, ToolContext
from agents.db import in_db
from agents.tools.registry import register
from memory import document_tools, rag_tools, wal  # noqa: F401 - two offer their own
from memory.models import owns_scope
from memory.policy import keeps_memory, notes_days
from memory.search import search

# A turn waits: without the query's vector by then, words alone have to do.
DEADLINE_S: Final = 1.0


class MemorySearch(BaseModel):
    """Arguments of ``memory_search``."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        min_length=1, max_length=1000, description="Words of what is sought, in any order."
    )


class RememberFact(BaseModel):
    """Arguments of ``remember_fact``."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    fact: str = Field(
        min_length=1,
        max_length=300,
        description="One fact as a whole sentence that is understood without the conversation.",
    )


async def _memory_search(arguments: MemorySearch, context: ToolContext) -> str:
    days = await in_db(notes_days, context.viewer.agent_id)
    result = await in_db(
        search,
        context.viewer,
        arguments.query,
        now=timezone.now(),
        notes_days=days,
        deadline_s=DEADLINE_S,
    )
    return json.dumps([hit.as_json() for hit in result.found], ensure_ascii=False)


async def _remember_fact(arguments: RememberFact, context: ToolContext) -> str:
    if not owns_scope(context.viewer):
        return (
            "Not remembered: it is not known who speaks here, so there is nobody's memory to "
            "write to."
        )
    if not await in_db(keeps_memory, context.viewer.agent_id):
        return "Not remembered: this agent remembers nothing."
    if context.is_tainted:
        await in_db(
            wal.note_untrusted,
            arguments.fact,
            viewer=context.viewer,
            source=f"{context.turn} {context.call_id}",
            thread=context.session,
            at=timezone.now(),
        )
        return (
            "Kept aside: text from outside was read before, so somebody of the team has to look "
            "at it first."
        )
    is_new = await in_db(
        wal.note,
        arguments.fact,
        viewer=context.viewer,
        source=f"{context.turn} {context.call_id}",
        thread=context.session,
        at=timezone.now(),
    )
    return "Remembered." if is_new else "It was remembered before; nothing was added."


register(
    Tool(
        name="memory_search",
        description=(
            "Searches what is remembered, by word and by meaning, in any language: MEMORY.md, "
            "noted facts and what was said. Answers with a JSON list, the best first, each with "
            'file, line, content, source and time; one with "newer" was said before that other one '
            "and may be outdated. Use it before saying that something is not known."
        ),
        arguments=MemorySearch,
        run=_memory_search,
        safe_to_repeat=True,
        may_run_in_parallel=True,
    )
)
register(
    Tool(
        name="remember_fact",
        description=(
            "Writes one lasting fact into the long-term memory of the person you talk with, or of "
            "the group. Use it for what will matter in other conversations: preferences, names, "
            "decisions, recurring patterns. Never for passwords, keys or card numbers."
        ),
        arguments=RememberFact,
        run=_remember_fact,
    )
)
