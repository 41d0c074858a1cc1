"""A person leaves the index: what they said anywhere, and everything in their own scopes."""

from typing import Final

from django.db import transaction

from agents import sql
from memory.index import postings

_HIDE: Final = """
    UPDATE memory_passage SET hidden_at = now()
    WHERE author_id = %(person)s
        OR scope_id IN (SELECT id FROM memory_memoryscope WHERE person_id = %(person)s)
"""
_IS_LEFT: Final = """
    SELECT EXISTS (SELECT FROM memory_passage WHERE hidden_at IS NOT NULL
        AND (author_id = %(person)s
            OR scope_id IN (SELECT id FROM memory_memoryscope WHERE person_id = %(person)s)))
"""
# What is left of a scope whose passages are gone.
_SCOPES: Final = (
    "DELETE FROM memory_posting WHERE scope_id = ANY(%s)",
    "DELETE FROM memory_freshterms WHERE scope_id = ANY(%s)",
    "DELETE FROM memory_memorythread WHERE scope_id = ANY(%s)",
    "DELETE FROM memory_memoryscope WHERE id = ANY(%s)",
)


@transaction.atomic
def erase_person(person_id: int) -> int:
    """Remove a person's passages, with terms and vectors, from every version; return how many.

    When it returns, no row of the index holds anything that they said or that was kept about
    them. What an agent answered in a group stays the group's.
    """
    values = {"person": person_id}
    count = sql.execute(_HIDE, values)
    while sql.fetch(_IS_LEFT, values)[0][0]:
        postings.remove_hidden(1_000)
    scopes = sql.fetch("SELECT id FROM memory_memoryscope WHERE person_id = %s", [person_id])
    for statement in _SCOPES:
        sql.execute(statement, [[row[0] for row in scopes]])
    return count
