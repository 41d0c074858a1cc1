"""One search for tools, turns, REST, the admin and the command: same ids, same order."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from agents.core.viewer import Viewer
from memory.index import scopes, terms
from memory.index.languages import Language, language_of
from memory.index.legs import Row
from memory.index.scopes import Shelves, Visible
from memory.index.terms import Query
from memory.models import Origin, Passage
from memory.search import background, pairs
from memory.search.asking import Asked
from memory.search.background import Background
from memory.search.candidates import Pool, gather
from memory.search.features import Candidate
from memory.search.grouping import Item, merge, newest_first
from memory.search.relevance import Evidence
from memory.search.results import Found, Note, Result
from memory.search.weights import ALL, WORDS, Weights
from memory.search.wording import (
    content_words,
    coverage,
    is_other_language,
    is_same_wording,
)

# Before passages that say the same are merged, so many more than are asked for are looked at.
SPARE: Final = 10
# Among so many of the best one must have to do with the query, or nothing has.
JUDGED: Final = 10


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
class _Sought:
    query: Query
    words: tuple[str, ...]
    languages: frozenset[Language]
    background: Background | None


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
    sought = terms.of_query(query)
    visible = scopes.visible(viewer, shelves or _shelves(kinds, with_untrusted))
    if not sought.text or not visible.passages:
        return Result()
    about, notes = _meaning(visible, sought, viewer, deadline_s, profile)
    vector, facts = about
    weights = profile.words_only if vector is None else profile.with_meaning
    pool = gather(visible, sought, vector, weights)
    since = now - timedelta(days=notes_days) if notes_days is not None else None
    ranked = [
        candidate
        for candidate in pool.readable()
        if _is_wanted(pool.rows[candidate.id], kinds, since, with_untrusted)
    ]
    ranked.sort(key=lambda one: (one.is_exact, one.score(weights), _newest(pool, one)))
    ranked.reverse()
    relevance = {one.id: _relevance(one, pool, facts) for one in ranked[: limit + SPARE]}
    if profile.is_judged and not _is_any(ranked, relevance):
        nothing = (Note.NOTHING_RELEVANT,) if ranked else ()
        return Result(notes=(*notes, *nothing))
    best = [_item(one, pool.rows[one.id], relevance[one.id]) for one in ranked[: limit + SPARE]]
    shown = _shown(best, visible, facts, profile)[:limit]
    by_id = {candidate.id: candidate for candidate in ranked}
    found = [_found(item, by_id[item.id], pool, weights, relevance[item.id]) for item in shown]
    return Result(found, notes)


def _meaning(
    visible: Visible, sought: Query, viewer: Viewer, deadline_s: float | None, profile: Profile
) -> tuple[tuple[Sequence[float] | None, _Sought], tuple[Note, ...]]:
    """Return the vector to search by, with what is known of the query, and what is to be said."""
    vector, note = None, None
    if profile.asks_embedder:
        asked = Asked(visible, sought.text, team_id=viewer.team_id, deadline_s=deadline_s)
        vector, note = asked.vector()
    notes = [note] if note else []
    if vector is not None and visible.vectors < visible.passages:
        notes.append(Note.VECTORS_MISSING)
    usual = background.of(visible.space.identity) if vector and visible.space else None
    languages = {language_of(sought.text)}
    if usual is not None and vector is not None:
        vector, nearest = usual.about(vector)
        languages.add(nearest)
    facts = _Sought(sought, content_words(sought.text), frozenset(languages), usual)
    return (vector, facts), tuple(notes)


def _shelves(kinds: Collection[Passage.Kind] | None, with_untrusted: bool) -> Shelves:
    is_asked_for = kinds is not None and Passage.Kind.DOCUMENT in kinds
    return Shelves.BOTH if is_asked_for or with_untrusted else Shelves.MEMORY


def _is_wanted(
    row: Row,
    kinds: Collection[Passage.Kind] | None,
    since: datetime | None,
    with_untrusted: bool,
) -> bool:
    # Who asks for documents by name wants the uploaded ones, for which nobody vouches.
    is_asked_for = kinds is not None and row.kind == Passage.Kind.DOCUMENT
    if row.origin == Origin.UNTRUSTED and not (with_untrusted or is_asked_for):
        return False
    if kinds is not None and row.kind not in kinds:
        return False
    is_old = since is not None and row.occurred_at < since
    return not (is_old and row.kind == Passage.Kind.EXCHANGE)


def _newest(pool: Pool, candidate: Candidate) -> tuple[datetime, int]:
    return pool.rows[candidate.id].occurred_at, candidate.id


def _relevance(candidate: Candidate, pool: Pool, sought: _Sought) -> float:
    row = pool.rows[candidate.id]
    return Evidence(
        coverage=coverage(sought.words, f"{row.author_name} {row.text}"),
        meaning=candidate.raw.get("meaning"),
        is_same_language=not is_other_language(row.text, sought.languages),
        is_exact=candidate.is_exact,
        is_calibrated=sought.background is not None,
    ).relevance


def _is_any(ranked: Sequence[Candidate], relevance: dict[int, float]) -> bool:
    return any(relevance[candidate.id] >= 1 for candidate in ranked[:JUDGED])


def _shown(items: list[Item], visible: Visible, sought: _Sought, profile: Profile) -> list[Item]:
    """Return what is shown for the best: the same told once, and what holds now first."""
    if not profile.is_merged:
        return items
    alike: dict[tuple[int, int], float] = {}
    if sought.background is not None and visible.space is not None:
        alike = pairs.likeness(
            [item.id for item in items],
            said=[item.id for item in items if item.is_said],
            space_id=visible.space.id,
            usual=sought.background,
        )
    return newest_first(merge(items, alike), sought.words, alike)


def _item(candidate: Candidate, row: Row, relevance: float) -> Item:
    return Item(
        id=candidate.id,
        text=row.text,
        at=row.occurred_at,
        relevance=relevance,
        is_exact=candidate.is_exact,
        is_said=bool(row.author_name),
    )


def _found(
    item: Item, candidate: Candidate, pool: Pool, weights: Weights, relevance: float
) -> Found:
    row = pool.rows[item.id]
    place = _place(row, [pool.rows[other] for other in item.also])
    return Found(
        id=str(item.id),
        file=place.file,
        line=place.line,
        content=row.text,
        score=round(candidate.score(weights), 3),
        why=candidate.why(weights),
        source=row.source,
        at=row.occurred_at,
        kind=row.kind,
        author=row.author_name,
        also=tuple(str(other) for other in item.also),
        newer=str(item.newer) if item.newer else "",
        relevance=round(relevance, 2),
        is_exact=item.is_exact,
    )


def _place(row: Row, same: Sequence[Row]) -> Row:
    """Return the row that says where it stands: a noted fact is a line of MEMORY.md as well."""
    if row.line is not None:
        return row
    lines = (other for other in same if other.line is not None)
    return next((other for other in lines if is_same_wording(other.text, row.text)), row)
