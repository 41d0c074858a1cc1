"""A noted fact's row as it is compared."""

from memory.models import Scope, WalEntry
from memory.sameness import Said, fingerprint


def said(entry: WalEntry) -> Said:
    """Return a fact as it is compared."""
    return Said(entry.category, entry.text, entry.value, entry.is_negated, entry.language)


def fingerprint_of(entry: WalEntry, *, is_negated: bool | None = None) -> str:
    """Return the mark of a fact; where several people speak, each says their own."""
    author_id = None if entry.scope == Scope.PERSON else entry.author_id
    return fingerprint(said(entry), author_id=author_id, is_negated=is_negated)
