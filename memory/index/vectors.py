"""Vectors of passages, asked for outside of any transaction, and their indexes of neighbours."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import psycopg
import structlog
from django.conf import settings
from django.db import transaction
from psycopg import sql as names

from agents import sql
from agents.core.embedding import NoEmbedder
from agents.core.errors import ProviderError
from memory.index import embedders, texts, versions
from memory.models import EmbeddingSpace

_log = structlog.get_logger(__name__)

# So long a passage is left alone after somebody took it: then they died over it.
CLAIMED_S: Final = 180
# The second wait; each further one is twice as long, up to an hour.
FIRST_RETRY_S: Final = 15
LONGEST_RETRY_S: Final = 3_600
# One request to an account takes so many; the built-in model works one by one anyway.
BATCH: Final = 32
# Up to so many visible vectors are compared one by one, which misses none and takes 0.4 ms a
# thousand. Beyond, the index is asked, which takes 15 ms among 100,000.
COMPARED: Final = 50_000
# From so many vectors in a space on its index is made; below it, comparing all is as quick.
INDEXED_FROM: Final = COMPARED // 2
# What a vector takes in memory beside itself while its index is made, with a margin.
GRAPH_BYTES: Final = 1_000
LEAST_MEMORY: Final = 64 << 20

# A text that is embedded in this space already, in whatever version, is copied.
_REUSE: Final = """
    WITH same AS (
        SELECT p.id, p.scope_id, v.space_id, p.digest, (
            SELECT o.vector FROM memory_passagevector o
            WHERE o.digest = p.digest AND o.space_id = v.space_id LIMIT 1) AS vector
        FROM memory_passage p
        JOIN memory_memoryscope s ON s.id = p.scope_id
        JOIN memory_indexversion v ON v.id = s.version_id
        WHERE p.wants_vector AND p.hidden_at IS NULL AND v.space_id IS NOT NULL
            AND p.retry_at IS NULL
        ORDER BY p.id LIMIT %s FOR UPDATE OF p SKIP LOCKED
    ),
    written AS (
        INSERT INTO memory_passagevector (passage_id, scope_id, space_id, digest, vector)
        SELECT id, scope_id, space_id, digest, vector FROM same WHERE vector IS NOT NULL
        ON CONFLICT (passage_id) DO NOTHING RETURNING passage_id, scope_id
    ),
    done AS (
        UPDATE memory_passage p SET wants_vector = false FROM same
        WHERE p.id = same.id AND same.vector IS NOT NULL RETURNING p.id
    ),
    counted AS (
        UPDATE memory_memoryscope s SET vectors = s.vectors + d.n
        FROM (SELECT scope_id, count(*) AS n FROM written GROUP BY scope_id) d
        WHERE s.id = d.scope_id RETURNING s.id
    )
    SELECT (SELECT count(*) FROM done), (SELECT count(*) FROM counted)
"""
_OLDEST: Final = """
    SELECT s.team_id, v.space_id FROM memory_passage p
    JOIN memory_memoryscope s ON s.id = p.scope_id
    JOIN memory_indexversion v ON v.id = s.version_id
    WHERE p.wants_vector AND p.hidden_at IS NULL AND v.space_id IS NOT NULL
        AND v.state <> 'retired' AND {due}
    ORDER BY p.retry_at, p.id LIMIT 1
"""
_CLAIM: Final = """
    UPDATE memory_passage p SET attempts = least(p.attempts + 1, 1000),
        retry_at = now() + make_interval(secs => %s)
    FROM (
        SELECT p.id FROM memory_passage p
        JOIN memory_memoryscope s ON s.id = p.scope_id
        JOIN memory_indexversion v ON v.id = s.version_id
        WHERE p.wants_vector AND p.hidden_at IS NULL AND s.team_id = %s AND v.space_id = %s
            AND v.state <> 'retired' AND {due}
        ORDER BY p.retry_at, p.id LIMIT %s FOR UPDATE OF p SKIP LOCKED
    ) taken
    WHERE p.id = taken.id RETURNING p.id, p.scope_id, p.author_name, p.text, p.digest
