"""MEMORY.md and the other documents of every scope: each write a version, no fact twice."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from agents.core.tokens import estimate
from agents.core.viewer import Viewer
from agents.models import User
from memory import files, hooks
from memory.errors import DocumentChanged, DocumentTooLong
from memory.index import documents as index
from memory.models import MemoryDocument, MemoryDocumentVersion, WalEntry, scope_of
from memory.sameness import Said, fold, is_named, is_vague, key_of

# Five times what a prompt shows of it: what lies beyond is found by searching.
MOST_TOKENS: Final = 25_000
REASON_CHARACTERS: Final = 300

Home = Mapping[str, object]


def home_of(row: MemoryDocument | WalEntry) -> Home:
    """Return the columns of the scope in which a document or a fact lies."""
    return {
        "team_id": row.team_id,
        "scope": row.scope,
        "agent_id": row.agent_id,
        "person_id": row.person_id,
        "chat_id": row.chat_id,
    }


def append_fact(fact: str, *, viewer: Viewer, source: str, at: datetime) -> bool:
    """Add a fact to the MEMORY.md of the viewer's own scope; False where it stood there already.

    Raises:
        ValueError: The viewer owns no scope.
    """
    return bool(append_facts([fact], home=scope_of(viewer), source=source, at=at))


# The caller's transaction carries it: a savepoint would cost two round trips on the way of
# every message.
@transaction.atomic(savepoint=False)
def append_facts(facts: Sequence[str], *, home: Home, source: str, at: datetime) -> list[str]:
    """Add facts to a scope's MEMORY.md, in one version.

    The document stays locked until the transaction ends, so writers at the same time follow each
    other and none loses a line.

    Args:
        home: The scope's columns (``scope_of``).

    Returns:
        Those that were new: facts that differ in case, script, apostrophes or small words only
        are the same.
    """
    return replace_facts({}, facts, home=home, source=source, at=at)


@transaction.atomic(savepoint=False)
def replace_facts(
    old: Mapping[str, str], new: Sequence[str], *, home: Home, source: str, at: datetime
) -> list[str]:
    """Put facts into a scope's MEMORY.md in the place of others, in one version.

    Args:
        old: Facts that hold no longer, each with what takes its line's place; an empty text
            takes the line out.
        new: What is added besides.

    Returns:
        What of the new facts was not there.
    """
    document = lock(home)
    day = at.astimezone(UTC).date()
    kept = _exchanged(document.text, old, day)
    added = _not_among(new, kept)
    text = kept
    if added:
        start = kept.rstrip("\n") or f"{files.MEMORY_HEADING}\n"
        text = "\n".join([start, *(files.fact_line(fact, day) for fact in added)]) + "\n"
    if text == document.text:
        return added
    is_only_longer = kept == document.text and document.deleted_at is None
    first_line = len(text.splitlines()) - len(added) + 1
    _write(document, text, source=source, first_line=first_line if is_only_longer else None)
    return added


def _not_among(facts: Sequence[str], text: str) -> list[str]:
    """Return the facts that no line of a text says, each once."""
    wanted: dict[str, str] = {}
    for fact in facts:
        if key := key_of(fact):
            wanted.setdefault(key, fact)
    # Most facts have a word that is new; comparing line by line takes milliseconds.
    folded = fold(text)
    if not any(all(word in folded for word in key.split()) for key in wanted):
        return list(wanted.values())
    known = {key_of(said) for line in text.splitlines() if (said := files.fact_of(line))}
    return [fact for key, fact in wanted.items() if key not in known]


def _exchanged(text: str, old: Mapping[str, str], day: date) -> str:
    """Return a document with lines exchanged; what takes a place stands there once."""
    if not old:
        return text
    by_key = {key_of(fact): new for fact, new in old.items()}
    lines = text.splitlines(keepends=True)
    keys = [key_of(files.fact_of(line.rstrip("\n")) or "") for line in lines]
    standing = {key for key in keys if key not in by_key}
    kept = []
    for line, key in zip(lines, keys, strict=True):
        if not key or key not in by_key:
            kept.append(line)
            continue
        new = by_key[key]
        if new and key_of(new) not in standing:
            standing.add(key_of(new))
            kept.append(files.fact_line(new, day) + "\n")
    return "".join(kept)


@transaction.atomic
def replace(
    document_id: int,
    *,
    text: str,
    source: str,
    author: User | None = None,
    reason: str = "",
    seen_version: int | None = None,
    most_tokens: int = MOST_TOKENS,
) -> bool:
    """Give a memory document another text; False where it already said so.

    Args:
        author: Who changed it in the admin; None for the platform and the agent.
        seen_version: On which version the new text is based; None where that does not matter.
        most_tokens: What the whole document may have afterwards, however long it is now.

    Raises:
        MemoryDocument.DoesNotExist: There is no such document.
        DocumentChanged: It has another version by now.
        DocumentTooLong: The new text is longer than a document may be.
    """
    document = MemoryDocument.objects.select_for_update().get(pk=document_id)
    if seen_version is not None and document.version_number != seen_version:
        raise DocumentChanged(document.version_number)
    check_length(text, most_tokens)
    if document.text == text and document.deleted_at is None:
        return False
    _write(document, text, source=source, author=author, reason=reason)
    return True


@transaction.atomic
def restore(version: MemoryDocumentVersion, *, author: User) -> bool:
    """Make an earlier text the current one again, as a new version; the history stays.

    What was forgotten or replaced since does not come back with it.
    """
    reason = gettext("Restored version %(number)s") % {"number": version.number}
    return replace(
        version.document_id,
        text=_without_closed(version),
        source=f"user:{author.pk}",
        author=author,
        reason=reason,
    )


def of_scope(home: Home) -> QuerySet[MemoryDocument]:
    """Return the documents of one scope that were not deleted, by name."""
    return MemoryDocument.objects.filter(**home, deleted_at=None).order_by("name")


@transaction.atomic
def save(
    home: Home, name: str, text: str, *, source: str, most_tokens: int = MOST_TOKENS
) -> MemoryDocument:
    """Store a scope's document under a name, new or not.

    Raises:
        DocumentTooLong: The text is longer than a document may be.
    """
    check_length(text, most_tokens)
    document = lock(home, name)
    _write(document, text, source=source)
    return document


@transaction.atomic
def delete(document: MemoryDocument, *, source: str, reason: str = "") -> None:
    """Empty a document and list it no more; its versions stay."""
    locked = MemoryDocument.objects.select_for_update().get(pk=document.pk)
    _write(locked, "", source=source, reason=reason)
    MemoryDocument.objects.filter(pk=document.pk).update(deleted_at=timezone.now())


def take_out(fact: str, document: MemoryDocument, *, unless_in: Iterable[str], source: str) -> None:
    """Take a fact's lines out of a locked document, as a version.

    Args:
        unless_in: Facts that still hold: if this is one of them, it stays.
    """
    key = key_of(fact)
    if any(key_of(other) == key for other in unless_in):
        return
    text = _exchanged(document.text, {fact: ""}, date.min)
    if text != document.text:
        _write(document, text, source=source)


def take_out_named(
    forgotten: str, *, language: str, standing: Collection[str], home: Home, source: str
) -> list[str]:
    """Let a scope's documents lose the lines that a wish to forget names, whoever wrote them.

    Args:
        forgotten: What shall be forgotten, as it was said, in this language.
        standing: Keys of facts that still hold: their lines stay.

    Returns:
        Those of MEMORY.md, which its writer takes out.
    """
    lines: list[str] = []
    for document in of_scope(home):
        named = [
            fact
            for line in document.text.splitlines()
            if (fact := files.fact_of(line))
            and key_of(fact) not in standing
            and is_named(Said("", fact), forgotten=forgotten, language=language)
        ]
        if document.name == files.MEMORY:
            lines = named
        elif named:
            held = lock(home, document.name)
            _write(held, _exchanged(held.text, dict.fromkeys(named, ""), date.min), source=source)
    return lines


def _without_closed(version: MemoryDocumentVersion) -> str:
    """Return a version's text without the lines that held no longer after it."""
    rows = WalEntry.objects.filter(**home_of(version.document))
    holds = Q(retracted_at=None, superseded_at=None)
    live = {key_of(row.text) for row in rows.filter(holds).exclude(category="forget")}
    since = version.created_at
    closed = rows.filter(Q(retracted_at__gte=since) | Q(superseded_at__gte=since))
    gone = {key_of(row.text) for row in closed}
    wishes = rows.filter(category="forget", retracted_at=None, created_at__gte=since)
    asked = [wish for wish in wishes if not is_vague(wish.value)]
    out = {
        fact: ""
        for line in version.text.splitlines()
        if (fact := files.fact_of(line)) and key_of(fact) not in live
        if key_of(fact) in gone
        or any(
            is_named(Said("", fact), forgotten=wish.value, language=wish.language) for wish in asked
        )
    }
    return _exchanged(version.text, out, date.min)


