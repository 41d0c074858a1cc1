"""Each exchange in full: what a person said and what the agent answered, as passages."""

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from agents import sql
from agents.core.viewer import Viewer
from memory import files
from memory.detector import mask_secrets
from memory.index import writing
from memory.index.writing import Text
from memory.models import Origin, Passage, owns_scope, scope_of

_NAMES: Final = """
    SELECT coalesce((SELECT display_name FROM agents_person WHERE id = %s), ''),
        coalesce((SELECT name FROM agents_agent WHERE id = %s), '')
"""


def add(
    *,
    viewer: Viewer,
    said: str,
    answer: str,
    at: datetime,
    time_zone: str,
    source: str,
    thread: str,
    is_tainted: bool = False,
) -> None:
    """Let an exchange be found, secrets masked; once a source, in the caller's transaction.

    Nothing is kept for a viewer without a scope of their own.

    Args:
        at: When it was answered.
        time_zone: IANA name; the exchange is noted under the day that it is there.
        source: The turn, as text: ``turn:81``.
        thread: The conversation's stretch, as text: ``session:3/1``.
        is_tainted: Text from outside was read before it was answered, which the answer may repeat:
            the answer is marked as untrusted. What the person said is theirs all the same.
    """
    if not owns_scope(viewer):
        return
    ((author_name, agent_name),) = sql.fetch(_NAMES, [viewer.person_id, viewer.agent_id])
    file = files.note_file(at.astimezone(ZoneInfo(time_zone)).date())
    parts = [
        Text(mask_secrets(said), at, Origin.PERSON, viewer.person_id, author_name, file),
        Text(
            mask_secrets(answer),
            at,
            Origin.UNTRUSTED if is_tainted else Origin.AGENT,
            None,
            agent_name,
            file,
        ),
    ]
    writing.add(
        parts,
        home=scope_of(viewer),
        kind=Passage.Kind.EXCHANGE,
        source=source,
        thread=thread,
    )
