"""The index of two people who turned out to be one."""

from typing import Final

from django.db import transaction

from agents import sql

# Of each version and agent: the scope of the one, and the other's, where there is one.
_PAIRS: Final = """
    SELECT old.id, new.id FROM memory_memoryscope old
    LEFT JOIN memory_memoryscope new ON new.version_id = old.version_id
        AND new.team_id = old.team_id AND new.scope = old.scope AND new.agent_id = old.agent_id
        AND new.is_library = old.is_library AND new.person_id = %s
    WHERE old.scope = 'person' AND old.person_id = %s ORDER BY old.id
"""
_RENAME: Final = "UPDATE memory_memoryscope SET person_id = %s WHERE id = %s"
# Passages first, as who indexes holds them before their scope.
_MOVE: Final = (
    "UPDATE memory_passage SET scope_id = %(new)s WHERE scope_id = %(old)s",
    """
    UPDATE memory_memorythread t SET scope_id = %(new)s, name = CASE WHEN EXISTS (
            SELECT FROM memory_memorythread o WHERE o.scope_id = %(new)s AND o.name = t.name)
        THEN left(t.name, 170) || ' before ' || %(new)s ELSE t.name END
    WHERE scope_id = %(old)s
    """,
    "UPDATE memory_passagevector SET scope_id = %(new)s WHERE scope_id = %(old)s",
    # Blocks of two scopes never begin with the same passage.
    "UPDATE memory_posting SET scope_id = %(new)s WHERE scope_id = %(old)s",
    "UPDATE memory_freshterms SET scope_id = %(new)s WHERE scope_id = %(old)s",
    """
    UPDATE memory_memoryscope s SET passages = s.passages + o.passages, words = s.words + o.words,
        grams = s.grams + o.grams, vectors = s.vectors + o.vectors, blocks = s.blocks + o.blocks,
        fresh = s.fresh + o.fresh
    FROM memory_memoryscope o WHERE s.id = %(new)s AND o.id = %(old)s
    """,
    "DELETE FROM memory_memoryscope WHERE id = %(old)s",
)


@transaction.atomic
def move_person(person_id: int, *, into_id: int) -> None:
    """Let what is found of one person be found as another's; nothing is indexed anew."""
    for old, new in sql.fetch(_PAIRS, [into_id, person_id]):
        if new is None:
            sql.execute(_RENAME, [into_id, old])
            continue
        for statement in _MOVE:
            sql.execute(statement, {"old": old, "new": new})
    sql.execute(
        "UPDATE memory_passage SET author_id = %s WHERE author_id = %s", [into_id, person_id]
    )
