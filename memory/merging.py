"""What is remembered of two people who turned out to be one."""

from itertools import count
from typing import Final

from django.db import transaction
from django.utils import timezone

from agents.core.viewer import Viewer
from memory import documents, files, uploads
from memory.entries import fingerprint_of
from memory.index import documents as index
from memory.index import moving, writing
from memory.models import DailyNote, MemoryDocument, Scope, WalEntry, scope_of

# What a document's name holds.
NAME_CHARACTERS: Final = 100


@transaction.atomic
def move(person_id: int, *, into_id: int) -> None:
    """Give what is kept of one person to another of the same team.

    Facts, notes and uploaded documents change hands as they are, and with them what is found by
    searching; what the one said elsewhere, as in a group, counts as the other's words. A memory
    document changes hands too. Where the other person has that one for the same agent, it gets
    another name; only of MEMORY.md, which there is once, the facts are added to theirs.
    """
    own = {"scope": Scope.PERSON, "person_id": person_id}
    WalEntry.objects.filter(**own).update(person_id=into_id)
    _give_words(person_id, into_id)
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
        if not theirs.exists():
            document.person_id = into_id
            document.save(update_fields=["person"])
        elif document.name == files.MEMORY:
            _hide(document, into_id)
            _add(document, into_id)
        else:
            document.name = _free_name(document, into_id)
            document.person_id = into_id
            document.save(update_fields=["name", "person"])
            index.replace_memory_document(document)


def _give_words(person_id: int, into_id: int) -> None:
    """Let facts be another's words; where several people speak, that is part of what they are."""
    said = WalEntry.objects.filter(author_id=person_id)
    elsewhere = list(said.exclude(scope=Scope.PERSON))
    said.update(author_id=into_id)
    for entry in elsewhere:
        entry.author_id = into_id
        entry.fingerprint = fingerprint_of(entry)
    WalEntry.objects.bulk_update(elsewhere, ["fingerprint"], batch_size=500)


def _free_name(document: MemoryDocument, into_id: int) -> str:
    """Return a name that the other person has no document of: ``memory/plan-2.md``."""
    taken = set(
        MemoryDocument.objects.filter(
            scope=Scope.PERSON, person_id__in=(into_id, document.person_id), agent=document.agent
        ).values_list("name", flat=True)
    )
    stem, dot, ending = document.name.rpartition(".")
    for number in count(2):
        tail = f"-{number}{dot}{ending}"
        name = f"{(stem or document.name)[: NAME_CHARACTERS - len(tail)]}{tail}"
        if name not in taken:
            return name
    raise AssertionError("numbers do not end")


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
    if document.agent_id is None or not facts:
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
