"""What of the index a viewer sees."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum

from agents import sql
from agents.core.viewer import Viewer
from memory.models import VISIBLE_SQL, EmbeddingSpace, visible_values

_VISIBLE = f"""
    SELECT s.id, s.passages, s.words, s.grams, s.vectors, s.fresh, v.id, e.id, e.identity,
        e.dimensions, e.index_state
    FROM (SELECT id, passages, words, grams, vectors, fresh, version_id FROM memory_memoryscope
        WHERE {VISIBLE_SQL} AND is_library = ANY(%s) AND version_id = (
            SELECT id FROM memory_indexversion WHERE team_id = %s AND state = 'active')) s
    JOIN memory_indexversion v ON v.id = s.version_id
    LEFT JOIN memory_embeddingspace e ON e.id = v.space_id
"""  # noqa: S608 — constants only


@dataclass(frozen=True, slots=True)
class Space:
    """The space in which a version's vectors lie."""

    id: int
    identity: str
    dimensions: int
    has_index: bool


@dataclass(frozen=True, slots=True)
class Visible:
    """The scopes a viewer sees in their team's active index, with the counts over all of them.

    Args:
        words: Stems in all passages, repeated ones counted.
        grams: Letter groups in all passages, repeated ones counted.
        vectors: How many passages have a vector; without any, a query need not be embedded.
        fresh: How many passages have their terms in no block yet.
        space: None where the team's index has no vectors, or nothing is visible.
    """

    scope_ids: tuple[int, ...]
    passages: int
    words: int
    grams: int
    vectors: int
    fresh: int
    version_id: int | None
    space: Space | None


class Shelves(Enum):
    """Which part of the scopes is looked into; the values are those of ``is_library``."""

    MEMORY = (False,)
    LIBRARY = (True,)
    BOTH = (False, True)


def visible(viewer: Viewer, shelves: Shelves = Shelves.MEMORY) -> Visible:
    """Return what of the index this viewer sees, in one query."""
    values = [*visible_values(viewer), list(shelves.value), viewer.team_id]
    rows = sql.fetch(_VISIBLE, values)
    if not rows:
        return Visible((), 0, 0, 0, 0, 0, None, None)
    version_id, space_id, identity, dimensions, index_state = rows[0][6:]
    space = None
    if space_id is not None:
        is_ready = index_state == EmbeddingSpace.IndexState.READY
        space = Space(space_id, identity, dimensions, has_index=is_ready)
    return Visible(
        scope_ids=tuple(row[0] for row in rows),
        passages=sum(row[1] for row in rows),
        words=sum(row[2] for row in rows),
        grams=sum(row[3] for row in rows),
        vectors=sum(row[4] for row in rows),
        fresh=sum(row[5] for row in rows),
        version_id=version_id,
        space=space,
    )


def narrowed(visible: Visible, scope_ids: Collection[int]) -> Visible:
    """Return some of the visible scopes, with the counts of those."""
    rows = sql.fetch(_COUNTS, [[kept for kept in visible.scope_ids if kept in scope_ids]])
    ids = tuple(row[0] for row in rows)
    names = ("passages", "words", "grams", "vectors", "fresh")
    sums = {name: sum(row[place] for row in rows) for place, name in enumerate(names, start=1)}
    return replace(visible, scope_ids=ids, **sums)


_COUNTS = """
    SELECT id, passages, words, grams, vectors, fresh FROM memory_memoryscope WHERE id = ANY(%s)
"""
