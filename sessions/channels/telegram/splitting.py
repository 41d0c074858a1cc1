"""Text with spans of formatting, measured as Telegram does, and cut into messages of its size.

Telegram counts in UTF-16 code units: most characters are one, emoji two and more. A cut falls
between paragraphs, lines, sentences or words, in this order; never inside a character that is
made of several, and inside code or a link only where one is longer than a message.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

TEXT_UNITS: Final = 4_096
CAPTION_UNITS: Final = 1_024
# Before what a cut-off beginning or end is missing.
MARKER: Final = "…"

_JOINER: Final = "\u200d"
# A quotation may continue in the next message; a link, a bold word or code should not.
_CUTTABLE: Final = frozenset({"blockquote", "expandable_blockquote"})


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that looks different.

    Args:
        kind: The Bot API's name of it: ``bold``, ``pre``, ``text_link`` …
        offset: Where it begins, in UTF-16 code units.
        length: In UTF-16 code units; never 0.
        url: Of a ``text_link``.
        language: Of a ``pre``.
    """

    kind: str
    offset: int
    length: int
    url: str = ""
    language: str = ""

    @property
    def end(self) -> int:
        """Return the offset behind it."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text and the spans in it; spans lie inside the text."""

    text: str
    spans: tuple[Span, ...] = ()


def units(text: str) -> int:
    """Return a text's length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(whole: Formatted, limit: int = TEXT_UNITS) -> list[Formatted]:
    """Cut a text into messages; none where there is nothing but white space.

    Nothing is lost but line breaks at the cuts; a span that a cut goes through goes on in the
    next message. The same text is always cut in the same way.
    """
    if units(whole.text) <= limit:
        return [whole] if whole.text.strip() else []
    ruler = _Ruler(whole.text)
    parts = []
    start, length = 0, len(whole.text)
    while start < length:
        end = ruler.reach(start, limit)
        cut = end if end == length else _best_cut(whole, ruler, start, end, limit)
        part = _piece(whole, ruler, start, cut)
        if part.text.strip():
            parts.append(part)
        start = cut
        while start < length and whole.text[start] == "\n":
            start += 1
    return parts


def beginning(whole: Formatted, limit: int) -> Formatted:
    """Return a text that fits, with a marker where its end is missing."""
    if units(whole.text) <= limit:
        return whole
    first = split(whole, limit - units(MARKER))[0]
    return replace(first, text=first.text + MARKER)


def ending(whole: Formatted, limit: int) -> Formatted:
    """Return a text's last part that fits, with a marker where its beginning is missing."""
    total = units(whole.text)
    if total <= limit:
        return whole
    ruler = _Ruler(whole.text)
    start = ruler.index(total - limit + units(MARKER))
    # From a line's beginning, if one is near.
    line = whole.text.find("\n", start, start + limit // 4) + 1
    start = line or start
    while start < len(whole.text) and not _may_cut(whole.text, start):
        start += 1
    piece = _piece(whole, ruler, start, len(whole.text))
    shift = units(MARKER)
    spans = tuple(replace(span, offset=span.offset + shift) for span in piece.spans)
    return Formatted(MARKER + piece.text, spans)


class _Ruler:
    """Converts between a text's indices and UTF-16 offsets."""

    def __init__(self, text: str) -> None:
        self._offsets = [0, *accumulate(2 if char > "\uffff" else 1 for char in text)]

    def offset(self, index: int) -> int:
        return self._offsets[index]

    def index(self, offset: int) -> int:
        """Return the index of the character in which an offset falls."""
        return bisect_right(self._offsets, offset) - 1

    def reach(self, start: int, limit: int) -> int:
        """Return how far a message that begins at an index can go; at least one character."""
        return max(start + 1, self.index(self._offsets[start] + limit))


def _piece(whole: Formatted, ruler: _Ruler, start: int, end: int) -> Formatted:
    text = whole.text[start:end].rstrip("\n")
    first, last = ruler.offset(start), ruler.offset(start + len(text))
    return Formatted(text, tuple(_clipped(whole.spans, first, last)))


def _clipped(spans: Sequence[Span], first: int, last: int) -> Iterator[Span]:
    for span in spans:
        start, end = max(span.offset, first), min(span.end, last)
        if start < end:
            yield replace(span, offset=start - first, length=end - start)


def _best_cut(whole: Formatted, ruler: _Ruler, start: int, end: int, limit: int) -> int:
    """Return where to cut between ``start`` and ``end``, both indices of the text."""
    text = whole.text
    inside = _inside(whole, ruler, start, end)
    half, eighth = start + (end - start) // 2, start + (end - start) // 8

    def is_free(index: int) -> bool:
        return not inside[index - start]

    def is_line(index: int) -> bool:
        return text[index - 1] == "\n"

    def is_space(index: int) -> bool:
        return text[index - 1].isspace() and _may_cut(text, index)

    choices: tuple[tuple[int, Callable[[int], bool]], ...] = (
        (half, lambda i: is_line(i) and text[i - 2 : i - 1] == "\n" and is_free(i)),
        (half, lambda i: is_line(i) and is_free(i)),
        (half, lambda i: is_space(i) and text[i - 2 : i - 1] in ".!?…" and is_free(i)),
        (half, lambda i: is_space(i) and is_free(i)),
        # Rather a short message than one that ends in the middle of code.
        (eighth, lambda i: is_line(i) and is_free(i)),
        (half, is_line),
        (half, is_space),
        (start, lambda i: _may_cut(text, i) and is_free(i) and i > half),
        (start, lambda i: _may_cut(text, i)),
    )
    for least, suits in choices:
        for index in range(end, max(least, start + 1) - 1, -1):
            if suits(index):
                return index
    # One character that is longer than a message.
    return end


def _inside(whole: Formatted, ruler: _Ruler, start: int, end: int) -> bytearray:
    """Return for each index from ``start`` to ``end`` whether a cut there goes through a span."""
    flags = bytearray(end - start + 1)
    first, last = ruler.offset(start), ruler.offset(end)
    for span in whole.spans:
        if span.kind in _CUTTABLE or span.end <= first or span.offset >= last:
            continue
        begin = max(ruler.index(span.offset) + 1, start)
        stop = min(ruler.index(span.end), end + 1)
        if stop > begin:
            flags[begin - start : stop - start] = b"\x01" * (stop - begin)
    return flags


def _may_cut(text: str, index: int) -> bool:
    """Return whether what people see as one character would stay whole."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if after.isascii() and before.isascii():
        return (before, after) != ("\r", "\n")
    if _JOINER in (before, after) or _extends(after):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        return _flag_letters_before(text, index) % 2 == 0
    return not (_is_jamo(before) and _is_jamo(after))


def _extends(char: str) -> bool:
    """Return whether a character belongs to the one before it: accents, skin tones, variants."""
    code = ord(char)
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, index: int) -> int:
    count = 0
    while count < index and _is_flag_letter(text[index - 1 - count]):
        count += 1
    return count


def _is_jamo(char: str) -> bool:
    """Return whether a character is a part of a Korean syllable."""
    return (
        "\u1100" <= char <= "\u11ff"
        or "\ua960" <= char <= "\ua97f"
        or ("\uac00" <= char <= "\ud7ff")
    )