def lock(home: Home, name: str = files.MEMORY) -> MemoryDocument:
    """Return a scope's document, locked until the transaction ends; made empty if missing."""
    own = MemoryDocument.objects.select_for_update().filter(**home, name=name)
    document = own.first()
    if document is None:
        # Somebody else may be making it right now; then theirs is taken once it is there.
        MemoryDocument.objects.bulk_create(
            [MemoryDocument(**home, name=name)], ignore_conflicts=True
        )
        document = own.get()
    return document


@contextmanager
def locked(home: Home, name: str) -> Iterator[MemoryDocument]:
    """Hold a scope's document while its next text is made from this one."""
    with transaction.atomic():
        yield lock(home, name)


def check_length(text: str, most_tokens: int = MOST_TOKENS) -> None:
    """Refuse a text that is too long, by what the document will be and not by what it gets.

    Raises:
        DocumentTooLong: It has more tokens.
    """
    tokens = estimate(text)
    if tokens > most_tokens:
        raise DocumentTooLong(tokens, most_tokens)


def _write(
    document: MemoryDocument,
    text: str,
    *,
    source: str,
    author: User | None = None,
    reason: str = "",
    first_line: int | None = None,
) -> None:
    """Keep a document's new text as its next version.

    Args:
        first_line: The number of the first new line, where it only got some at its end.
    """
    document.text = text
    document.version_number += 1
    document.deleted_at = None
    document.save(update_fields=["text", "version_number", "deleted_at", "updated_at"])
    MemoryDocumentVersion.objects.create(
        document=document,
        number=document.version_number,
        text=text,
        source=source[:200],
        author=author,
        reason=reason[:REASON_CHARACTERS],
    )
    if first_line is None:
        index.replace_memory_document(document)
    else:
        index.append_to_memory_document(document, first_line=first_line)
    hooks.written(text, f"document:{document.pk}")
