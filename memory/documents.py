"""MEMORY.md of every scope: each write a version, and no fact written twice."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.db import transaction

from agents.core.viewer import Viewer
from memory import files
from memory.detector import straighten
from memory.models import MemoryDocument, MemoryDocumentVersion, scope_of


def append_fact(fact: str, *, viewer: Viewer, source: str, at: datetime) -> bool:
    """Add a fact to the MEMORY.md of the viewer's own scope; False where it stood there already.

    Raises:
        ValueError: The viewer owns no scope.
    """
    return bool(append_facts([fact], viewer=viewer, source=source, at=at))


# The caller's transaction carries it: a savepoint would cost two round trips on the way of
# every message.
@transaction.atomic(savepoint=False)
def append_facts(facts: Sequence[str], *, viewer: Viewer, source: str, at: datetime) -> list[str]:
    """Add facts to the MEMORY.md of the viewer's own scope, in one version.

    The document stays locked until the transaction ends, so writers at the same time follow each
    other and none loses a line.

    Returns:
        Those that were new: facts that differ in case, white space or the kind of apostrophe only
        are the same.

    Raises:
        ValueError: The viewer owns no scope.
    """
    document = lock(viewer)
    known = {_key(fact) for line in document.text.splitlines() if (fact := files.fact_of(line))}
    new: dict[str, str] = {}
    for fact in facts:
        if _key(fact) not in known and _key(fact):
            new.setdefault(_key(fact), fact)
    if new:
        day = at.astimezone(UTC).date()
        text = document.text.rstrip("\n") or f"{files.MEMORY_HEADING}\n"
        lines = [text, *(files.fact_line(fact, day) for fact in new.values())]
        _write(document, "\n".join(lines) + "\n", source=source)
    return list(new.values())


@transaction.atomic
def replace(document_id: int, *, text: str, source: str) -> bool:
    """Give a memory document another text; False where it already said so.

    Raises:
        MemoryDocument.DoesNotExist: There is no such document.
    """
    document = MemoryDocument.objects.select_for_update().get(pk=document_id)
    if document.text == text:
        return False
    _write(document, text, source=source)
    return True


def take_out(fact: str, document: MemoryDocument, *, unless_in: Iterable[str], source: str) -> None:
    """Take a fact's lines out of a locked document, as a version.

    Args:
        unless_in: Facts that still hold: if this is one of them, it stays.
    """
    key = _key(fact)
    if any(_key(other) == key for other in unless_in):
        return
    lines = document.text.splitlines(keepends=True)
    kept = [line for line in lines if _key(files.fact_of(line.rstrip("\n")) or "") != key]
    if len(kept) != len(lines):
        _write(document, "".join(kept), source=source)


def lock(viewer: Viewer) -> MemoryDocument:
    """Return the MEMORY.md of the viewer's own scope, locked until the transaction ends.

    It is made empty where it was missing.

    Raises:
        ValueError: The viewer owns no scope.
    """
    scope = scope_of(viewer)
    own = MemoryDocument.objects.select_for_update().filter(**scope, name=files.MEMORY)
    document = own.first()
    if document is None:
        # Somebody else may be making it right now; then theirs is taken once it is there.
        MemoryDocument.objects.bulk_create(
            [MemoryDocument(**scope, name=files.MEMORY)], ignore_conflicts=True
        )
        document = own.get()
    return document


def _write(document: MemoryDocument, text: str, *, source: str) -> None:
    document.text = text
    document.version_number += 1
    document.save(update_fields=["text", "version_number", "updated_at"])
    MemoryDocumentVersion.objects.create(
        document=document, number=document.version_number, text=text, source=source
    )


def _key(fact: str) -> str:
    return straighten(files.one_line(fact)).casefold()
