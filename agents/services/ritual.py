"""The first conversation: an agent's BOOTSTRAP.md is followed once, by one conversation.

While the document exists and is not archived, the first private conversation takes it. The row
in ``BootstrapRitual`` says whose it is; all others go on as if there were no BOOTSTRAP.md.
"""

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from agents import sql
from agents.models import AgentDocument, BootstrapRitual

DOCUMENT: Final = "BOOTSTRAP.md"
# Granted for as long as the ritual lasts, whatever else the agent may use.
TOOLS: Final = ("finish_bootstrap", "propose_document", "update_user_document")
MOST_TURNS: Final = 10
# A first conversation to which nobody came back.
ABANDONED_AFTER: Final = timedelta(days=7)

# By hand, as they run in the transaction that claims a turn.
_RUNNING = "SELECT session, turns, started_at FROM agents_bootstrapritual WHERE agent_id = %s"
_BEGIN = """
    INSERT INTO agents_bootstrapritual (agent_id, session, person_id, started_at, turns)
    VALUES (%s, %s, %s, %s, 1) ON CONFLICT (agent_id) DO NOTHING
"""
_COUNT = "UPDATE agents_bootstrapritual SET turns = turns + 1 WHERE agent_id = %s AND session = %s"


def follow(agent_id: int, *, session: str, person_id: int, now: datetime) -> bool:
    """Return whether a turn of a private conversation follows BOOTSTRAP.md, and count it.

    The first conversation to ask has it, for ten turns at most; of two that ask at once, one.
    Afterwards, or when nobody came back to it for a week, the document is archived.

    Call it where the turn's prompt is decided, in that transaction: so a turn that is tried again
    is counted once. Call it only where BOOTSTRAP.md is there and not archived.

    Args:
        session: The conversation as text, ``session:3``.
    """
    running = sql.fetch(_RUNNING, [agent_id])
    if not running:
        return sql.execute(_BEGIN, [agent_id, session, person_id, now]) == 1
    ((owner, turns, started_at),) = running
    if owner == session and turns < MOST_TURNS:
        return sql.execute(_COUNT, [agent_id, session]) == 1
    if owner == session or started_at < now - ABANDONED_AFTER:
        _archive(agent_id, now)
    return False


def finish(agent_id: int, *, session: str) -> bool:
    """Archive BOOTSTRAP.md where this conversation follows it; repeating it does no harm.

    Returns:
        False where the agent's first conversation is another one, or none.
    """
    if not BootstrapRitual.objects.filter(agent_id=agent_id, session=session).exists():
        return False
    _archive(agent_id, timezone.now())
    return True


def _archive(agent_id: int, now: datetime) -> None:
    rows = AgentDocument.objects.filter(agent_id=agent_id, name=DOCUMENT, archived_at=None)
    rows.update(archived_at=now)
