"""The vector of a query, in time or not at all."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from functools import partial
from typing import Final

from agents.core.embedding import Embedded, NoEmbedder, TooSlow
from agents.core.errors import AgentError
from memory.index import embedders, versions
from memory.index.embedders import Open
from memory.index.scopes import Visible
from memory.search.results import Note

# Requests of several turns wait beside each other; the built-in model takes one at a time.
_threads: Final = ThreadPoolExecutor(4, thread_name_prefix="query-vector")
# Vectors of the last queries: the same question is asked by a turn and by its tools.
_KEPT: Final = 256
_vectors: dict[tuple[str, str], Sequence[float]] = {}
# Nobody waits longer for an account that does not answer.
LONGEST_WAIT_S: Final = 10.0


class Asked:
    """A query that is being embedded while the database searches its words.

    Args:
        deadline_s: How long to wait for its vector, counted from now; None for as long as anybody
            waits.
    """

    def __init__(self, visible: Visible, text: str, *, team_id: int, deadline_s: float | None):
        self._deadline_s = LONGEST_WAIT_S if deadline_s is None else deadline_s
        self._until = time.monotonic() + self._deadline_s
        self._team_id = team_id
        self._note: Note | None = None
        self._vector: Sequence[float] | None = None
        self._waiting: Future[Embedded] | None = None
        space = visible.space
        if not visible.passages:
            return
        if space is None:
            self._note = Note.NO_EMBEDDER
            return
        if not visible.vectors:
            self._note = Note.VECTORS_MISSING
            return
        self._key = (space.identity, text)
        self._vector = _vectors.get(self._key)
        if self._vector is None:
            self._begin(space.identity, text)

    def vector(self) -> tuple[Sequence[float] | None, Note | None]:
        """Return the query's vector, or why there is none."""
        if self._waiting is None:
            return self._vector, self._note
        try:
            embedded = self._waiting.result(max(self._until - time.monotonic(), 0.0))
        except (TooSlow, NotInTime):
            self._waiting.cancel()
            return None, Note.TOO_SLOW
        except NoEmbedder:
            return None, Note.NO_EMBEDDER
        except AgentError:
            return None, Note.EMBEDDER_FAILED
        embedders.charge(
            self._opened, embedded, team_id=self._team_id, origin=f"team:{self._team_id}"
        )
        vector = embedded.vectors[0]
        keep(*self._key, vector)
        return vector, None

    def _begin(self, identity: str, text: str) -> None:
        try:
            opened = _opened(identity, self._team_id)
        except AgentError:
            self._note = Note.EMBEDDER_FAILED
            return
        if opened is None:
            self._note = Note.OTHER_MODEL
            return
        self._opened = opened
        query = partial(opened.embedder.query, text, deadline_s=self._deadline_s)
        self._waiting = _threads.submit(query)


def keep(identity: str, text: str, vector: Sequence[float]) -> None:
    """Keep a query's vector, so that it need not be asked for soon."""
    if len(_vectors) >= _KEPT:
        _vectors.clear()
    _vectors[identity, text] = vector


def _opened(identity: str, team_id: int) -> Open | None:
    """Return who embeds in a space; None where the settings ask for another model by now."""
    settings = versions.settings_of(team_id)
    if embedders.identity_of(settings) != identity:
        return None
    return embedders.open_embedder(settings)


def forget() -> None:
    """Forget the vectors of earlier queries."""
    _vectors.clear()
