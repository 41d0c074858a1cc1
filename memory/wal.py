"""The log of facts, written with the message and before anybody answers it."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents.core.viewer import Viewer
from memory import detector, documents, files
from memory.models import Origin, WalEntry, owns_scope, scope_of


def append(
    text: str,
    *,
    viewer: Viewer,
    source: str,
    thread: str,
    author_id: int | None,
    at: datetime,
) -> list[WalEntry]:
    """Note what a message says that is worth keeping, in the viewer's own scope.

    Durable facts go to that scope's MEMORY.md at once. It runs in the caller's transaction and
    asks the database nothing where nothing is found. Called again for a source it gives the
    entries of the first call.

    Args:
        source: What is read, as text: ``message:12``.
        thread: The conversation's stretch, as text: ``session:3/1``.

    Returns:
        The entries in the message's order; none for a viewer without a scope of their own.
    """
    if not owns_scope(viewer):
        return []
    hits = detector.scan(text)
    if not hits:
        return []
    entries = [
        WalEntry(
            **scope_of(viewer),
            category=hit.category,
            text=hit.text,
            is_durable=hit.is_durable,
            author_id=author_id,
            origin=Origin.PERSON,
            source=source,
            thread=thread,
            created_at=at,
        )
        for hit in hits
    ]
    return _store(entries, viewer=viewer, source=source, at=at)


@transaction.atomic
def note(fact: str, *, viewer: Viewer, source: str, thread: str, at: datetime) -> bool:
    """Keep a fact that the agent found worth keeping, secrets masked; once a source.

    Returns:
        False where it stood in the scope's MEMORY.md already.

    Raises:
        ValueError: The viewer owns no scope.
    """
    if WalEntry.objects.filter(source=source).exists():
        return False
    text = files.one_line(detector.mask_secrets(fact))
    WalEntry.objects.create(
        **scope_of(viewer),
        category=WalEntry.Category.REMEMBER,
        text=text,
        is_durable=True,
        origin=Origin.AGENT,
        source=source,
        thread=thread,
        created_at=at,
    )
    return documents.append_fact(text, viewer=viewer, source=source, at=at)


@transaction.atomic
def retract(message_ref: str, text: str, viewer: Viewer) -> bool:
    """Take back a sentence that was noted from a message: nobody is told of it any more.

    Only whoever wrote the message can. The rows stay, marked; MEMORY.md loses its line, unless
    something else that still holds says the same. Called again it changes nothing.

    Args:
        message_ref: The message, as text: ``message:12``.
        text: The sentence as it was noted.

    Returns:
        False where this person's message has no such sentence that still holds.
    """
    if not owns_scope(viewer) or viewer.person_id is None:
        return False
    document = documents.lock(viewer)
    scope = scope_of(viewer)
    live = WalEntry.objects.filter(**scope, retracted_at=None)
    said = live.filter(source=message_ref, author_id=viewer.person_id, text=text)
    was_durable = said.filter(is_durable=True).exists()
    if not said.update(retracted_at=timezone.now()):
        return False
    if was_durable:
        others = live.filter(is_durable=True).values_list("text", flat=True)
        documents.take_out(text, document, unless_in=others, source=f"undo:{message_ref}")
    return True


@transaction.atomic(savepoint=False)
def _store(entries: list[WalEntry], *, viewer: Viewer, source: str, at: datetime) -> list[WalEntry]:
    earlier = list(WalEntry.objects.filter(source=source).order_by("id"))
    if earlier:
        return earlier
    stored = WalEntry.objects.bulk_create(entries)
    durable = [entry.text for entry in stored if entry.is_durable]
    if durable:
        documents.append_facts(durable, viewer=viewer, source=source, at=at)
    return stored
