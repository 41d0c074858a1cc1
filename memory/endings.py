"""Whether two words are one with other endings; plain Python over folded words.

A word hangs its endings on differently in each language: `car` and `career` are two words,
`ismim` and `ismimni` are one, and so are `жена` and `жену`.
"""

import os.path
import re
from functools import lru_cache
from typing import Final

# Letters as `memory.sameness.fold` writes them: ı, ü, ş and Cyrillic ones in plain Latin.
_UZBEK = (
    "(?:lar)?(?:im|ing|imiz|ingiz|m|ng|miz|ngiz|i|si)?(?:ning|ni|ga|ka|qa|dagi|dan|da)?"
    "(?:man|san|siz|miz|dir)?"
)
_TURKISH = (
    "(?:lar|ler)?(?:imiz|umuz|iniz|unuz|miz|muz|niz|nuz|im|um|in|un|m|n|si|su|i|u)?"
    "(?:n?[iu]n|n?da|n?de|ta|te|n?dan|n?den|tan|ten|y?la|y?le|y[aeiu]|n?[aeiu])?"
)
_RUSSIAN = (
    "(?:a|u|i|e|ye|o|y|ya|yu|om|em|yem|oy|ey|yey|am|yam|ax|yax|ami|yami|ov|ev|iy|iye|iya|iyu|"
    "aya|oye|uyu|ogo|ego|omu|emu|ix|im|imi)?"
)
_POLISH = (
    "(?:a|e|i|y|o|u|ie|ia|iu|ami|ach|iach|owi|om|ow|em|iem|iom|ego|emu|ej|iej|im|ym|ich|ych|"
    "imi|ymi)?"
)
_ENGLISH = "(?:s|es|d|ed)?"
# How long the part is that both words share, and what may hang on it.
_OF_LANGUAGE: Final = {
    "en": (4, re.compile(_ENGLISH)),
    # Short sentences of these two are taken for each other.
    "uz": (4, re.compile(f"{_UZBEK}|{_TURKISH}")),
    "tr": (4, re.compile(f"{_UZBEK}|{_TURKISH}")),
    "ru": (3, re.compile(_RUSSIAN)),
    "pl": (3, re.compile(_POLISH)),
}
_OF_ANY: Final = (4, re.compile("|".join((_UZBEK, _TURKISH, _RUSSIAN, _POLISH, _ENGLISH))))


@lru_cache(maxsize=8_192)
def is_one_word(one: str, other: str, language: str = "") -> bool:
    """Return whether two folded words differ in their endings at most.

    Short words have to be the same. Either may be the longer one.

    Args:
        language: Whose endings they have; empty tries every language's.
    """
    if one == other:
        return True
    if one[:3] != other[:3]:
        return False
    least, endings = _OF_LANGUAGE.get(language, _OF_ANY)
    shared = len(os.path.commonprefix((one, other)))
    # What both share may reach into the endings: ad|ım and ad|ını.
    return any(
        endings.fullmatch(one[stem:]) is not None and endings.fullmatch(other[stem:]) is not None
        for stem in range(shared, least - 1, -1)
    )
