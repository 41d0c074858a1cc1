"""One search for tools, turns, REST, the admin and the command: same ids, same order."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from agents.core.viewer import Viewer
from memory.index import scopes, terms
from memory.index.scopes import Shelves, Visible
from memory.index.terms import Query
from memory.models import Passage
from memory.search import outdated
from memory.search.asking import Asked
from memory.search.results import Result
from memory.search.weights import ALL, WORDS, Weights


@dataclass(frozen=True, slots=True)
class Profile:
    """How to rank: the weights with vectors and without, and whether to judge and merge.

    Evaluation measures parts of the search by other profiles.
    """

    with_meaning: Weights = field(default_factory=lambda: ALL)
    words_only: Weights = field(default_factory=lambda: WORDS)
    asks_embedder: bool = True
    is_judged: bool = True
    is_merged: bool = True


DEFAULT: Final = Profile()


@dataclass(frozen=True, slots=True)
class Begun:
    """A search whose query is being embedded.

    Args:
        asked: Its vector; None where nobody is asked for one.
    """

    viewer: Viewer
    sought: Query
    visible: Visible
    asked: Asked | None

    @property
    def is_idle(self) -> bool:
        """Return whether there is nothing to look for, or nowhere."""
        return not self.sought.text or not self.visible.passages


def search(
    viewer: Viewer,
    query: str,
    *,
    now: datetime,
    limit: int = 10,
    kinds: Collection[Passage.Kind] | None = None,
    notes_days: int | None = None,
    deadline_s: float | None = None,
    with_untrusted: bool = False,
    shelves: Shelves | None = None,
    profile: Profile = DEFAULT,
) -> Result:
    """Return what a viewer remembers that fits a query, the best first.

    Whatever contains the query as it stands, in any case, script and apostrophe, is found and
    comes first, as does what has an identifier that the query names. What came from outside is
    left out, and so is everything where nothing has to do with the query.

    Args:
        kinds: None for all.
        notes_days: What was said longer ago is left out; facts and documents are not.
        deadline_s: How long to wait for the query's vector; then words decide alone, and a note
            says so.
        with_untrusted: Also what came from outside.
        shelves: Where to look. By itself in memory; where ``kinds`` names documents, or
            untrusted texts are asked for, in the uploaded documents as well.
    """
    shelves = shelves or _shelves(kinds, with_untrusted)
    begun = begin(viewer, query, deadline_s=deadline_s, shelves=shelves, profile=profile)
    return finish(
        begun,
        now=now,
        limit=limit,
        kinds=kinds,
        notes_days=notes_days,
        with_untrusted=with_untrusted,
        profile=profile,
    )


def begin(
    viewer: Viewer,
    query: str,
    *,
    deadline_s: float | None = None,
    shelves: Shelves = Shelves.MEMORY,
    profile: Profile = DEFAULT,
) -> Begun:
    """Let a query be embedded while its caller does something else; ``finish`` searches.

    The arguments are those of ``search``; the deadline counts from here.
    """
    sought = terms.of_query(query)
    visible = scopes.visible(viewer, shelves)
    asked = None
    if sought.text and visible.passages and profile.asks_embedder:
        asked = Asked(visible, sought.text, team_id=viewer.team_id, deadline_s=deadline_s)
    return Begun(viewer, sought, visible, asked)


def finish(
    begun: Begun,
    *,
    now: datetime,
    limit: int = 10,
    kinds: Collection[Passage.Kind] | None = None,
    notes_days: int | None = None,
    with_untrusted: bool = False,
    profile: Profile = DEFAULT,
) -> Result:
    """Return what ``search`` returns, for a search that was begun."""
    visible = begun.visible
    if begun.is_idle:
        return Result()
    # Ranking works on arrays, which cost a process 16 MB: those that never search do without.
    from memory.search import ranking

    wanted = ranking.Wanted(
        kinds=kinds,
        since=now - timedelta(days=notes_days) if notes_days is not None else None,
        with_untrusted=with_untrusted,
        limit=limit,
    )
    result = ranking.rank(visible, begun.sought, begun.asked, wanted, profile)
    return replace(result, found=outdated.marked(result.found, begun.viewer, visible.scope_ids))


def _shelves(kinds: Collection[Passage.Kind] | None, with_untrusted: bool) -> Shelves:
    is_asked_for = kinds is not None and Passage.Kind.DOCUMENT in kinds
    return Shelves.BOTH if is_asked_for or with_untrusted else Shelves.MEMORY
