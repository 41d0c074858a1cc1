"""When two facts are the same, and when one replaces the other; plain Python.

Facts are compared by their words: without case, accents, apostrophes and small words, and with
Cyrillic letters written in Latin, so that `Менинг исмим Сардор` and `mening ismim SARDOR` are one.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from memory.detector import APOSTROPHES

_WORD = re.compile(r"[\w•]+(?:[.:@/+-][\w•]+)*")
_LATIN: Final = {
    "а": "a", "б": "b", "в": "v", "г": "g", "ғ": "g", "д": "d", "е": "e", "ё": "yo", "ж": "j",
    "з": "z", "и": "i", "й": "y", "к": "k", "қ": "q", "л": "l", "м": "m", "н": "n", "о": "o",
    "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ў": "o", "ф": "f", "х": "x", "ҳ": "h",
    "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ы": "i", "ь": "", "э": "e", "ю": "yu",
    "я": "ya", "ı": "i", "ł": "l", "ø": "o", "đ": "d",
}  # fmt: skip
_PLAIN = str.maketrans({**dict.fromkeys(APOSTROPHES, None), **_LATIN})
# In Uzbek Cyrillic е is ye where a word begins and behind a vowel.
_YE = re.compile(r"(?<![^\W\d_])е|(?<=[аоуиэюяёўы])е")


def _listed(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(fold(text)))


def fold(text: str) -> str:
    """Return text without case, accents and apostrophes, in Latin letters."""
    folded = _YE.sub("ye", text.casefold()).translate(_PLAIN)
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return folded


# What may stand in a sentence or not without changing what it says.
_SMALL = _listed(
    "a an the that this please remember note dont forget really very just so also too well ok okay "
    "actually hey hi hello i im my me am is are was be no sorry meant mean correction from now on",
    "iltimos eslab qol esla esda tut yodda saqla unutma juda ham men mening menga meni aslida yo'q "
    "bu shu kechirasiz",
    "пожалуйста запомни запомните помни не забудь очень я мой моя моё мне меня это на самом деле "
    "вообще-то вообще то нет",
    "lütfen unutma hatırla çok ben benim bana bunu aslında hayır",
    "proszę zapamiętaj pamiętaj bardzo ja mój moja moje mnie to właściwie jednak nie jest",
)
_NAMING = _listed(
    "name names named call called calls known as you can",
    "ism ismim ismi deb atang ayting chaqiring",
    "имя зовут звать зови зовите называй",
    "ad adım adı isim ismim bana de deyin",
    "imię na mam nazywam się mów mówcie mi",
)
_LIKING = _listed(
    "like likes love prefer prefers enjoy want fond of",
    "yoqadi yoqtiraman yoqtirmayman yoqmaydi yaxshi ko'raman ko'rmayman afzal bilaman",
    "люблю нравится предпочитаю обожаю",
    "seviyorum severim sevmiyorum sevmem tercih ederim hoşlanırım hoşlanmam",
    "lubię kocham wolę uwielbiam",
)
_DENYING = _listed(
    "dont do not doesnt does never any more anymore longer cannot cant",
    "hech emas endi",
    "не больше никогда",
    "değil artık",
    "nie już nigdy",
)
_SMALL_OF: Final[dict[str, frozenset[str]]] = {
    "proper_noun": _SMALL | _NAMING,
    "preference": _SMALL | _LIKING | _DENYING,
    "decision": _SMALL | _DENYING,
}
# "Forget everything" in the languages of the detector.
_ALL = _listed(
    "everything all anything", "hammasini barchasini hamma narsani", "всё все", "her şeyi hepsini",
    "wszystko",
)  # fmt: skip
_ABOUT = _listed(
    "about what told you said", "haqida aytgan aytganlarimni", "о об про что сказал сказала",
    "hakkında söylediğimi", "o co powiedziałem powiedziałam",
)  # fmt: skip
# Two words at least: what follows a name and is another matter.
_BESIDES = re.compile(
    r" (?:(?:and|va|hamda|и|ҳамда|ва|ve|i|oraz) +|(?=(?:from|из|z) ))(\S+ +\S.*?)[\s.!,;]*$"
)
# An ending may hang on a word: Sardorman, Москве, İstanbul'da.
_ENDING: Final = 4


@dataclass(frozen=True, slots=True)
class Said:
    """A fact as it is compared.

    Args:
        category: One of ``WalEntry.Category``.
        value: What it is about; empty where that is not known.
    """

    category: str
    text: str
    value: str = ""
    is_negated: bool = False


def words_of(text: str, category: str = "") -> list[str]:
    """Return the words that make a fact of this category what it is, in their order.

    All words where only small ones are left.
    """
    words = _WORD.findall(fold(text))
    small = _SMALL_OF.get(category, _SMALL)
    return [word for word in words if word not in small] or words


def key_of(text: str) -> str:
    """Return what is the same for a fact and its trivial rewordings, whatever its category."""
    return " ".join(words_of(text))


def fingerprint(said: Said, *, author_id: int | None, is_negated: bool | None = None) -> str:
    """Return 64 characters that are the same for the same fact.

    Args:
        author_id: Who said it, where several people speak; None where it makes no difference.
        is_negated: Gives the fingerprint of the opposite, or of the same.
    """
    denied = said.is_negated if is_negated is None else is_negated
    about = " ".join(words_of(said.text, said.category))
    key = f"{said.category}\n{about}\n{denied}\n{author_id or ''}"
    return hashlib.sha256(key.encode()).hexdigest()


def is_replaced(old: Said, *, by: Said, replaces: str) -> bool:
    """Return whether a correction makes an earlier fact untrue.

    With the old value named, the earlier fact must hold it and be about the same; else it must
    say the same of another value.

    Args:
        replaces: The old value as the correction names it; empty where it does not.
    """
    new = set(words_of(by.value)) if by.value else set()
    named = set(words_of(replaces)) if replaces else set()
    has = set(words_of(old.text, old.category)) | set(words_of(old.value))
    if named:
        if not _holds(has, named):
            return False
        about_old, about_new = _about(old, named), _about(by, named | new)
        return about_old == about_new or bool(about_old & about_new)
    if not new or not old.value or _holds(has, new):
        return False
    about_new = _about(by, new)
    if not about_new and not _is_named(by):
        return False
    is_same_kind = about_new or _is_named(old)
    return bool(is_same_kind) and _about(old, set(words_of(old.value))) == about_new


def is_named(said: Said, *, forgotten: str) -> bool:
    """Return whether a wish to forget names this fact.

    Args:
        forgotten: What shall be forgotten, as it was said; empty names nothing.
    """
    wanted = set(words_of(forgotten)) - _ABOUT if forgotten else set()
    if not wanted:
        return False
    if wanted <= _ALL:
        return True
    return _holds(set(_WORD.findall(fold(f"{said.text} {said.value}"))), wanted)


def parts_of(said: Said) -> tuple[str, str]:
    """Return what a fact says of a name, and what it says besides.

    "My name is Sarvar and I live in Samarkand" are two; the second is empty where there is none.
    """
    if said.category != "proper_noun" or not said.value or said.value not in said.text:
        return said.text, ""
    end = said.text.index(said.value) + len(said.value)
    besides = _BESIDES.match(said.text, end)
    return (said.text[:end], besides[1]) if besides else (said.text, "")


def _is_named(said: Said) -> bool:
    """Return whether a fact tells somebody's name."""
    return said.category == "proper_noun" or not _NAMING.isdisjoint(_WORD.findall(fold(said.text)))


def _about(said: Said, without: Collection[str]) -> set[str]:
    """Return a fact's words besides its value and what makes it a fact of its kind."""
    text = said.text
    if said.category == "proper_noun" and said.value in text:
        # What follows a name is another matter: "my name is Sarvar and I live in Samarkand".
        text = text[: text.index(said.value) + len(said.value)]
    words = _WORD.findall(fold(text))
    small = _SMALL | _NAMING | _LIKING | _DENYING
    return {word for word in words if word not in small and not _is_one_of(word, without)}


def _holds(words: Collection[str], sought: Collection[str]) -> bool:
    return all(any(_begins(word, each) for word in words) for each in sought)


def _is_one_of(word: str, values: Collection[str]) -> bool:
    return any(_begins(word, value) for value in values)


def _begins(word: str, stem: str) -> bool:
    """Return whether it is the word, or the word with an ending."""
    return word == stem or (
        len(stem) > 2 and word.startswith(stem) and len(word) - len(stem) <= _ENDING
    )


def latest(texts: Sequence[str]) -> dict[str, str]:
    """Return texts by key, a later one in the place of an earlier one that says the same."""
    return {key: text for text in texts if (key := key_of(text))}
