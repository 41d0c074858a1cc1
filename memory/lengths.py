"""How long MEMORY.md is for a prompt, and what of it a prompt leaves out.

A prompt shows a person's or a group's MEMORY.md together with the agent's and the team's, as one
part; so it is their sum that may be too long.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Length as LengthOf
from django.utils.formats import number_format
from django.utils.translation import gettext

from agents.core.cutting import cut_middle
from agents.core.prompt import DOCUMENT_CHARACTERS
from memory import files
from memory.models import MemoryDocument, Scope
from memory.prompt import long_term_part

# More than all headings together, so that nothing is missed by counting texts alone.
_HEADINGS = 500
_SHARED = (Scope.AGENT, Scope.TEAM)


@dataclass(frozen=True, slots=True)
class Length:
    """What a document is worth in a prompt.

    Args:
        characters: Of the document itself.
        together: Of the prompt's whole part of long-term memory.
        removed: Of these, how many a prompt leaves out.
    """

    characters: int
    together: int
    removed: int


@dataclass(frozen=True, slots=True)
class TooLong:
    """A document that no prompt shows whole."""

    document: MemoryDocument
    length: Length


def length_of(document: MemoryDocument) -> Length:
    """Return how a prompt shows a MEMORY.md with the shared ones that stand beside it."""
    texts = {row.scope: row.text for row in _shared_with(document)} | {
        document.scope: document.text
    }
    part = long_term_part(texts)
    return Length(
        characters=len(document.text),
        together=len(part),
        removed=cut_middle(part, DOCUMENT_CHARACTERS).removed,
    )


def words(length: Length) -> str:
    """Return the exact figures of a document that is cut, as one sentence."""
    figures = {
        "characters": length.characters,
        "together": length.together,
        "most": DOCUMENT_CHARACTERS,
        "removed": length.removed,
    }
    return gettext(
        "This document has %(characters)s characters, %(together)s with the headings and the "
        "shared memory beside it. A prompt shows at most %(most)s: %(removed)s are left out of "
        "the middle."
    ) % {name: number_format(figure, force_grouping=True) for name, figure in figures.items()}


def too_long() -> Iterator[TooLong]:
    """Yield the MEMORY.md documents that prompts cut, with their agent loaded.

    Where the shared ones are too long by themselves only these are named, not everybody's.
    """
    agents_that_are = set()
    for document in _candidates():
        if document.scope not in _SHARED and document.agent_id in agents_that_are:
            continue
        length = length_of(document)
        if length.removed:
            if document.scope == Scope.AGENT:
                agents_that_are.add(document.agent_id)
            yield TooLong(document, length)


def _candidates() -> Iterable[MemoryDocument]:
    """Return the documents long enough to be looked at, the shared ones first.

    Lengths are counted by the database, as there may be thousands of documents.
    """
    rows = MemoryDocument.objects.filter(name=files.MEMORY).annotate(size=LengthOf("text"))
    shared: dict[tuple[int, int | None], int] = {
        (team_id, agent_id): size
        for team_id, agent_id, size in rows.filter(scope__in=_SHARED).values_list(
            "team_id", "agent_id", "size"
        )
    }
    sizes = rows.order_by("agent_id", "id").values_list(
        "id", "team_id", "agent_id", "scope", "size"
    )
    chosen = []
    for pk, team_id, agent_id, scope, size in sizes:
        beside = shared.get((team_id, None), 0) if scope != Scope.TEAM else 0
        if scope not in _SHARED:
            beside += shared.get((team_id, agent_id), 0)
        if size + beside + _HEADINGS > DOCUMENT_CHARACTERS:
            chosen.append((scope not in _SHARED, pk))
    found = MemoryDocument.objects.select_related("agent", "team").in_bulk([pk for _, pk in chosen])
    return [found[pk] for _, pk in sorted(chosen)]


def _shared_with(document: MemoryDocument) -> Iterable[MemoryDocument]:
    if document.scope == Scope.TEAM:
        return ()
    beside = Q(scope=Scope.TEAM, agent=None)
    if document.scope != Scope.AGENT:
        beside |= Q(scope=Scope.AGENT, agent_id=document.agent_id)
    rows = MemoryDocument.objects.filter(beside, team_id=document.team_id, name=document.name)
    return rows.only("scope", "text")
