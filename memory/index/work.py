"""What is done for the index behind everybody's back, in small steps.

Terms come first, as they make a text be found; vectors wait while turns run, though not for ever.
Any number of workers may call `step`: each takes rows that no other one has.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from agents.core.viewer import Viewer
from memory.index import postings, rebuilding, scopes, vectors

TERMS: Final = 200
# While turns run, so many at once, which take 10 ms: a text is found within two seconds.
TERMS_BESIDE_TURNS: Final = 25
# A vector takes one core for 26 ms. While turns run, one comes at a time, and for so many times as
# long as it took none: a busy machine makes fewer.
VECTORS: Final = 8
REST: Final = 9
TENDED_EVERY_S: Final = 3.0


@dataclass(slots=True)
class IndexWork:
    """One process's share of the work.

    Args:
        clock: Seconds that only go forward.
    """

    clock: Callable[[], float] = time.monotonic
    _rests_until: float = field(default=-1e9)
    _tended_at: float = field(default=-1e9)

    def step(self, *, is_busy: bool) -> bool:
        """Do one step; return whether there may be more to do at once.

        Args:
            is_busy: Turns run, and must not be slowed.
        """
        limit = TERMS_BESIDE_TURNS if is_busy else TERMS
        if postings.index_waiting(limit):
            return True
        began = self.clock()
        if is_busy and began < self._rests_until:
            return False
        step = vectors.embed_waiting(1 if is_busy else VECTORS)
        ended = self.clock()
        self._rests_until = ended + REST * (ended - began)
        return bool(step.done) and not is_busy

    def tend(self, *, is_busy: bool) -> bool:
        """Remove what is gone, join what is loose, build what is asked for; True if more waits."""
        if self.clock() - self._tended_at < TENDED_EVERY_S:
            return False
        is_more = bool(postings.remove_hidden()) or postings.join_fresh() or postings.join_loose()
        if not is_busy:
            is_more = rebuilding.advance() or bool(vectors.index_spaces()) or is_more
        if not is_more:
            self._tended_at = self.clock()
        return is_more


def catch_up(viewer: Viewer) -> None:
    """Let what a viewer's memory got last be found by its words at once, not seconds later."""
    postings.index_newest(scopes.visible(viewer).scope_ids, TERMS_BESIDE_TURNS)


def finish(team_id: int | None = None) -> None:
    """Do all there is to do, in the caller's thread: for commands and measurements.

    Vectors that could not be made stay for later.
    """
    while postings.index_waiting(1_000):
        pass
    while vectors.embed_waiting().done:
        pass
    while postings.join_fresh() or postings.join_loose():
        pass
