"""A new version of a team's index: filled from the one in use, swapped in when it is complete."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

import structlog
from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core.embedding import NoEmbedder, TooSlow
from agents.core.errors import ProviderError
from memory.index import documents, facts, texts, vectors, versions, writing
from memory.index.documents import Piece
from memory.index.writing import Text
from memory.models import IndexVersion, MemoryDocument, Passage, WalEntry

_log = structlog.get_logger(__name__)

# What a version that is filled for the first time reads: facts and memory documents here, more
# from whoever stands above. Given a team and how far it came, a source writes some more and
# returns how far it is, or None at its end.
Filler = Callable[[int, int], int | None]
_fillers: list[Filler] = []

_BATCH: Final = 500
_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('memory index', 6))"
_NEXT_THREAD: Final = """
    SELECT t.id, t.name, mine.id AS scope_id FROM memory_memorythread t
    JOIN memory_memoryscope theirs ON theirs.id = t.scope_id
    JOIN memory_memoryscope mine ON mine.version_id = %s AND mine.team_id = theirs.team_id
        AND mine.scope = theirs.scope AND mine.agent_id IS NOT DISTINCT FROM theirs.agent_id
        AND mine.person_id IS NOT DISTINCT FROM theirs.person_id
        AND mine.chat_id IS NOT DISTINCT FROM theirs.chat_id
        AND mine.is_library = theirs.is_library
    JOIN memory_indexversion v ON v.id = theirs.version_id
    WHERE v.team_id = %s AND v.state = 'active' AND t.id > %s ORDER BY t.id LIMIT 1
"""
_MISSING: Final = """
    SELECT DISTINCT p.thread_id, p.source FROM memory_passage p
    JOIN memory_memoryscope theirs ON theirs.id = p.scope_id
    JOIN memory_indexversion v ON v.id = theirs.version_id
    WHERE v.team_id = %(team)s AND v.state = 'active' AND p.hidden_at IS NULL AND NOT EXISTS (
        SELECT FROM memory_passage q JOIN memory_memoryscope mine ON mine.id = q.scope_id
        WHERE mine.version_id = %(version)s AND q.source = p.source AND mine.scope = theirs.scope
            AND mine.agent_id IS NOT DISTINCT FROM theirs.agent_id
            AND mine.person_id IS NOT DISTINCT FROM theirs.person_id
            AND mine.chat_id IS NOT DISTINCT FROM theirs.chat_id
            AND mine.is_library = theirs.is_library)
    LIMIT %(limit)s
"""
_IS_DIRTY: Final = """
    SELECT EXISTS (SELECT FROM memory_passage p JOIN memory_memoryscope s ON s.id = p.scope_id
        WHERE s.version_id = %s AND p.hidden_at IS NULL AND (NOT p.is_indexed OR p.wants_vector))
"""
_TEAMS: Final = """
    SELECT DISTINCT v.team_id FROM memory_indexversion v WHERE v.state <> 'retired' ORDER BY 1
"""
_PROGRESS: Final = """
    SELECT v.id, v.state, coalesce(e.identity, ''), v.chunk_characters, v.chunk_overlap, v.pack,
        v.is_filled, v.error, coalesce(sum(c.passages), 0)::bigint,
        coalesce(sum(c.indexed), 0)::bigint, coalesce(sum(c.waiting), 0)::bigint
    FROM memory_indexversion v
    LEFT JOIN memory_embeddingspace e ON e.id = v.space_id
    LEFT JOIN memory_memoryscope s ON s.version_id = v.id
    LEFT JOIN LATERAL (
        SELECT count(*) AS passages, count(*) FILTER (WHERE is_indexed) AS indexed,
            count(*) FILTER (WHERE wants_vector) AS waiting
        FROM memory_passage p WHERE p.scope_id = s.id AND p.hidden_at IS NULL) c ON true
    WHERE v.team_id = %s AND v.state <> 'retired'
    GROUP BY v.id, e.identity ORDER BY v.id
"""


class Progress(NamedTuple):
    """How far a version is.

    Args:
        space: The identity of its model; empty where it is searched by words only.
        passages: How many stand in it.
        indexed: Of these, how many are found by words.
        waiting: Of these, how many wait for their vector.
    """

    version_id: int
    state: str
    space: str
    chunk_characters: int
    chunk_overlap: int
    pack: str
    is_filled: bool
    error: str
    passages: int
    indexed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class _Part:
    """What one author said in one source, its pieces joined again."""

    text: Text
    kind: str
    source: str
    position: int


def register_filler(filler: Filler) -> None:
    """Let a further source be read when a team's first version is filled."""
    if filler not in _fillers:
        _fillers.append(filler)


def progress(team_id: int) -> list[Progress]:
    """Return how far each version of a team is, the one in use first."""
    found = [Progress(*row) for row in sql.fetch(_PROGRESS, [team_id])]
    return sorted(found, key=lambda version: version.state != IndexVersion.State.ACTIVE)


