"""Keeping what a model found in people's words: once, never against what they said themselves."""

from collections.abc import Iterable, Sequence

from django.db import transaction

from agents.core.viewer import Viewer
from memory import documents, entries, hooks, superseding, wal
from memory.detector.hits import DURABLE
from memory.documents import Home
from memory.extraction import MOST_KNOWN, Extracted, is_known
from memory.index import facts
from memory.models import Origin, Scope, WalEntry
from memory.policy import Policy, home_of
from memory.sameness import Said, is_named


def known(viewer: Viewer, policy: Policy) -> list[str]:
    """Return the newest facts of the scope into which this viewer's go, for the model to see.

    Raises:
        ValueError: The viewer owns no scope.
    """
    rows = superseding.live(home_of(viewer, policy)).filter(superseding.TRUSTED)
    rows = rows.exclude(category=WalEntry.Category.FORGET).order_by("-id")
    return list(rows.values_list("text", flat=True)[:MOST_KNOWN])


@transaction.atomic
def store(
    found: Iterable[Extracted], *, viewer: Viewer, policy: Policy, thread: str, source: str
) -> list[WalEntry]:
    """Keep facts, each with its message as its source, as noted by the model.

    What is known is counted where another message says it again. What its person has taken back,
    corrected or wished forgotten since they wrote it stays away. A model's fact closes none that a
    person told.

    Args:
        thread: The conversation's stretch, as text: ``session:3/1``.
        source: Why MEMORY.md has a new version: ``extraction:5``.

    Returns:
        The new entries.

    Raises:
        ValueError: The viewer owns no scope.
    """
    home = home_of(viewer, policy)
    wal.lock_scope(home)
    earlier = list(
        WalEntry.objects.filter(**home)
        .filter(superseding.TRUSTED)
        .order_by("-id")[: superseding.MOST_COMPARED]
    )
    stored: list[WalEntry] = []
    for fact in found:
        entry = _entry(fact, home, thread=thread)
        same = [other for other in earlier if _is_same(fact, entry, other)]
        if any(_is_gone_since(fact, entry, other) for other in earlier):
            continue
        if holding := [other for other in same if _holds(other)]:
            again = [other for other in holding[:1] if _is_said_again(fact, other)]
            wal.count_again(again, at=fact.line.at)
            continue
        entry.save(force_insert=True)
        hooks.written(entry.text, entry.source)
        stored.append(entry)
        earlier.append(entry)
    facts.add(stored)
    _write_down(stored, home, source=source)
    return stored


def _entry(fact: Extracted, home: Home, *, thread: str) -> WalEntry:
    entry = WalEntry(
        **home,
        category=fact.category,
        text=fact.text,
        value=fact.value[: wal.VALUE_CHARACTERS],
        is_negated=fact.is_negated,
        is_durable=fact.category in DURABLE,
        author_id=fact.line.author_id,
        origin=Origin.AGENT,
        source=fact.line.source,
        thread=thread,
        created_at=fact.line.at,
        last_said_at=fact.line.at,
        confidence=fact.confidence,
        evidence=fact.evidence,
    )
    entry.fingerprint = entries.fingerprint_of(entry)
    return entry


def _is_same(fact: Extracted, entry: WalEntry, other: WalEntry) -> bool:
    """Return whether a noted fact says as much, of the same person."""
    if other.category == WalEntry.Category.FORGET or not _is_of_same(entry, other):
        return False
    return entry.fingerprint == other.fingerprint or is_known(
        fact, said=f"{other.text} {other.value}", is_negated=other.is_negated
    )


def _is_gone_since(fact: Extracted, entry: WalEntry, other: WalEntry) -> bool:
    """Return whether this fact was taken back, corrected or wished away after it was written."""
    if not _is_of_same(entry, other):
        return False
    if other.category == WalEntry.Category.FORGET:
        is_later = other.created_at >= fact.line.at and other.retracted_at is None
        said = Said(entry.category, f"{entry.text} {entry.evidence}", entry.value)
        return is_later and is_named(said, forgotten=other.value)
    closed = [at for at in (other.retracted_at, other.superseded_at) if at is not None]
    return bool(closed) and max(closed) >= fact.line.at and _tells(fact, entry, other)


def _tells(fact: Extracted, entry: WalEntry, gone: WalEntry) -> bool:
    """Return whether a fact tells what a closed one told: its value, or all of its words."""
    if _is_same(fact, entry, gone):
        return True
    told = Said(entry.category, f"{entry.text} {entry.evidence}", entry.value)
    return is_named(told, forgotten=gone.value or gone.text)


def _is_of_same(entry: WalEntry, other: WalEntry) -> bool:
    return entry.scope == Scope.PERSON or entry.author_id == other.author_id


def _holds(entry: WalEntry) -> bool:
    return entry.retracted_at is None and entry.superseded_at is None


def _is_said_again(fact: Extracted, other: WalEntry) -> bool:
    said_at = other.last_said_at or other.created_at
    return other.source != fact.line.source and said_at < fact.line.at


def _write_down(stored: Sequence[WalEntry], home: Home, *, source: str) -> None:
    durable = [entry for entry in stored if entry.is_durable]
    if durable:
        texts = [entry.text for entry in durable]
        at = max(entry.created_at for entry in durable)
        documents.append_facts(texts, home=home, source=source, at=at)
