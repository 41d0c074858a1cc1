"""When two facts are the same, and when one replaces the other; plain Python.

Facts are compared by their words: without case, accents, apostrophes and small words, and with
Cyrillic letters written in Latin, so that `Менинг исмим Сардор` and `mening ismim SARDOR` are one.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from memory.endings import is_one_word
from memory.plain_words import (
    ABOUT,
    ALL,
    DENYING,
    NAMING,
    SMALL,
    SMALL_OF,
    TELLING,
    WORD,
    is_figure,
    is_generic,
    is_kin,
    is_liking,
    is_mail,
    is_naming,
    is_phone,
    words_in,
)
from memory.plain_words import fold as fold

# Two words at least: what follows a name and is another matter.
_BESIDES = re.compile(
    r" (?:(?:and|va|hamda|и|ҳамда|ва|ve|i|oraz) +|(?=(?:from|из|z) ))(\S+ +\S.*?)[\s.!,;]*$"
)
# So many figures are a phone's number, whatever is said with them.
_FIGURES_OF_A_PHONE: Final = 9
_TIME = re.compile(r"\d{1,2}[:.]\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Said:
    """A fact as it is compared.

    Args:
        category: One of ``WalEntry.Category``.
        value: What it is about; empty where that is not known.
        language: Whose endings its words have, as a pack's code; empty where that is not known.
    """

    category: str
    text: str
    value: str = ""
    is_negated: bool = False
    language: str = ""


def words_of(text: str, category: str = "") -> list[str]:
    """Return the words that make a fact of this category what it is, in their order.

    All words where only small ones are left.
    """
    words = WORD.findall(fold(text))
    small = SMALL_OF.get(category, SMALL)
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
    about = _reached_at(said) or " ".join(words_of(said.text, said.category))
    key = f"{said.category}\n{about}\n{denied}\n{author_id or ''}"
    return hashlib.sha256(key.encode()).hexdigest()


def _reached_at(said: Said) -> str:
    """Return whose phone or e-mail a value is, however that is said; empty for other values."""
    if said.category != "specific_value" or not (_is_phone(said.value) or _is_mail(said.value)):
        return ""
    is_mail = _is_mail(said.value)
    value = fold(said.value) if is_mail else "".join(filter(str.isdigit, said.value))
    return " ".join([value, *sorted(_kin_of(words_in(said.text)))])


def is_replaced(old: Said, *, by: Said, replaces: str) -> bool:
    """Return whether a correction makes an earlier fact untrue.

    With the old value named, the earlier fact must hold it and be about the same; else it must
    say the same of another value.

    Args:
        replaces: The old value as the correction names it; empty where it does not.
    """
    about_old, about_new = _about(old, replaces), _about(by, replaces)
    is_same = _are_one(about_old, about_new, by.language)
    if replaces:
        named = words_of(replaces)
        if not _holds(_all_words(old), named, by.language):
            return False
        is_shared = any(_is_one_of(word, about_new, by.language) for word in about_old)
        return is_same or (is_shared and not (_kin_of(about_old) ^ _kin_of(about_new)))
    new = _value_words(by)
    if not new or not _value_words(old) or _holds(_all_words(old), new, by.language):
        return False
    if not about_new and not _is_named(by):
        return False
    return is_same and bool(about_new or _is_named(old))


def may_be_replaced(old: Said, *, by: Said, replaces: str) -> bool:
    """Return whether a correction says less of what it corrects, with a value of the same kind.

    "Actually the meeting is at 16:00" may correct "The meeting with Anna is at 15:00": where it
    is the only fact that fits, it does.

    Args:
        replaces: The old value as the correction names it; empty where it does not.
    """
    if _is_named(old) or _is_named(by) or not _kinds(old) & _kinds(by):
        return False
    about_old, about_new = _about(old, replaces), _about(by, replaces)
    if not _holds(about_old, about_new, by.language) or _kin_of(about_old) - _kin_of(about_new):
        return False
    if replaces:
        return _holds(_all_words(old), words_of(replaces), by.language)
    if not about_new or _holds(_all_words(old), _value_words(by), by.language):
        return False
    # "My work phone" is another one than "my phone".
    return _is_one_of(about_old[0], about_new, by.language)


def is_named(said: Said, *, forgotten: str, language: str = "") -> bool:
    """Return whether a wish to forget names this fact.

    Args:
        forgotten: What shall be forgotten, as it was said; empty names nothing.
        language: Whose endings its words have.
    """
    wanted = _wanted(forgotten)
    if not wanted:
        return False
    if ALL.issuperset(wanted):
        return True
    has = [*words_in(said.text), *words_in(said.value)]
    naming = [word for word in wanted if is_naming(word)]
    liking = [word for word in wanted if is_liking(word)]
    others = [word for word in wanted if word not in naming and word not in liking]
    if naming and not _is_named(said):
        return False
    if liking and others and said.category != "preference" and not any(map(is_liking, has)):
        return False
    if naming and not others:
        # One's own name: nothing else is said of whom it is.
        return not _about(said)
    if liking and not others:
        return _holds(has, liking, language)
    return _names_number(said, others, has, language) or _holds(has, others, language)


def is_vague(forgotten: str) -> bool:
    """Return whether a wish to forget says "my number" and not the number of what."""
    wanted = _wanted(forgotten)
    return bool(wanted) and all(map(is_generic, wanted))


def _wanted(forgotten: str) -> list[str]:
    """Return the words of a wish that name something; those for "everything" where none does."""
    words = [word for word in words_in(forgotten) if word not in ABOUT]
    named = [
        word
        for word in words
        if is_naming(word) or (word not in SMALL | DENYING and word not in ALL)
    ]
    return named or [word for word in words if word in ALL]


def _names_number(said: Said, wanted: Sequence[str], has: Sequence[str], language: str) -> bool:
    """Return whether "my phone number", "my e-mail address" names a fact in other words."""
    exact = [word for word in wanted if not is_generic(word)]
    if not exact or not any(map(is_figure, words_in(said.value or said.text))):
        return False
    for means, is_it in ((is_phone, _is_phone), (is_mail, _is_mail)):
        if all(map(means, exact)):
            is_own = not _kin_of(has) - _kin_of(wanted)
            return is_own and (any(map(means, has)) or is_it(said.value))
    return len(exact) < len(wanted) and _holds(has, exact, language)


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
    return said.category == "proper_noun" or any(map(is_naming, words_in(said.text)))


def _is_phone(value: str) -> bool:
    is_number = not any(map(str.isalpha, value)) and _TIME.search(value) is None
    return is_number and sum(map(str.isdigit, value)) >= _FIGURES_OF_A_PHONE


def _is_mail(value: str) -> bool:
    return "@" in value


def _kinds(said: Said) -> set[str]:
    """Return what a fact's figures are: a time, a day, a phone, an address, a number."""
    text = said.value if any(map(is_figure, words_in(said.value))) else said.text
    if _is_mail(text):
        return {"mail"}
    if _is_phone(text):
        return {"phone"}
    words = [word for word in words_in(text) if is_figure(word)]
    kinds = {"time"} if _TIME.search(text) else set()
    if any(word.isalpha() for word in words):
        kinds.add("day")
    return kinds or ({"number"} if words else set())


