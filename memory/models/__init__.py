"""Rows of what an agent keeps. Each belongs to one scope, and every read names its viewer."""

from memory.models.documents import MemoryDocument, MemoryDocumentVersion
from memory.models.facts import WalEntry
from memory.models.index import (
    EmbeddingSpace,
    FreshTerms,
    IndexVersion,
    MemoryScope,
    MemorySettings,
    MemoryThread,
    Passage,
    PassageVector,
    Posting,
)
from memory.models.notes import DailyNote
from memory.models.proposals import MemoryProposal
from memory.models.scopes import (
    VISIBLE_SQL,
    Origin,
    Scope,
    ScopedModel,
    ScopedQuerySet,
    owns_scope,
    scope_of,
    visible_values,
)
from memory.models.uploads import UploadedDocument

__all__ = [
    "VISIBLE_SQL",
    "DailyNote",
    "EmbeddingSpace",
    "FreshTerms",
    "IndexVersion",
    "MemoryDocument",
    "MemoryDocumentVersion",
    "MemoryProposal",
    "MemoryScope",
    "MemorySettings",
    "MemoryThread",
    "Origin",
    "Passage",
    "PassageVector",
    "Posting",
    "Scope",
    "ScopedModel",
    "ScopedQuerySet",
    "UploadedDocument",
    "WalEntry",
    "owns_scope",
    "scope_of",
    "visible_values",
]
