"""What is remembered of two people who turned out to be one."""

from django.db import transaction
from django.utils import timezone

from agents.core.viewer import Viewer
from memory import documents, files, uploads
from memory.index import moving, writing
from memory.models import DailyNote, MemoryDocument, Scope, WalEntry, scope_of


@transaction.atomic
def move(person_id: int, *, into_id: int) -> None:
    """Give what is kept of one person to another of the same team.

    Facts, notes and uploaded documents change hands as they are, and with them what is found by
    searching. A memory document does too, unless the other person has that one for the same
    agent: then the facts that it lacks are added to it.
    """
    own = {"scope": Scope.PERSON, "person_id": person_id}
    WalEntry.objects.filter(**own).update(person_id=into_id)
    DailyNote.objects.filter(**own).update(person_id=into_id)
    uploads.move(person_id, into_id=into_id)
    moving.move_person(person_id, into_id=into_id)
    for document in MemoryDocument.objects.select_for_update().filter(**own):
        theirs = MemoryDocument.objects.filter(
            scope=Scope.PERSON,
            person_id=into_id,
            agent=document.agent,
            name=document.name,
        )
        if theirs.exists():
            _hide(document, into_id)
            _add(document, into_id)
        else:
            document.person_id = into_id
            document.save(update_fields=["person"])


def _hide(document: MemoryDocument, into_id: int) -> None:
    """Let the lines be found where they stand from now on, and nowhere else."""
    home = {
        "team_id": document.team_id,
        "scope": Scope.PERSON,
        "agent_id": document.agent_id,
        "person_id": into_id,
    }
    writing.hide([f"memory:{document.pk}"], home=home)


def _add(document: MemoryDocument, into_id: int) -> None:
    facts = [fact for line in document.text.splitlines() if (fact := files.fact_of(line))]
    if document.agent_id is None or document.name != files.MEMORY or not facts:
        return
    viewer = Viewer(
        team_id=document.team_id,
        agent_id=document.agent_id,
        person_id=into_id,
        chat_id=None,
        is_private=True,
    )
    documents.append_facts(
        facts,
        home=scope_of(viewer),
        source=f"merged:person:{document.person_id}",
        at=timezone.now(),
    )
