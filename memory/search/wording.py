"""What the words of two texts say about each other, in five languages; plain Python.

Rules of thumb, for what vectors do not tell: `green` and `blue`, `like` and `don't like` lie close
together.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from memory.files import words_of_line
from memory.index.folding import fold
from memory.index.languages import Language, is_stop_word, language_of, stem
from memory.index.terms import words

_IDENTIFIER: Final = re.compile(r"[^\W_][\w./:@#+-]*[^\W_]|[^\W_]", re.ASCII)
_PLAIN_NUMBER: Final = re.compile(r"\d{1,4}([.:/,-]\d{1,4}){0,2}")
_NUMBER: Final = re.compile(r"\d[\d.:,/-]*\d|\d")
_CAPITALISED: Final = re.compile(r"(?<=[^\s.!?:«“\"])\s+([^\W\d_][\w'’ʻʼ]*)")
MOST_IDENTIFIERS: Final = 3
# Two words are the same where they share at least so much of their letter groups.
SAME_LETTERS: Final = 0.5
SHORTEST_ALIKE: Final = 4
# No stemmer changes how a word begins.
COMMON_BEGINNING: Final = 2


def _folded(*texts: str) -> frozenset[str]:
    return frozenset(fold(word) for text in texts for word in text.split())


# Words that say that something is not so.
_DENYING: Final = _folded(
    "not no never none nobody nothing dont doesnt didnt isnt arent wasnt cant cannot wont without",
    "emas yoq hech",
    "не нет никогда ничего никто без",
    "değil hiç yok",
    "nie nigdy nic nikt bez",
)
# Uzbek and Turkish deny inside the verb: yemayman, yemiyorum, ishlamaydi.
_DENYING_VERB: Final = re.compile(
    r"\w+(?:may(?:man|san|di|miz|siz|dilar)|madim|madi|magan\w*|m[iu]yor\w*|mem|mam|mez\w*|maz\w*)$"
)
_STEMMED: Final[tuple[Language, ...]] = ("en", "ru", "tr", "pl")
_UZBEK_ENDING: Final = re.compile(
    r"\w\w(?:ning|lar|dan|ga|da|ni|man|miz|adi|ydi|ymiz|im|imiz|gan|moqda)$"
)
# Words by which people say that something changed.
_CHANGING: Final = _folded(
    "now nowadays anymore longer instead changed change switched switch moved move new renamed "
    "replaced replace became become started stopped quit left sold upgraded rescheduled "
    "postponed again since actually correction rebuilt rebooked updated raised finished gave down "
    "arrived joined took",
    "endi hozir yangi ozgardi ozgartirdim ozgartirdik kochdim kochdik kochib kochirildi "
    "almashtirdi almashtirdim almashtirdik otdim otdik otkazdik ketdim ketdik sotdim qoldirildi "
    "oshdi tushdi "
    "qayta oshirildi tashlab kechdim beri yana aslida qoshildi tugatdim tuzatildi keldi",
    "теперь сейчас больше вместо новый новая новое новые сменил сменили изменил изменили перешел "
    "перешёл перешла перешли переехал переехала переехали перенесли перевели стал стала ушел ушёл "
    "ушли продал бросил бросила снова отложили заменил починили переписали подорожала увеличили "
    "прибыла пришли дочитал похудел перебронировали",
    "artık şimdi yeni değişti değiştirdim değiştirdik taşındım taşındı taşındık geçtim geçti "
    "geçtik geçirdik bıraktım bıraktı bıraktık ayrıldım sattım alındı ertelendi yükseldi çıkarıldı "
    "düştüm değiştirdi çevirdik çevirdim çevirdi vazgeçtim katıldı ulaştı yeniden beri sonra "
    "aslında devraldı bitirdim",
    "teraz już zamiast nowy nowa nowe nowego zmienił zmieniłem zmieniliśmy zmienili przeszedłem "
    "przeszliśmy przeprowadziłem przeprowadziła przeprowadziliśmy przeniesiono przenieśliśmy "
    "przesunięto przełożono odszedłem odszedł odeszliśmy sprzedałem rzucił zrezygnowałem znowu od "
    "wzrósł podniesiono schudłem zamienił przejął naprawiono doszły dotarła poszła przepisano",
)


def identifiers(query: str) -> list[str]:
    """Return what of a query is a mark of one thing: ``INV-88123``, ``10.0.0.5:8080``.

    It has a digit, and is longer or stranger than a year, a date, a time or an amount.
    """
    found = [part for part in _IDENTIFIER.findall(query) if any(map(str.isdigit, part))]
    marks = [part for part in found if len(part) >= 4 and not _PLAIN_NUMBER.fullmatch(part)]
    return list(dict.fromkeys(marks))[:MOST_IDENTIFIERS]


@lru_cache(maxsize=4_096)
def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that say something; all of them where none does."""
    language = language_of(text)
    every = tuple(dict.fromkeys(_words(text)))
    return tuple([word for word in every if not is_stop_word(word, language)]) or every


def coverage(sought: Iterable[str], text: str) -> float:
    """Return which share of words a text has, other endings allowed; long words weigh more."""
    wanted = tuple(sought)
    weights = weighed(wanted)
    return sum([weights[word] for word in _present(wanted, text)])


