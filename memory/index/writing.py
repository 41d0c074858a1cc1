"""Passages come and go here, in the transaction of what they speak of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final

from agents import sql
from memory.index import texts, versions
from memory.index.folding import fold
from memory.models import MemoryThread, Origin, Passage, Scope
from memory.models.index import POSITION_BITS

# No version cuts texts that are shorter, so nobody needs to ask how long its pieces are.
SHORTEST_PIECE: Final = 100
# Passages that are no neighbours of each other, as the facts of a conversation, stand so far apart.
APART: Final = 8

_OWNERS: Final[Mapping[str, str]] = {
    Scope.PERSON: "agent_id = %(agent)s AND person_id = %(person)s",
    Scope.CHAT: "agent_id = %(agent)s AND chat_id = %(chat)s",
    Scope.AGENT: "agent_id = %(agent)s",
    Scope.TEAM: "agent_id IS NULL",
}
_ADD: Final = """
    WITH live AS (
        SELECT id, space_id FROM memory_indexversion
        WHERE team_id = %(team)s AND state IN ('active', 'building')
            AND (%(version)s::bigint IS NULL OR id = %(version)s)
    ),
    known AS (
        SELECT s.id, s.version_id FROM memory_memoryscope s JOIN live ON live.id = s.version_id
        WHERE s.team_id = %(team)s AND s.scope = %(scope)s AND {owner}
            AND s.is_library = %(library)s
    ),
    made AS (
        INSERT INTO memory_memoryscope (version_id, team_id, scope, agent_id, person_id, chat_id,
            is_library, passages, words, grams, vectors, blocks)
        SELECT id, %(team)s, %(scope)s, %(agent)s, %(person)s, %(chat)s, %(library)s, 0, 0, 0, 0,
            0
        FROM live WHERE NOT EXISTS (SELECT FROM known WHERE known.version_id = live.id)
        ON CONFLICT (version_id, team_id, scope, agent_id, person_id, chat_id, is_library)
            DO UPDATE SET passages = memory_memoryscope.passages
        RETURNING id, version_id
    ),
    thread AS (
        INSERT INTO memory_memorythread (scope_id, name, next_position, words)
        SELECT own.id, %(thread)s, %(step)s * %(count)s, 0
        FROM (SELECT * FROM known UNION ALL SELECT * FROM made) own
        WHERE NOT (%(once)s AND EXISTS (SELECT FROM memory_passage p
            WHERE p.scope_id = own.id AND p.source = %(source)s AND p.hidden_at IS NULL))
        ON CONFLICT (scope_id, name) DO UPDATE
            SET next_position = memory_memorythread.next_position + excluded.next_position
        RETURNING id, scope_id, next_position
    ),
    written AS (
        INSERT INTO memory_passage (id, scope_id, thread_id, position, kind, origin, author_id,
            author_name, source, file, line, occurred_at, text, folded, digest, words, grams,
            is_indexed, wants_vector, attempts)
        SELECT t.id << {bits} | place.at, t.scope_id, t.id, place.at, %(kind)s, p.origin,
            p.author, p.author_name, %(source)s, p.file, p.line, p.occurred_at, p.text, p.folded,
            p.digest, 0, 0, false, live.space_id IS NOT NULL, 0
        FROM thread t
        JOIN (SELECT * FROM known UNION ALL SELECT * FROM made) own ON own.id = t.scope_id
        JOIN live ON live.id = own.version_id,
        unnest(%(origins)s::text[], %(authors)s::bigint[], %(names)s::text[], %(files)s::text[],
            %(lines)s::int[], %(times)s::timestamptz[], %(texts)s::text[], %(folded)s::text[],
            %(digests)s::uuid[]) WITH ORDINALITY
            AS p(origin, author, author_name, file, line, occurred_at, text, folded, digest,
                number),
        LATERAL (SELECT t.next_position - %(step)s * %(count)s + %(step)s * (p.number - 1) AS at)
            AS place
    )
    SELECT count(*) FROM live
"""
_HIDE: Final = """
    UPDATE memory_passage SET hidden_at = now()
    WHERE hidden_at IS NULL AND source = ANY(%(sources)s)
        AND scope_id IN (SELECT id FROM memory_memoryscope s
            WHERE s.team_id = %(team)s AND s.scope = %(scope)s AND {owner})
