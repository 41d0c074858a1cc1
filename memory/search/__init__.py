"""Search over what a viewer remembers, by word and by meaning."""

from memory.search.results import Found, Note, Result
from memory.search.searching import search

__all__ = ["Found", "Note", "Result", "search"]
