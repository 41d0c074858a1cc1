"""What a text is found by: stems of its words, and groups of three letters.

Both are numbers, so that they fit one column: a group of three letters is those letters, a stem
is a hash below zero. Who changes what a text becomes here counts ``PACK`` up: every index is then
built anew.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from memory.detector.folding import straighten
from memory.index.folding import fold
from memory.index.languages import LATIN, Language, is_stop_word, language_of, stem

PACK: Final = "1"
QUERY_CHARACTERS: Final = 1_000

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_FOLDED_WORD = re.compile(r"[^\W_]+")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_LETTER_BITS: Final = 21


@dataclass(frozen=True, slots=True)
class Terms:
    """A text's terms with how often each stands in it, and how long it is in both kinds."""

    stems: Counter[int]
    grams: Counter[int]

    @property
    def words(self) -> int:
        """Return how many stems it has, repeated ones counted."""
        return self.stems.total()

    @property
    def letters(self) -> int:
        """Return how many letter groups it has, repeated ones counted."""
        return self.grams.total()


@dataclass(frozen=True, slots=True)
class Query:
    """What is sought.

    Args:
        folded: The query folded, for hits that contain it as it stands.
        stems: Every stem that one of its words has in any language it may be in.
        grams: Its letter groups, those at the edges of words among them.
        inner: Letter groups that every text which contains the query must have.
    """

    text: str
    folded: str
    stems: tuple[int, ...]
    grams: tuple[int, ...]
    inner: tuple[int, ...]


def of_text(text: str) -> Terms:
    """Return the terms by which a text is found."""
    language = language_of(text)
    stems = Counter(
        stem_term(stem(word, language)) for word in words(text) if not is_stop_word(word, language)
    )
    stems.pop(0, None)
    return Terms(stems, Counter(_grams(_FOLDED_WORD.findall(fold(text)))))


def of_query(text: str) -> Query:
    """Return what a query looks for; its end is left out where it is longer than 1,000 letters."""
    text = text.strip()[:QUERY_CHARACTERS]
    folded = fold(text)
    guess = language_of(text)
    stems = dict.fromkeys(
        stem_term(stem(word, language))
        for word in words(text)
        if not is_stop_word(word, guess)
        for language in _languages(word)
    )
    stems.pop(0, None)
    parts = _FOLDED_WORD.findall(folded)
    return Query(
        text=text,
        folded=folded,
        stems=tuple(stems),
        grams=tuple(dict.fromkeys(_grams(parts))),
        inner=tuple(dict.fromkeys(_inner_grams(parts))),
    )


def words(text: str) -> list[str]:
    """Return the words of a text, in small letters, apostrophes left out."""
    small = straighten(unicodedata.normalize("NFKC", text)).casefold()
    found: list[str] = _WORD.findall(small)
    return [_whole(word) for word in found] if "'" in small else found


def _whole(word: str) -> str:
    """Leave out what stands behind an English apostrophe, and Uzbek apostrophes themselves."""
    return word.removesuffix("'s").replace("'", "")


def _languages(word: str) -> Iterable[Language]:
    return ("ru", "uz") if _CYRILLIC.search(word) else LATIN


@lru_cache(maxsize=65_536)
def stem_term(stemmed: str) -> int:
    """Return the number of a stem, below zero; 0 where nothing is left of it."""
    folded = fold(stemmed)
    if not folded:
        return 0
    digest = hashlib.blake2b(folded.encode(), digest_size=8).digest()
    return -1 - (int.from_bytes(digest, "big") >> 1)


def _grams(parts: Iterable[str]) -> Iterator[int]:
    for part in parts:
        yield from _grams_of_word(part)


def _inner_grams(parts: Iterable[str]) -> Iterator[int]:
    for part in parts:
        for place in range(len(part) - 2):
            yield gram(part[place : place + 3])


@lru_cache(maxsize=65_536)
def _grams_of_word(word: str) -> tuple[int, ...]:
    """Return a word's letter groups, its edges marked: ``_wo wor ord rd_``."""
    marked = f"_{word}_"
    return tuple(gram(marked[place : place + 3]) for place in range(len(marked) - 2))


@cache
def gram(letters: str) -> int:
    """Return three letters as one number."""
    first, second, third = map(ord, letters)
    return first << 2 * _LETTER_BITS | second << _LETTER_BITS | third