"""


@dataclass(frozen=True, slots=True)
class Text:
    """One text that shall be found.

    Args:
        text: Secrets masked.
        author_name: Empty where a text says who speaks, or nobody does.
        file: As it is shown: ``MEMORY.md``.
    """

    text: str
    occurred_at: datetime
    origin: str = Origin.PERSON
    author_id: int | None = None
    author_name: str = ""
    file: str = ""
    line: int | None = None


def add(
    written: Sequence[Text],
    *,
    home: Mapping[str, object],
    kind: Passage.Kind,
    source: str,
    thread: str,
    step: int = 1,
    once: bool = True,
    version_id: int | None = None,
) -> None:
    """Write the passages of one source, in order.

    They are found within two seconds. Texts of one origin are one text where they are cut anew
    for a new version. It runs in the caller's transaction, in one statement where
    no text is long.

    Args:
        home: The columns of the scope, as `memory.models.scope_of` gives them; with a true
            ``is_library`` among them where uploaded documents lie.
        source: What they are made of, as text: ``turn:81``.
        thread: What they continue, as text: ``session:3/1``.
        step: How far apart they stand; from 3 on they are no neighbours of each other.
        once: Nothing is written where passages of the source stand.
        version_id: Into this version only, cut already.
    """
    written = [text for text in written if text.text.strip()]
    if not written:
        return
    values = {**_owner(home), "kind": kind, "source": source, "thread": thread, "step": step}
    values["once"] = once
    if version_id is not None:
        _add(written, values, version_id=version_id)
        return
    team_id = values["team"]
    assert isinstance(team_id, int)  # noqa: S101 — narrows the mapping's object
    if max(len(text.text) for text in written) > SHORTEST_PIECE:
        live = versions.live(team_id) or [versions.ensure(team_id)]
        sizes = {version.chunk_characters for version in live}
        if len(sizes) > 1:
            for version in live:
                _add(_cut(written, version.chunk_characters), values, version_id=version.id)
            return
        written = _cut(written, sizes.pop())
    if not _add(written, values, version_id=None):
        versions.ensure(team_id)
        _add(written, values, version_id=None)


def copy(
    placed: Sequence[tuple[Text, str, str, int]],
    *,
    scope_id: int,
    thread: str,
    wants_vector: bool,
) -> None:
    """Write passages into places of a thread that are known to be free.

    Args:
        placed: Texts, each with its kind, source and position.
    """
    found = MemoryThread.objects.get(scope_id=scope_id, name=thread)
    Passage.objects.bulk_create(
        Passage(
            id=found.pk << POSITION_BITS | position,
            scope_id=scope_id,
            thread=found,
            position=position,
            kind=kind,
            origin=text.origin,
            author_id=text.author_id,
            author_name=text.author_name,
            source=source,
            file=text.file,
            line=text.line,
            occurred_at=text.occurred_at,
            text=text.text,
            folded=fold(text.text),
            digest=texts.digest(texts.meant(text.text, author_name=text.author_name)),
            wants_vector=wants_vector,
        )
        for text, kind, source, position in placed
    )


def hide(sources: Sequence[str], *, home: Mapping[str, object]) -> int:
    """Let the passages of these sources never be found again; return how many there were.

    It counts from the caller's commit on. Their terms and vectors are removed in the background.
    """
    if not sources:
        return 0
    values = {**_owner(home), "sources": list(sources)}
    versions.hold_filling(int(str(values["team"])))
    return sql.execute(_hide_statement(str(values["scope"])), values)


def _add(written: Sequence[Text], values: Mapping[str, object], *, version_id: int | None) -> int:
    """Write; return how many versions there are that it went into."""
    clean = [texts.clean(text.text) for text in written]
    statement = _add_statement(str(values["scope"]))
    ((count,),) = sql.fetch(
        statement,
        {
            **values,
            "version": version_id,
            "count": len(written),
            "origins": [str(text.origin) for text in written],
            "authors": [text.author_id for text in written],
            "names": [text.author_name for text in written],
            "files": [text.file for text in written],
            "lines": [text.line for text in written],
            "times": [text.occurred_at for text in written],
            "texts": clean,
            "folded": [fold(text) for text in clean],
            "digests": [
                texts.digest(texts.meant(text, author_name=row.author_name))
                for text, row in zip(clean, written, strict=True)
            ],
        },
    )
    return int(count)


def _cut(written: Sequence[Text], characters: int) -> list[Text]:
    return [
        Text(
            text=piece,
            occurred_at=text.occurred_at,
            origin=text.origin,
            author_id=text.author_id,
            author_name=text.author_name,
            file=text.file,
            line=text.line,
        )
        for text in written
        for piece in texts.pieces(text.text, characters=characters)
    ]


def _owner(home: Mapping[str, object]) -> dict[str, object]:
    return {
        "team": home["team_id"],
        "scope": str(home["scope"]),
        "agent": home.get("agent_id"),
        "person": home.get("person_id"),
        "chat": home.get("chat_id"),
        "library": bool(home.get("is_library")),
    }


@cache
def _add_statement(scope: str) -> str:
    return _ADD.format(owner=_OWNERS[scope], bits=POSITION_BITS)


@cache
def _hide_statement(scope: str) -> str:
    return _HIDE.format(owner=_OWNERS[scope])