"""
# New ones first; each follows its index, which one condition for both would not.
_DUE: Final = ("p.retry_at IS NULL", "p.retry_at <= now()")
_STORE: Final = """
    WITH written AS (
        INSERT INTO memory_passagevector (passage_id, scope_id, space_id, digest, vector)
        SELECT p.id, p.scope_id, %s, p.digest, d.vector::halfvec
        FROM unnest(%s::bigint[], %s::uuid[], %s::text[]) AS d(id, digest, vector)
        JOIN memory_passage p ON p.id = d.id AND p.digest = d.digest AND p.hidden_at IS NULL
        ON CONFLICT (passage_id) DO NOTHING RETURNING passage_id, scope_id
    ),
    done AS (
        UPDATE memory_passage SET wants_vector = false, attempts = 0, retry_at = NULL
        WHERE id = ANY(%s) RETURNING id
    ),
    counted AS (
        UPDATE memory_memoryscope s SET vectors = s.vectors + d.n
        FROM (SELECT scope_id, count(*) AS n FROM written GROUP BY scope_id) d
        WHERE s.id = d.scope_id RETURNING s.id
    )
    SELECT (SELECT count(*) FROM done), (SELECT count(*) FROM counted)
"""
_POSTPONE: Final = """
    UPDATE memory_passage SET retry_at = now() + make_interval(
        secs => least(%s * 2 ^ least(attempts - 1, 20), %s))
    WHERE id = ANY(%s)
"""
_NOTE_ERROR: Final = """
    UPDATE memory_indexversion SET error = %s
    WHERE team_id = %s AND space_id = %s AND state <> 'retired' AND error <> %s
"""
_UNINDEXED: Final = """
    SELECT e.id FROM memory_embeddingspace e
    WHERE e.index_state = 'none' AND (
        SELECT sum(s.vectors) FROM memory_memoryscope s
        JOIN memory_indexversion v ON v.id = s.version_id WHERE v.space_id = e.id) >= %s
"""


_VECTORS: Final = """
    SELECT coalesce(sum(s.vectors), 0) FROM memory_memoryscope s
    JOIN memory_indexversion v ON v.id = s.version_id WHERE v.space_id = %s
"""


class _Claimed(NamedTuple):
    id: int
    scope_id: int
    author_name: str
    text: str
    digest: object


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of embedding did.

    Args:
        failed: How many will be tried again later.
    """

    done: int = 0
    failed: int = 0


def embed_waiting(limit: int = BATCH) -> Step:
    """Embed some of the passages that wait for their vector.

    What cannot be embedded stays as it is and is tried again after 15 s, then after twice as
    long each time, up to an hour; search goes on with words. Call it outside of a transaction.
    """
    reused = _reuse(limit * 4)
    if reused:
        return Step(done=reused)
    for due in _DUE:
        oldest = sql.fetch(_OLDEST.format(due=due), [], prepare=False)
        if oldest:
            ((team_id, space_id),) = oldest
            return _embed_some(team_id, space_id, due, limit)
    return Step()


def _embed_some(team_id: int, space_id: int, due: str, limit: int) -> Step:
    values = [CLAIMED_S, team_id, space_id, limit]
    claimed = sql.fetch(_CLAIM.format(due=due), values, prepare=False)
    rows = [_Claimed(*row) for row in claimed]
    if not rows:
        return Step()
    try:
        vectors = _vectors(rows, team_id=team_id, space_id=space_id)
    except (ProviderError, NoEmbedder) as error:
        _postpone(rows, team_id=team_id, space_id=space_id, error=type(error).__name__)
        return Step(failed=len(rows))
    _store(rows, vectors, team_id=team_id, space_id=space_id)
    return Step(done=len(rows))


def _reuse(limit: int) -> int:
    ((done, _),) = sql.fetch(_REUSE, [limit], prepare=False)
    return int(done)


def _vectors(rows: Sequence[_Claimed], *, team_id: int, space_id: int) -> list[str]:
    """Ask whoever embeds for the team, who must speak of the same space."""
    wanted = versions.settings_of(team_id)
    space = embedders.space_of(wanted)
    if space is None or space.pk != space_id:
        # The settings were changed: another version is being built, or will be.
        raise NoEmbedder("the team's settings name another model")
    opened = embedders.open_embedder(wanted)
    embedded = opened.embedder.passages(
        [texts.meant(row.text, author_name=row.author_name) for row in rows]
    )
    embedders.charge(opened, embedded, team_id=team_id, origin=f"index:{space_id}")
    if any(len(vector) != space.dimensions for vector in embedded.vectors):
        raise NoEmbedder("the model answers in another number of dimensions")
    return [texts.text_of_vector(vector) for vector in embedded.vectors]


