"""USER.md: what one agent knows about one person, written by the agent itself."""

from typing import Final

from django.db import transaction
from django.utils.translation import gettext

from agents.models import AgentDocument
from agents.services import documents

NAME: Final = "USER.md"
MOST_CHARACTERS: Final = 4_000


@transaction.atomic
def write(*, agent_id: int, person_id: int, text: str, source: str) -> bool:
    """Give a person's USER.md a new text, as a version; False where it said so already.

    Args:
        text: Without secrets; the caller masks them.
        source: In which turn the agent wrote it, ``turn:81``.
    """
    document, _ = AgentDocument.objects.get_or_create(
        agent_id=agent_id, name=NAME, person_id=person_id
    )
    reason = gettext("Written by the agent, %(source)s") % {"source": source}
    # A model may send what PostgreSQL's text does not hold.
    clean = text.replace("\x00", "")
    return documents.save(document, text=clean, author=None, reason=reason) is not None