def rebuild(team_id: int) -> IndexVersion:
    """Begin to build a team's index anew, whether or not its settings changed.

    Raises:
        ProviderError: The account of the team's model does not answer.
    """
    versions.ensure(team_id)
    return versions.begin(team_id, versions.wanted(team_id))


def advance() -> bool:
    """Do one step for whichever team needs one; return whether something was done.

    One worker at a time does it; call it outside of a transaction.
    """
    return any(_advance(row[0]) for row in sql.fetch(_TEAMS, [])) or remove_retired()


def _advance(team_id: int) -> bool:
    State = IndexVersion.State
    live = {
        version.state: version
        for version in IndexVersion.objects.filter(team_id=team_id).exclude(state=State.RETIRED)
    }
    active, building = live.get(State.ACTIVE), live.get(State.BUILDING)
    if active is not None and not active.is_filled:
        return _fill_first(active)
    if active is None:
        return False
    try:
        asked = versions.wanted(team_id)
    except (ProviderError, NoEmbedder, TooSlow) as error:
        note_error(active, type(error).__name__)
        return False
    if building is None:
        if versions.of(active) == asked:
            return False
        versions.begin(team_id, asked)
        return True
    if versions.of(building) != asked:
        if versions.of(active) == asked:
            # Changed and changed back: what is in use is right.
            building.state = State.RETIRED
            building.save(update_fields=["state"])
        else:
            versions.begin(team_id, asked)
        return True
    if not building.is_filled:
        return _fill(building)
    return _swap(building)


def note_error(version: IndexVersion, error: str) -> None:
    """Write down why a version does not come further."""
    if version.error != error:
        _log.warning("index.stuck", version=version.pk, error=error)
        IndexVersion.objects.filter(pk=version.pk).update(error=error)


# --- the first version --------------------------------------------------------------------------


@transaction.atomic
def _fill_first(version: IndexVersion) -> bool:
    """Write what was kept before there was an index; everything since is in it already."""
    if not _locked(version):
        return False
    team_id, stage, done = version.team_id, version.filled_to >> 48, version.filled_to
    done &= (1 << 48) - 1
    at = _stages()[stage](team_id, done)
    if at is None:
        stage, at = stage + 1, 0
    version.filled_to = stage << 48 | at
    version.is_filled = stage == len(_stages())
    version.save(update_fields=["filled_to", "is_filled"])
    return True


def _stages() -> Sequence[Filler]:
    return (_fill_facts, _fill_documents, *_fillers)


def _fill_facts(team_id: int, done: int) -> int | None:
    rows = list(
        WalEntry.objects.filter(
            team_id=team_id, pk__gt=done, retracted_at=None, superseded_at=None
        ).order_by("pk")[:_BATCH]
    )
    facts.add(rows)
    return rows[-1].pk if rows else None


def _fill_documents(team_id: int, done: int) -> int | None:
    rows = list(MemoryDocument.objects.filter(team_id=team_id, pk__gt=done).order_by("pk")[:50])
    for row in rows:
        documents.replace_memory_document(row)
    return rows[-1].pk if rows else None


# --- a further one ------------------------------------------------------------------------------


@transaction.atomic
def _fill(version: IndexVersion) -> bool:
    """Copy the next thread, or see that none is left."""
    if not _locked(version):
        return False
    values = [version.pk, version.team_id, version.filled_to]
    rows = sql.fetch(_NEXT_THREAD, values, prepare=False)
    if rows:
        ((thread_id, name, scope_id),) = rows
        _copy_thread(version, thread_id, name, scope_id)
        version.filled_to = thread_id
        version.save(update_fields=["filled_to"])
        return True
    wanted = {"team": version.team_id, "version": version.pk, "limit": _BATCH}
    missing = sql.fetch(_MISSING, wanted, prepare=False)
    for thread_id, source in missing:
        _append(version, thread_id, source)
    if not missing:
        version.is_filled = True
        version.save(update_fields=["is_filled"])
    return True


def _locked(version: IndexVersion) -> bool:
    """Hold a version's row, so that nothing is hidden while it is copied."""
    ((is_ours,),) = sql.fetch(_LOCK, [])
    if not is_ours:
        return False
    locked = IndexVersion.objects.select_for_update(no_key=True).filter(pk=version.pk).first()
    if locked is None or locked.state != version.state or locked.is_filled:
        return False
    version.filled_to = locked.filled_to
    return True


def _copy_thread(version: IndexVersion, thread_id: int, name: str, scope_id: int) -> None:
    """Copy a thread's passages into the places that were kept free for them.

    What was written since the version was begun stands in it already.
    """
    written = Passage.objects.filter(thread__scope_id=scope_id, thread__name=name)
    rows = Passage.objects.filter(thread_id=thread_id, hidden_at=None).order_by("pk")
    rows = rows.exclude(source__in=written.values("source"))
    parts = list(_recut(rows, version))
    writing.copy(
        [(part.text, part.kind, part.source, part.position) for part in parts],
        scope_id=scope_id,
        thread=name,
        wants_vector=version.space_id is not None,
    )


