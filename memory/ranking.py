"""Ranks lines by the words of a query; plain Python.

Whatever a case-insensitive substring search finds, this finds, and first.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.detector import APOSTROPHES

_WORD = re.compile(r"[^\W_]+")
_NOT_WORD = re.compile(r"[\W_]+")
_PLAIN = str.maketrans(
    {**dict.fromkeys(APOSTROPHES, None), "ł": "l", "ı": "i", "ø": "o", "đ": "d", "æ": "ae"}
)
# Words that say nothing about what is sought, in English and Uzbek.
_STOP_WORDS = frozenset(
    """a about an and are can did do does for had has have how i in is it me my of on or tell that
    the this to was we were what when where which who why will with you your bilan bor bu ham
    haqida kim men mening menga nima qachon qanday qaysi sen shu siz uchun va""".split()
)
# A word's beginning counts for more than its middle.
_INSIDE_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file of memory, and when what it says was noted."""

    file: str
    line: int
    content: str
    at: datetime


def rank(query: str, lines: Sequence[Line], *, limit: int) -> list[Line]:
    """Return the lines that fit, the best first.

    Lines with the whole query in them come first, then those with more and rarer of its words;
    among equals the newest. Case, accents and apostrophes do not count.
    """
    sought = fold(query)
    if not sought:
        return _raw(query, lines)[:limit]
    folded = [fold(line.content) for line in lines]
    scores = _scores(sought, folded)
    ranked = sorted(
        (
            (sought in text, score, line.at, -place)
            for place, (line, text, score) in enumerate(zip(lines, folded, scores, strict=True))
            if score > 0 or sought in text
        ),
        reverse=True,
    )
    return [lines[-place] for *_, place in ranked[:limit]]


def fold(text: str) -> str:
    """Return text without case, accents and apostrophes, white space folded."""
    folded = text.casefold().translate(_PLAIN)
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFD", folded)
        folded = "".join(sign for sign in decomposed if unicodedata.category(sign) != "Mn")
    return " ".join(folded.split())


def _scores(sought: str, folded: Sequence[str]) -> list[float]:
    """Return for each line the sum over the query's words of how rare each found one is."""
    words = set(_WORD.findall(sought))
    words = words - _STOP_WORDS or words
    spaced = [f" {_NOT_WORD.sub(' ', text)} " for text in folded]
    scores = [0.0] * len(folded)
    for word in words:
        found = [(place, _weight(word, text)) for place, text in enumerate(spaced) if word in text]
        found = [(place, weight) for place, weight in found if weight]
        rarity = math.log(1 + len(folded) / len(found)) if found else 0.0
        for place, weight in found:
            scores[place] += rarity * weight
    return scores


def _weight(word: str, spaced: str) -> float:
    """Return 1 where the line has a word that begins so; one or two letters must be a word."""
    if len(word) <= 2:
        return float(f" {word} " in spaced)
    return 1.0 if f" {word}" in spaced else _INSIDE_WEIGHT


def _raw(query: str, lines: Sequence[Line]) -> list[Line]:
    """Search for what folding takes away, such as a lone apostrophe; nothing for white space."""
    sought = query.strip().casefold()
    found = [line for line in lines if sought and sought in line.content.casefold()]
    return sorted(found, key=lambda line: line.at, reverse=True)
