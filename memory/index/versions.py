"""Versions of a team's index: which are written, and which one the settings ask for."""

from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.models import ProviderAccount
from memory.index import embedders
from memory.index.terms import PACK
from memory.models import EmbeddingSpace, IndexVersion, MemorySettings

_LIVE: Final = """
    SELECT id, chunk_characters, chunk_overlap FROM memory_indexversion
    WHERE team_id = %s AND state IN ('active', 'building') ORDER BY id
"""
_SETTINGS: Final = sql.Columns(MemorySettings, "m")
_ACCOUNT: Final = sql.Columns(ProviderAccount, "a")
_SETTINGS_OF: Final = f"""
    SELECT {_SETTINGS.text}, {_ACCOUNT.text} FROM memory_memorysettings m
    LEFT JOIN agents_provideraccount a ON a.id = m.account_id WHERE m.team_id = %s
"""  # noqa: S608 — constants only
# Whoever fills a version holds its row while it copies a batch; who hides a text waits for that,
# so that no copy of it appears afterwards.
_HOLD: Final = """
    SELECT 1 FROM memory_indexversion WHERE team_id = %s AND state = 'building' FOR SHARE
"""


@dataclass(frozen=True, slots=True)
class Live:
    """A version that is written: the active one, or the one that is being built."""

    id: int
    chunk_characters: int
    chunk_overlap: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a team's settings ask for; two that are equal need no new index."""

    space_id: int | None
    chunk_characters: int
    chunk_overlap: int
    pack: str


def live(team_id: int) -> list[Live]:
    """Return the versions that are written, the oldest first."""
    return [Live(*row) for row in sql.fetch(_LIVE, [team_id])]


def hold_filling(team_id: int) -> None:
    """Let no batch be copied into a team's new version until the transaction ends."""
    sql.fetch(_HOLD, [team_id])


def settings_of(team_id: int) -> MemorySettings:
    """Return a team's settings, or the defaults."""
    rows = sql.fetch(_SETTINGS_OF, [team_id])
    if not rows:
        return MemorySettings(team_id=team_id)
    settings, rest = _SETTINGS.take(rows[0])
    if settings is None:
        raise AssertionError("a row begins with them")
    settings.account, _ = _ACCOUNT.take(rest)
    return settings


def wanted(team_id: int) -> Wanted:
    """Return what a team's settings ask for; a new model of an account is asked for its size.

    Raises:
        ProviderError: The account does not answer.
    """
    settings = settings_of(team_id)
    space = embedders.space_of(settings)
    return Wanted(
        space_id=space.pk if space else None,
        chunk_characters=settings.chunk_characters,
        chunk_overlap=settings.chunk_overlap,
        pack=PACK,
    )


def of(version: IndexVersion) -> Wanted:
    """Return what a version is, as the settings would ask for it."""
    return Wanted(
        space_id=version.space_id,
        chunk_characters=version.chunk_characters,
        chunk_overlap=version.chunk_overlap,
        pack=version.pack,
    )


def ensure(team_id: int) -> Live:
    """Return a team's active version; the first one is made here, without asking anybody.

    An account's model is not known without asking, so that the first version is one of words and
    another follows in the background.
    """
    settings = settings_of(team_id)
    space: EmbeddingSpace | None = None
    if settings.embedder == MemorySettings.Embedder.BUILTIN:
        space = embedders.space_of(settings)
    # Somebody else may make it right now: then theirs is taken.
    IndexVersion.objects.bulk_create(
        [
            IndexVersion(
                team_id=team_id,
                space=space,
                chunk_characters=settings.chunk_characters,
                chunk_overlap=settings.chunk_overlap,
                pack=PACK,
                state=IndexVersion.State.ACTIVE,
                activated_at=timezone.now(),
            )
        ],
        ignore_conflicts=True,
    )
    found = IndexVersion.objects.get(team_id=team_id, state=IndexVersion.State.ACTIVE)
    return Live(found.pk, found.chunk_characters, found.chunk_overlap)


@transaction.atomic
def begin(team_id: int, asked: Wanted) -> IndexVersion:
    """Begin a new version beside the active one; from now on both are written.

    One that is being built already and is not asked for any more is given up.
    """
    State = IndexVersion.State
    building = IndexVersion.objects.select_for_update().filter(
        team_id=team_id, state=State.BUILDING
    )
    for version in building:
        if of(version) == asked:
            return version
        version.state = State.RETIRED
        version.save(update_fields=["state"])
    version = IndexVersion.objects.create(
        team_id=team_id,
        space_id=asked.space_id,
        chunk_characters=asked.chunk_characters,
        chunk_overlap=asked.chunk_overlap,
        pack=asked.pack,
    )
    sql.execute(_SCOPES, [version.pk, team_id])
    sql.execute(_THREADS, [version.chunk_characters, version.pk, version.pk])
    return version


_SCOPES: Final = """
    INSERT INTO memory_memoryscope (version_id, team_id, scope, agent_id, person_id, chat_id,
        is_library, passages, words, grams, vectors, blocks)
    SELECT %s, s.team_id, s.scope, s.agent_id, s.person_id, s.chat_id, s.is_library, 0, 0, 0, 0, 0
    FROM memory_memoryscope s JOIN memory_indexversion v ON v.id = s.version_id
    WHERE v.team_id = %s AND v.state = 'active'
"""
# Room is kept at each thread's beginning for what will be copied, which new passages follow.
_THREADS: Final = """
    INSERT INTO memory_memorythread (scope_id, name, next_position, words)
    SELECT mine.id, t.name, t.next_position + coalesce((
            SELECT sum(ceil(4.0 * length(p.text) / %s))::int FROM memory_passage p
            WHERE p.thread_id = t.id), 0), 0
    FROM memory_memoryscope mine
    JOIN memory_memoryscope theirs ON theirs.team_id = mine.team_id
        AND theirs.scope = mine.scope AND theirs.agent_id IS NOT DISTINCT FROM mine.agent_id
        AND theirs.person_id IS NOT DISTINCT FROM mine.person_id
        AND theirs.chat_id IS NOT DISTINCT FROM mine.chat_id
        AND theirs.is_library = mine.is_library
    JOIN memory_indexversion v ON v.id = theirs.version_id AND v.state = 'active'
    JOIN memory_memorythread t ON t.scope_id = theirs.id
    WHERE mine.version_id = %s AND theirs.version_id <> %s
"""
