"""What agents keep, in the admin: facts, documents, notes, the search and its index."""

from memory.admin import documents, facts, index, notes, proposals, searching, uploads

__all__ = ["documents", "facts", "index", "notes", "proposals", "searching", "uploads"]
