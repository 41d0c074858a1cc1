"""Text made comparable without changing its length, so that places in it stay true."""

APOSTROPHES = "'ʻʼ‘’`´′ʹ＇"
_TO_ONE_APOSTROPHE = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))


def straighten(text: str) -> str:
    """Write every kind of apostrophe as ``'``; same length."""
    return text.translate(_TO_ONE_APOSTROPHE)


def lower(text: str) -> str:
    """Lower each letter for itself; same length, unlike `str.lower` (İ becomes two)."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
