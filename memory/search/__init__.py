"""Search over what a viewer remembers, by word and by meaning."""

from memory.search.results import Found, Note, Result
from memory.search.searching import Begun, begin, finish, search

__all__ = ["Begun", "Found", "Note", "Result", "begin", "finish", "search"]