def weighed(sought: Iterable[str]) -> dict[str, float]:
    """Return how much each word counts in `coverage`; together they count one."""
    weights = {word: min(len(word), 8) for word in sought}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def present(sought: Iterable[str], text: str) -> frozenset[str]:
    """Return which words a text has, other endings allowed."""
    return _present(tuple(sought), text)


def names(text: str) -> tuple[str, ...]:
    """Return the words of a text that are written as names; the first of a sentence never is."""
    return tuple(_names(text))


@lru_cache(maxsize=4_096)
def named(sought: tuple[str, ...], text: str) -> frozenset[str]:
    """Return which of some names a text names."""
    return _seeker(sought).among(_words(text)) if sought else frozenset()


@lru_cache(maxsize=4_096)
def _present(sought: tuple[str, ...], text: str) -> frozenset[str]:
    """Return which words a text has; kept, as each passage is compared with each other."""
    return _seeker(sought).among(content_words(text))


@lru_cache(maxsize=1_024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


@lru_cache(maxsize=1_024)
def tells_change(text: str) -> bool:
    """Return whether a text says that something is different now."""
    return any(fold(word) in _CHANGING for word in _words(text))


def contradict(one: str, other: str) -> bool:
    """Return whether two texts that mean much the same cannot be told as one.

    They name other numbers or other names, or one denies what the other says.
    """
    if _numbers(one) != _numbers(other) or _denials(one) % 2 != _denials(other) % 2:
        return True
    names, others = _names(one), _names(other)
    return bool(_beyond(names, other)) and bool(_beyond(others, one))


def is_other_language(text: str, languages: Collection[Language]) -> bool:
    """Return whether a text is surely in none of these; English is also what nothing tells."""
    guess = language_of(text)
    if guess == "en" and not any(is_stop_word(word, "en") for word in _words(text)):
        # Uzbek without its apostrophes and small words still has its endings.
        is_uzbek = sum(bool(_UZBEK_ENDING.search(word)) for word in _words(text)) > 1
        return is_uzbek and "uz" not in languages
    return guess not in languages


def is_same_wording(one: str, other: str) -> bool:
    """Return whether two texts are equal but for case, marks, signs and a line's own stamps."""
    return wording(one) == wording(other)


@lru_cache(maxsize=1_024)
def wording(text: str) -> tuple[str, ...]:
    """Return a text's words without case, marks, signs and a line's own stamps."""
    return tuple(words(fold(words_of_line(text))))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _denials(text: str) -> int:
    folded = [fold(word) for word in _words(text)]
    return sum(word in _DENYING or bool(_DENYING_VERB.fullmatch(word)) for word in folded)


def _names(text: str) -> list[str]:
    return [name for name in _CAPITALISED.findall(text) if name[:1].isupper() and len(name) > 1]


def _beyond(names: Iterable[str], text: str) -> list[str]:
    has = _words(text)
    return [name for name in names if not _has(fold(name), has)]


def _has(word: str, others: Iterable[str]) -> bool:
    return bool(_seeker((word,)).among(others))


class _Seeker:
    """Looks for a few words among many: the same, of one stem, or with half their letter groups.

    Words of fewer than four letters have too few groups to tell.
    """

    def __init__(self, sought: tuple[str, ...]) -> None:
        self._sought = sought
        folded = [fold(word) for word in sought]
        self._stems = [_stems(word) for word in folded]
        self._sizes = [len(_groups(word)) for word in folded]
        self._beginnings = {word[:COMMON_BEGINNING] for word in folded}
        self._with_group: dict[str, list[int]] = {}
        self._known: dict[str, tuple[int, ...]] = {}
        for place, word in enumerate(folded):
            for group in _groups(word) if len(word) >= SHORTEST_ALIKE else ():
                self._with_group.setdefault(group, []).append(place)

    def among(self, words: Iterable[str]) -> frozenset[str]:
        """Return which of the sought words are there."""
        found: set[int] = set()
        for word in words:
            same = self._known.get(word)
            if same is None:
                same = self._known[word] = self._same_as(fold(word))
            if same:
                found.update(same)
        return frozenset([self._sought[place] for place in found])

    def _same_as(self, folded: str) -> tuple[int, ...]:
        """Return the places of the sought words that are the same as a word."""
        same = []
        if folded[:COMMON_BEGINNING] in self._beginnings:
            stems = _stems(folded)
            same += [place for place, own in enumerate(self._stems) if not own.isdisjoint(stems)]
        if len(folded) < SHORTEST_ALIKE:
            return tuple(same)
        groups = _groups(folded)
        if self._with_group.keys().isdisjoint(groups):
            return tuple(same)
        shared: dict[int, int] = {}
        for group in groups:
            for place in self._with_group.get(group, ()):
                shared[place] = shared.get(place, 0) + 1
        for place, count in shared.items():
            if count >= SAME_LETTERS * min(len(groups), self._sizes[place]):
                same.append(place)
        return tuple(same)


@lru_cache(maxsize=64)
def _seeker(sought: tuple[str, ...]) -> _Seeker:
    return _Seeker(sought)


@lru_cache(maxsize=8_192)
def _stems(folded: str) -> frozenset[tuple[Language, str]]:
    # Uzbek has no stemmer: the word itself.
    return frozenset([("uz", folded), *((one, stem(folded, one)) for one in _STEMMED)])


@lru_cache(maxsize=8_192)
def _groups(word: str) -> frozenset[str]:
    marked = f"_{word}_"
    return frozenset([marked[place : place + 3] for place in range(len(marked) - 2)])
