"""Tools about the conversation itself."""

import json

from pydantic import BaseModel

from agents.core.tooling import Tool, ToolContext
from agents.db import in_db
from agents.tools import registry
from sessions.models import ChatSession, Generation, TranscriptEntry


class NoArguments(BaseModel, extra="forbid"):
    """Takes nothing."""


async def _session_status(arguments: NoArguments, context: ToolContext) -> str:
    return await in_db(_status, int(context.session.removeprefix("session:")))


def _status(session_id: int) -> str:
    session = ChatSession.objects.select_related("agent", "account").get(pk=session_id)
    generation = Generation.objects.get(session=session, closed_at=None)
    link = session.agent.chain_links.order_by("position", "id").first()
    return json.dumps(
        {
            "session": session.key,
            "generation": generation.number,
            "started": generation.opened_at.isoformat(timespec="seconds"),
            "messages": TranscriptEntry.objects.filter(generation=generation)
            .exclude(role=TranscriptEntry.Role.TOOL)
            .count(),
            "model": link.model if link else None,
            "window_tokens": link.window_tokens if link else None,
            "context_tokens": generation.context_tokens,
            "tokens": {
                "input": generation.input_tokens,
                "cache_read": generation.cache_read_tokens,
                "cache_write": generation.cache_write_tokens,
                "output": generation.output_tokens,
            },
        }
    )


registry.register(
    Tool(
        name="session_status",
        description=(
            "Tells about this conversation: its model, how full the context window is, and the "
            "tokens used so far. Figures are as of the last finished turn."
        ),
        arguments=NoArguments,
        run=_session_status,
        safe_to_repeat=True,
        may_run_in_parallel=True,
    )
)