def _value_words(said: Said) -> list[str]:
    """Return the words of what a fact tells, without those of what it is about.

    The value of a correction and of what is to be remembered is often a whole statement; where
    it has figures these are meant.
    """
    words = [word for word in words_in(said.value) if word not in TELLING]
    if said.category == "proper_noun":
        return words
    return [word for word in words if is_figure(word)] or words


def _all_words(said: Said) -> list[str]:
    return [*words_of(said.text, said.category), *words_in(said.text), *words_in(said.value)]


def _about(said: Said, replaces: str = "") -> list[str]:
    """Return a fact's words besides its value and what makes it a fact of its kind."""
    text = said.text
    if said.category == "proper_noun" and said.value in text:
        # What follows a name is another matter: "my name is Sarvar and I live in Samarkand".
        text = text[: text.index(said.value) + len(said.value)]
    without = [*_value_words(said), *words_in(replaces)]
    return [
        word
        for word in words_in(text)
        if word not in SMALL | NAMING | DENYING | TELLING
        and not is_naming(word)
        and not is_liking(word)
        and not is_figure(word)
        and not _is_one_of(word, without, said.language)
    ]


def _kin_of(words: Collection[str]) -> set[str]:
    """Return the words that mean somebody else, by how they begin."""
    return {word[:3] for word in words if is_kin(word)}


def _are_one(some: Sequence[str], others: Sequence[str], language: str) -> bool:
    return _holds(some, others, language) and _holds(others, some, language)


def _holds(words: Collection[str], sought: Collection[str], language: str) -> bool:
    return all(_is_one_of(each, words, language) for each in sought)


def _is_one_of(word: str, words: Collection[str], language: str) -> bool:
    return any(is_one_word(word, other, language) for other in words)


def latest(texts: Sequence[str]) -> dict[str, str]:
    """Return texts by key, a later one in the place of an earlier one that says the same."""
    return {key: text for text in texts if (key := key_of(text))}
