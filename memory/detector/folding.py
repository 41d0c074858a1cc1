"""Text made comparable without changing its length, so that places in it stay true.

Patterns run over `fold`: one byte a character, small letters without marks. So one expression
fits the text with and without diacritics, in any apostrophe, with Turkish I, ı, İ and i alike.
"""

import unicodedata

APOSTROPHES = "'ʻʼ‘’`´′ʹ＇"
_TO_ONE_APOSTROPHE = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))

# A letter of a script that no pack reads.
OTHER_LETTER = "\x7f"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_CYRILLIC_START = 0xE0
# Typed without their marks as often as with them.
_PLAINER = {
    "ё": "е", "ў": "у", "қ": "к", "ғ": "г", "ҳ": "х", "і": "и", "ї": "и", "є": "е", "ґ": "г",
    "ı": "i", "ł": "l", "ß": "s", "ø": "o", "đ": "d", "æ": "a", "œ": "o", "ə": "e", "ŋ": "n",
    "№": "#",
}  # fmt: skip
_DASHES = "‐‑‒–—―−"
_QUOTES = "“”„‟«»″＂"
_MONEY = "€£₽¥₸₺₴₼₹"
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\ufe0f\u00ad"
_WHITE = "\t\r\v\f\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def straighten(text: str) -> str:
    """Write every kind of apostrophe as ``'``; same length."""
    return text.translate(_TO_ONE_APOSTROPHE)


def fold(text: str) -> bytes:
    """Return one byte a character: what the packs' expressions read.

    Latin letters become a-z, Cyrillic ones 0xE0-0xFF, other scripts' 0x7F; what is neither letter,
    figure nor known punctuation becomes ``;``, as it ends a clause (a smiley does).
    """
    return text.translate(_TABLE).encode("latin-1")


class _Table(dict[int, str]):
    """Folds what is listed by table and the rest by its kind."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter.isdigit():
            return str(unicodedata.digit(letter, 0))
        # The vowel signs of Indic scripts are marks, and belong to their word.
        is_letter = letter.isalpha() or unicodedata.category(letter).startswith("M")
        return OTHER_LETTER if is_letter else ";"


def _folded(letter: str) -> str:
    small = letter.lower()[:1]
    small = _PLAINER.get(small, small)
    if small in _CYRILLIC:
        return chr(_CYRILLIC_START + _CYRILLIC.index(small))
    base = unicodedata.normalize("NFKD", small)[:1]
    return base if base.isascii() and base.isalnum() else OTHER_LETTER


def _make_table() -> _Table:
    table = _Table({code: chr(code) for code in range(0x20, 0x7F)})
    table[0x7F] = ";"
    table[ord("\n")] = "\n"
    codes = (*range(0x41, 0x7B), *range(0xAA, 0x530), *range(0x1E00, 0x1F00))
    letters = map(chr, codes)
    table.update({ord(letter): _folded(letter) for letter in letters if letter.isalpha()})
    for letters_of, as_ in (
        (APOSTROPHES, "'"), (_DASHES, "-"), (_QUOTES, '"'), (_MONEY, "$"), (_WHITE, " "),
        (_ZERO_WIDTH, "'"), ("№", "#"), ("…", "."), ("，、", ","), ("。！", "\n"),
        ("：", ":"), ("？", "?"),         ("·", "*"), ("•", OTHER_LETTER),
    ):  # fmt: skip
        table.update({ord(letter): as_ for letter in letters_of})
    return table


_TABLE = _make_table()
