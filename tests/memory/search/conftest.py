"""The corner of the index's tests, and a search that waits for the query's vector."""

from tests.memory.index.conftest import Corner, corner

__all__ = ["Corner", "corner"]
