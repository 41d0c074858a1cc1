"""Which conversations told a fact: they go with it when it is forgotten."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet
from django.utils import timezone

from memory.index import versions
from memory.index.folding import fold
from memory.models import Passage
from memory.plain_words import is_figure, words_in

# Shorter texts stand in many exchanges that say something else.
_FEWEST_LETTERS: Final = 4
# So many figures are the same thing wherever they are said: a phone, an account.
_TELLING_FIGURES: Final = 7
_BEGINS, _ENDS = r"(?:^|[^[:alnum:]])", r"(?:$|[^[:alnum:]])"
# "I like tea" is not told by "I like tea trees".
_CLAUSE_ENDS = r" *(?:$|[^[:alnum:] ]| - )"


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as it may stand in a conversation.

    Args:
        text: The fact.
        value: What it is about; empty where that is not known.
        words: The person's own words, where a model noted it; else empty.
        thread: In which conversation it was told, as text: ``session:3/1``.
        author_id: Who told it, where several people speak; None where it makes no difference.
    """

    text: str
    value: str = ""
    words: str = ""
    thread: str = ""
    author_id: int | None = None


def hide(told: Told, *, home: Mapping[str, object]) -> list[str]:
    """Let exchanges of a scope in which a fact was told never be found again.

    The whole exchange goes: what the agent answered may repeat it.

    Returns:
        Their sources, as text: ``turn:81``.
    """
    versions.hold_filling(int(str(home["team_id"])))
    scope = {f"scope__{column}": value for column, value in home.items()}
    standing = Passage.objects.filter(**scope, kind=Passage.Kind.EXCHANGE, hidden_at=None)
    sources = _sources(standing, told)
    standing.filter(source__in=sources).update(hidden_at=timezone.now())
    return sorted(sources)


def _sources(standing: QuerySet[Passage], told: Told) -> set[str]:
    says = Q()
    for pattern in _patterns(told):
        says |= Q(folded__regex=pattern)
    sources = set(standing.filter(says).values_list("source", flat=True)) if says else set()
    sources |= _where_said(standing.filter(thread__name=told.thread), told)
    if told.author_id is not None and sources:
        own = standing.filter(source__in=sources, author_id=told.author_id)
        sources = set(own.values_list("source", flat=True))
    return sources


def _patterns(told: Told) -> Iterable[str]:
    words = fold(told.text).strip(" .,;:!").split()
    if sum(map(str.isalnum, "".join(words))) >= _FEWEST_LETTERS:
        yield f"{_BEGINS}{' +'.join(map(re.escape, words))}{_CLAUSE_ENDS}"
    if figures := _telling_figures(told.value):
        yield f"(?:^|[^0-9]){'[ ().+/-]*'.join(figures)}(?:$|[^0-9])"
    elif _is_identifier(told.value):
        yield f"{_BEGINS}{re.escape(fold(told.value))}{_ENDS}"


def _telling_figures(value: str) -> str:
    """Return the figures of a phone and the like; empty for a day, a time, an amount."""
    words = words_in(value)
    is_day = any(word.isalpha() and is_figure(word) for word in words)
    figures = "".join(filter(str.isdigit, value))
    is_told = len(figures) >= _TELLING_FIGURES and not any(map(str.isalpha, value))
    is_date = re.fullmatch(r"[\d./-]{8,10}|.*\d:\d\d.*", value) is not None
    return figures if is_told and not is_day and not is_date else ""


def _is_identifier(value: str) -> bool:
    """Return whether a value is one word that nothing else is called: an address, PINE-77."""
    has_figure, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return " " not in value and ("@" in value or (has_figure and has_letter))


def _where_said(standing: QuerySet[Passage], told: Told) -> set[str]:
    """Return the exchanges of its own conversation in which one side said a fact's words.

    However they stood there: in other lines, with other marks between them. Of the person's own
    words a part was noted; a fact is a clause.
    """
    words = re.findall(r"\w+", fold(told.words or told.text))
    if sum(map(len, words)) < _FEWEST_LETTERS:
        return set()
    end = r"(?!\w)" if told.words else r" *(?:$|[^\w ])"
    says = re.compile(r"(?<!\w)" + r"\W+".join(words) + end)
    rows = standing.filter(folded__contains=max(words, key=len)).values_list("source", "folded")
    return {source for source, folded in rows if says.search(folded) is not None}
