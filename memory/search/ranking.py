"""Ranks what the legs of the index bring: weighted, judged, merged, what holds now first."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memory.index import legs
from memory.index.languages import Language, language_of
from memory.index.legs import Brief, Row
from memory.index.scopes import Visible
from memory.index.terms import Query
from memory.models import Origin, Passage
from memory.search import background, pairs, replacing
from memory.search.asking import Asked
from memory.search.background import Background
from memory.search.candidates import Pool, gather, of_words
from memory.search.features import Candidate
from memory.search.grouping import Item, merge
from memory.search.relevance import Evidence, fitting
from memory.search.results import Found, Note, Result
from memory.search.weights import Weights
from memory.search.wording import content_words, coverage, is_other_language, is_same_wording, names

if TYPE_CHECKING:
    from memory.search.searching import Profile

# Before passages that say the same are merged, so many more than are asked for are looked at.
SPARE: Final = 10
# So many pieces of one turn are shown.
OF_ONE_TURN: Final = 2
# Where too few of the candidates may be found, so many times as many are asked for, and again.
DEEPER: Final = 10
DEEPEST: Final = 100
# Among so many of the best one must have to do with the query, or nothing has.
JUDGED: Final = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the candidates may be found.

    Args:
        kinds: None for all.
        since: What was said earlier is left out; facts and documents are not.
        limit: How many are shown.
    """

    kinds: Collection[Passage.Kind] | None
    since: datetime | None
    with_untrusted: bool
    limit: int

    def has(self, row: Brief) -> bool:
        """Return whether a passage is one of them."""
        # Who asks for documents by name wants the uploaded ones, for which nobody vouches.
        is_asked_for = self.kinds is not None and row.kind == Passage.Kind.DOCUMENT
        if row.origin == Origin.UNTRUSTED and not (self.with_untrusted or is_asked_for):
            return False
        if self.kinds is not None and row.kind not in self.kinds:
            return False
        is_old = self.since is not None and row.occurred_at < self.since
        return not (is_old and row.kind == Passage.Kind.EXCHANGE)


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is known of the query.

    Args:
        vector: What it is about; None for words only.
        words: Those that say something.
        names: Words that are written as names.
        languages: In which it may be.
        background: What is usual for the model; None for one that nobody measured.
    """

    vector: Sequence[float] | None
    words: tuple[str, ...]
    names: tuple[str, ...]
    languages: frozenset[Language]
    background: Background | None


def rank(
    visible: Visible, query: Query, asked: Asked | None, wanted: Wanted, profile: "Profile"
) -> Result:
    """Return what fits a query, the best first.

    Args:
        asked: The query's vector, which is being made meanwhile.
    """
    # Whatever comes of the vector, the legs of words are the same.
    words = of_words(visible, query, profile.with_meaning)
    sought, notes = _sought(visible, query, asked)
    weights = profile.words_only if sought.vector is None else profile.with_meaning
    pool = gather(visible, query, sought.vector, weights, words, is_wanted=wanted.has)
    most = wanted.limit + SPARE
    ranked, depth = _ranked(pool), 1
    while len(ranked) < most and pool.may_be_more and depth < DEEPEST:
        # What is not wanted has taken the places, or one message by saying a thing very often.
        depth *= DEEPER
        pool = gather(visible, query, sought.vector, weights, is_wanted=wanted.has, depth=depth)
        ranked = _ranked(pool)
    result = _best(visible, ranked[:most], sought, wanted, profile, weights, notes)
    if result.found and len(result.found) < wanted.limit and len(ranked) > most:
        # One thing said very often has taken their places: what stands behind it is looked at.
        result = _best(visible, ranked[: 3 * most], sought, wanted, profile, weights, notes)
    return result


def _ranked(pool: Pool) -> list[Candidate]:
    """Return the candidates, the best first.

    A turn is a person's message and its answer: however long these are, and however often they say
    a thing, a few of their pieces stand for them.
    """
    ranked = sorted(
        pool.candidates,
        key=lambda one: (one.is_exact, one.score, _newest(pool, one)),
        reverse=True,
    )
    places: Counter[str] = Counter()
    kept = []
    for one in ranked:
        row = pool.rows[one.id]
        places[row.source] += row.kind == Passage.Kind.EXCHANGE
        if places[row.source] <= OF_ONE_TURN:
            kept.append(one)
    return kept


def _best(
    visible: Visible,
    ranked: Sequence[Candidate],
    sought: _Sought,
    wanted: Wanted,
    profile: "Profile",
    weights: Weights,
    notes: tuple[Note, ...],
) -> Result:
    """Return what of the best candidates is found, once what says the same is one."""
    is_any = bool(ranked)
    rows = legs.passages(visible, [one.id for one in ranked]) if ranked else {}
    # What was hidden a moment ago is gone.
    ranked = [one for one in ranked if one.id in rows]
    evidence = {one.id: _evidence(one, rows[one.id], sought) for one in ranked}
    if profile.is_judged and not any(evidence[one.id].relevance >= 1 for one in ranked[:JUDGED]):
        nothing = (Note.NOTHING_RELEVANT,) if is_any else ()
        return Result(notes=(*notes, *nothing))
    best = [_item(one, rows[one.id], evidence[one.id].relevance) for one in ranked]
    shown = _shown(best, rows, sought, profile)[: wanted.limit]
    by_id = {candidate.id: candidate for candidate in ranked}
    fits = _fitting(shown, evidence)
    found = [_found(item, by_id[item.id], rows, weights, item.id in fits) for item in shown]
    return Result(found, notes)


def _fitting(shown: Sequence[Item], evidence: Mapping[int, Evidence]) -> set[int]:
    """Return which of the shown have to do with the query, each judged by itself.

    Among them are those that say what such a one says, or what holds now of it.
    """
    fits = fitting(evidence)
    fits |= {item.id for item in shown if not fits.isdisjoint(item.also)}
    return fits | {item.newer for item in shown if item.newer and item.id in fits}


def _sought(
    visible: Visible, query: Query, asked: Asked | None
) -> tuple[_Sought, tuple[Note, ...]]:
    """Return what is known of the query, and what is to be said of the search."""
    vector, note = asked.vector() if asked else (None, None)
    notes = [note] if note else []
    if vector is not None and visible.vectors < visible.passages:
        notes.append(Note.VECTORS_MISSING)
    usual = background.of(visible.space.identity) if vector and visible.space else None
    languages = {language_of(query.text)}
    if usual is not None and vector is not None:
        vector, nearest = usual.about(vector)
        languages.add(nearest)
    words = content_words(query.text)
    return _Sought(vector, words, names(query.text), frozenset(languages), usual), tuple(notes)


def _newest(pool: Pool, candidate: Candidate) -> tuple[datetime, int]:
    return pool.rows[candidate.id].occurred_at, candidate.id


def _evidence(candidate: Candidate, row: Row, sought: _Sought) -> Evidence:
    return Evidence(
        coverage=coverage(sought.words, f"{row.author_name} {row.text}".lstrip()),
        meaning=candidate.meaning,
        is_same_language=not is_other_language(row.text, sought.languages),
        is_exact=candidate.is_exact,
        is_calibrated=sought.background is not None,
    )


def _shown(
    items: list[Item], rows: Mapping[int, Row], sought: _Sought, profile: "Profile"
) -> list[Item]:
    """Return what is shown for the best: the same told once, and what holds now first."""
    if not profile.is_merged:
        return items
    compared = pairs.Compared()
    if sought.background is not None:
        said = [item.id for item in items if item.is_said]
        compared = pairs.compare(list(rows.values()), said=said, usual=sought.background)
    for item in items:
        item.change = compared.change.get(item.id)
    merged = merge(items, compared.likeness)
    return replacing.newest_first(
        merged, replacing.Sought(sought.words, sought.names), compared.likeness
    )


def _item(candidate: Candidate, row: Row, relevance: float) -> Item:
    return Item(
        id=candidate.id,
        text=row.text,
        at=row.occurred_at,
        relevance=relevance,
        meaning=candidate.meaning,
        is_exact=candidate.is_exact,
        is_said=bool(row.author_name),
    )


def _found(
    item: Item,
    candidate: Candidate,
    rows: Mapping[int, Row],
    weights: Weights,
    fits: bool,
) -> Found:
    row = rows[item.id]
    place = _place(row, [rows[other] for other in item.also])
    return Found(
        id=str(item.id),
        file=place.file,
        line=place.line,
        content=row.text,
        score=round(candidate.score, 3),
        why=candidate.why(weights),
        source=row.source,
        at=row.occurred_at,
        kind=row.kind,
        author=row.author_name,
        also=tuple(str(other) for other in item.also),
        newer=str(item.newer) if item.newer else "",
        relevance=round(item.relevance, 2),
        fits=fits,
        is_exact=item.is_exact,
    )


def _place(row: Row, same: Sequence[Row]) -> Row:
    """Return the row that says where it stands: a noted fact is a line of MEMORY.md as well."""
    if row.line is not None:
        return row
    lines = (other for other in same if other.line is not None)
    return next((other for other in lines if is_same_wording(other.text, row.text)), row)