def _store(rows: Sequence[_Claimed], vectors: list[str], *, team_id: int, space_id: int) -> None:
    ids = [row.id for row in rows]
    sql.fetch(_STORE, [space_id, ids, [row.digest for row in rows], vectors, ids], prepare=False)
    sql.execute(_NOTE_ERROR, ["", team_id, space_id, ""])


def _postpone(rows: Sequence[_Claimed], *, team_id: int, space_id: int, error: str) -> None:
    _log.warning("index.not_embedded", team=team_id, passages=len(rows), error=error)
    with transaction.atomic():
        sql.execute(_POSTPONE, [FIRST_RETRY_S, LONGEST_RETRY_S, [row.id for row in rows]])
        sql.execute(_NOTE_ERROR, [error, team_id, space_id, error])


def wants_index(space: EmbeddingSpace, *, at_least: int = INDEXED_FROM) -> bool:
    """Return whether a space has grown so far that it should have an index, and has none."""
    if space.index_state in (EmbeddingSpace.IndexState.READY, EmbeddingSpace.IndexState.FAILED):
        return False
    ((count,),) = sql.fetch(_VECTORS, [space.pk])
    return int(count) >= at_least


def index_spaces(*, at_least: int = INDEXED_FROM) -> int:
    """Make the index of each space that has grown so far; return how many were made."""
    spaces = [row[0] for row in sql.fetch(_UNINDEXED, [at_least])]
    return sum(make_index(EmbeddingSpace.objects.get(pk=space_id)) for space_id in spaces)


def make_index(space: EmbeddingSpace, *, helpers: int = 0) -> bool:
    """Make a space's index of neighbours, while everybody goes on reading and writing.

    The application does not own the table, so it is made over the owner's connection. Somebody
    else who makes it right now is left alone.

    Args:
        helpers: How many more of the database's processes work on it. Each takes a core from
            whoever searches meanwhile.
    """
    State = EmbeddingSpace.IndexState
    is_mine = EmbeddingSpace.objects.filter(pk=space.pk).exclude(index_state=State.BUILDING)
    if not is_mine.update(index_state=State.BUILDING, index_error=""):
        return False
    try:
        _create_index(space, helpers)
    except Exception as error:
        is_building = EmbeddingSpace.objects.filter(pk=space.pk)
        is_building.update(index_state=State.FAILED, index_error=type(error).__name__)
        raise
    EmbeddingSpace.objects.filter(pk=space.pk).update(index_state=State.READY)
    _log.info("index.neighbours_ready", space=space.pk)
    return True


def _create_index(space: EmbeddingSpace, helpers: int) -> None:
    create = names.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON memory_passagevector"
        " USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)"
        " WITH (m = 16, ef_construction = 64) WHERE space_id = {space}"
    ).format(
        name=names.Identifier(space.index_name),
        dimensions=names.Literal(space.dimensions),
        space=names.Literal(space.pk),
    )
    with _owner() as owner:
        # One that broke off half-way is left behind invalid.
        owner.execute(_drop(space))
        settings_of_build = {
            "maintenance_work_mem": f"{_memory_kb(space)}kB",
            "max_parallel_maintenance_workers": str(helpers),
            "max_parallel_workers": str(helpers),
        }
        for name, value in settings_of_build.items():
            owner.execute("SELECT set_config(%s, %s, false)", [name, value])
        owner.execute(create)


def _memory_kb(space: EmbeddingSpace) -> int:
    """Return how much memory the making of an index may take, a quarter of the machine's at most.

    The graph is built in memory where it fits, many times faster than where it does not.
    """
    ((count,),) = sql.fetch(_VECTORS, [space.pk])
    wanted = int(count) * (2 * space.dimensions + GRAPH_BYTES)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(LEAST_MEMORY, min(wanted, machine // 4)) // 1024


def drop_index(space: EmbeddingSpace) -> None:
    """Remove a space's index of neighbours; its vectors are compared one by one from then on."""
    EmbeddingSpace.objects.filter(pk=space.pk).update(index_state=EmbeddingSpace.IndexState.NONE)
    with _owner() as owner:
        owner.execute(_drop(space))


def _drop(space: EmbeddingSpace) -> names.Composed:
    drop = names.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}")
    return drop.format(names.Identifier(space.index_name))


def _owner() -> psycopg.Connection[tuple[object, ...]]:
    """Connect as who owns the tables; such statements run outside of any transaction."""
    return psycopg.connect(settings.DATABASE_OWNER_URL, autocommit=True)
