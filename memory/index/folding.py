"""Text in one case, one script, without marks: what people type differently and mean the same.

Folding goes letter by letter and looks at no neighbour. So whatever a text contains, its folded
form contains folded; search by parts of words rests on that.
"""

import unicodedata
from typing import Final

from memory.detector.folding import APOSTROPHES

# Cyrillic as Uzbek writes it in Latin, which is close enough to how Russian names are written.
_CYRILLIC: Final = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюяўқғҳіїєґ",
        (
            *("a", "b", "v", "g", "d", "e", "yo", "j", "z", "i", "y", "k", "l", "m", "n", "o"),
            *("p", "r", "s", "t", "u", "f", "x", "ts", "ch", "sh", "sh", "", "i", "", "e", "yu"),
            *("ya", "o", "q", "g", "h", "i", "i", "e", "g"),
        ),
        strict=True,
    )
)
# Letters that Unicode does not take apart.
_PLAIN: Final = {"ł": "l", "ı": "i", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
_LETTERS: Final = {**_CYRILLIC, **_PLAIN}


class _Folding(dict[int, str]):
    """A table for `str.translate` that learns a letter when it meets it."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_letter(chr(code))
        return folded


def fold(text: str) -> str:
    """Return a text folded: lower case, Latin, no marks, no apostrophes, plain spaces."""
    return text.translate(_FOLDING)


def _fold_letter(letter: str) -> str:
    if letter in APOSTROPHES or letter == "\x00" or "\ud800" <= letter <= "\udfff":
        return ""
    if letter.isspace():
        return " "
    small = letter.casefold()
    if small in _LETTERS:
        return _LETTERS[small]
    return "".join(
        _LETTERS.get(part, part)
        for part in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", small).casefold())
        if unicodedata.category(part) != "Mn" and part not in APOSTROPHES
    )


_FOLDING: Final = _Folding()
