"""Each exchange in full: what a person said and what the agent answered, as passages."""

from collections.abc import Mapping
from datetime import datetime

from memory.detector import mask_secrets
from memory.index import writing
from memory.index.writing import Text
from memory.models import Origin, Passage


def add(
    *,
    home: Mapping[str, object],
    said: str,
    answer: str,
    author_id: int | None,
    author_name: str,
    agent_name: str,
    at: datetime,
    file: str,
    source: str,
    thread: str,
) -> None:
    """Let an exchange be found, secrets masked; once a source, in the caller's transaction.

    Args:
        home: The columns of the scope in which it happened.
        at: When it was answered.
        file: Where it is noted, as it is shown: ``memory/2026-12-01.md``.
        source: The turn, as text: ``turn:81``.
        thread: The conversation's stretch, as text: ``session:3/1``.
    """
    parts = [
        Text(mask_secrets(said), at, Origin.PERSON, author_id, author_name, file),
        Text(mask_secrets(answer), at, Origin.AGENT, None, agent_name, file),
    ]
    writing.add(parts, home=home, kind=Passage.Kind.EXCHANGE, source=source, thread=thread)
