"""Writes Uzbek phrases as people type them, in Latin and in Cyrillic letters.

So one pack, in the standard Latin spelling, reads both scripts and the usual short cuts.
"""

import re

# Typed for one another all the time: yahshi, eslab kol, yuq, iwlatamiz.
_LATIN = {
    "sh": "(sh|w)", "ch": "(ch|4)", "o'": "(o'|u)", "q": "(q|k)", "x": "(x|h)", "h": "(h|x)",
}  # fmt: skip
# Longest first. What `folding` folds away (ў to у, қ to к) is written plainly at once.
_CYRILLIC = {
    "yo'": "(йу|йо)", "sh": "ш", "ch": "ч", "yo": "(е|йо)", "ya": "я", "yu": "ю", "ye": "е",
    "o'": "(у|о)", "g'": "г", "ts": "(ц|тс)", "a": "а", "b": "б", "d": "д", "e": "(э|е)", "f": "ф",
    "g": "г", "h": "х", "i": "и", "j": "ж", "k": "к", "l": "л", "m": "м", "n": "н", "o": "о",
    "p": "п", "q": "к", "r": "р", "s": "с", "t": "т", "u": "у", "v": "в", "x": "х", "y": "й",
    "z": "з", "'": "ъ?",
}  # fmt: skip
_KEPT = r"<[^>]*>|\[[^\]]*\]|\\.|"
_LATIN_SIGN = re.compile(_KEPT + "|".join(_LATIN))
_CYRILLIC_SIGN = re.compile(_KEPT + "|".join(_CYRILLIC))


def in_latin(phrase: str) -> str:
    """Return an Uzbek phrase with its letters' usual stand-ins."""
    return _LATIN_SIGN.sub(lambda sign: _LATIN.get(sign[0], sign[0]), phrase)


def in_cyrillic(phrase: str) -> str:
    """Return an Uzbek phrase in Cyrillic; signs and classes of the phrase stay."""
    return _CYRILLIC_SIGN.sub(lambda sign: _CYRILLIC.get(sign[0], sign[0]), phrase)
