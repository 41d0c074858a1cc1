"""A tool with which an agent says what it looked up in memory by itself."""

import json

from pydantic import BaseModel

from agents.core.tooling import Tool, ToolContext
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.tools import registry
from memory import recall
from sessions.models import Turn

MOST_TURNS = 5


class NoArguments(BaseModel, extra="forbid"):
    """Takes nothing."""


async def _memory_recalled(arguments: NoArguments, context: ToolContext) -> str:
    session_id = int(context.session.removeprefix("session:"))
    return await in_db(_recalled, session_id, context.viewer)


def _recalled(session_id: int, viewer: Viewer) -> str:
    """Return the newest turns' recalls of this conversation, this turn's first."""
    turns = Turn.objects.filter(session=session_id).order_by("-id")[:MOST_TURNS]
    told = []
    for turn in turns:
        stored = recall.stored_in(turn.manifest)
        told.append(
            {
                "asked_at": turn.accepted_at.isoformat(timespec="seconds"),
                "recalled": [
                    {
                        "content": shown.text if shown.text is not None else "(forgotten since)",
                        "file": shown.item.file,
                        "line": shown.item.line,
                        "at": shown.item.at.isoformat() if shown.item.at else None,
                        "score": shown.item.score,
                        "why": shown.item.why,
                    }
                    for shown in recall.with_words(stored.items, viewer)
                ],
            }
        )
    return json.dumps(told, ensure_ascii=False)


registry.register(
    Tool(
        name="memory_recalled",
        description=(
            "Tells what was looked up in memory by itself for this message and the last ones of "
            "this conversation, with where it stands and why it was chosen. Use it when somebody "
            "asks what you recalled."
        ),
        arguments=NoArguments,
        run=_memory_recalled,
        safe_to_repeat=True,
        may_run_in_parallel=True,
    )
)