def _append(version: IndexVersion, thread_id: int, source: str) -> None:
    """Copy what somebody wrote while the version was begun, behind everything else."""
    rows = Passage.objects.filter(thread_id=thread_id, source=source, hidden_at=None)
    rows = rows.select_related("scope", "thread").order_by("pk")
    first = rows[0]
    writing.add(
        [part.text for part in _recut(rows, version)],
        home=home_of(first),
        kind=Passage.Kind(first.kind),
        source=source,
        thread=first.thread.name,
        version_id=version.pk,
    )


def home_of(passage: Passage) -> Mapping[str, object]:
    """Return the columns of a passage's scope; needs ``scope`` loaded."""
    scope = passage.scope
    return {
        "team_id": scope.team_id,
        "scope": scope.scope,
        "agent_id": scope.agent_id,
        "person_id": scope.person_id,
        "chat_id": scope.chat_id,
        "is_library": scope.is_library,
    }


def _recut(rows: Iterable[Passage], version: IndexVersion) -> Iterator[_Part]:
    """Yield the parts of a thread as the version cuts them, each with its place.

    What was said is joined and cut anew; an uploaded document is cut from its text.
    Facts and lines of memory documents stay as they are, and where they are.
    """
    at = 0
    for (source, kind, _), group in groupby(rows, key=_part_of):
        found = list(group)
        whole: Sequence[Piece] = ()
        if kind == Passage.Kind.DOCUMENT:
            whole = documents.recut(
                source, characters=version.chunk_characters, overlap=version.chunk_overlap
            )
        if whole:
            cut = [
                (_text(found[0], piece.text, piece.line, piece.file), at + number)
                for number, piece in enumerate(whole)
            ]
        elif kind == Passage.Kind.EXCHANGE:
            joined = "".join(row.text for row in found)
            pieces = texts.pieces(joined, characters=version.chunk_characters)
            cut = [
                (_text(found[0], piece, found[0].line), at + n) for n, piece in enumerate(pieces)
            ]
        else:
            cut = [(_text(row, row.text, row.line), row.position) for row in found]
        for text, position in cut:
            yield _Part(text, kind, source, position)
        at = cut[-1][1] + 1 if cut else at


def _part_of(row: Passage) -> tuple[str, str, str]:
    return row.source, row.kind, row.origin


def _text(row: Passage, text: str, line: int | None, file: str = "") -> Text:
    return Text(
        text=text,
        occurred_at=row.occurred_at,
        origin=row.origin,
        author_id=row.author_id,
        author_name=row.author_name,
        file=file or row.file,
        line=line,
    )


@transaction.atomic
def _swap(version: IndexVersion) -> bool:
    """Let a complete version take the place of the one in use."""
    ((is_dirty,),) = sql.fetch(_IS_DIRTY, [version.pk], prepare=False)
    if is_dirty:
        return False
    State = IndexVersion.State
    if version.space is not None and vectors.wants_index(version.space):
        return False
    live = IndexVersion.objects.select_for_update().filter(team_id=version.team_id)
    states = dict(live.exclude(state=State.RETIRED).values_list("pk", "state"))
    if states.get(version.pk) != State.BUILDING:
        return False
    live.filter(state=State.ACTIVE).update(state=State.RETIRED)
    live.filter(pk=version.pk).update(state=State.ACTIVE, activated_at=timezone.now(), error="")
    _log.info("index.swapped", team=version.team_id, version=version.pk)
    return True


_OLD_SCOPE: Final = """
    SELECT s.id FROM memory_memoryscope s JOIN memory_indexversion v ON v.id = s.version_id
    WHERE v.state = 'retired' ORDER BY s.id LIMIT 1
"""
_OLD_PASSAGES: Final = """
    WITH gone AS (SELECT id FROM memory_passage WHERE scope_id = %(scope)s LIMIT %(limit)s),
    vectors AS (DELETE FROM memory_passagevector v USING gone WHERE v.passage_id = gone.id)
    DELETE FROM memory_passage p USING gone WHERE p.id = gone.id
"""


@transaction.atomic
def remove_retired() -> bool:
    """Remove some of a version that is in use no more; return whether there was one."""
    rows = sql.fetch(_OLD_SCOPE, [])
    if not rows:
        gone, _ = IndexVersion.objects.filter(state=IndexVersion.State.RETIRED).delete()
        return bool(gone)
    ((scope_id,),) = rows
    if sql.execute(_OLD_PASSAGES, {"scope": scope_id, "limit": 5_000}):
        return True
    sql.execute("DELETE FROM memory_posting WHERE scope_id = %s", [scope_id])
    sql.execute("DELETE FROM memory_freshterms WHERE scope_id = %s", [scope_id])
    sql.execute("DELETE FROM memory_memorythread WHERE scope_id = %s", [scope_id])
    sql.execute("DELETE FROM memory_memoryscope WHERE id = %s", [scope_id])
    return True
