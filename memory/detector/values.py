"""Values: what looks the same in every language, and what a language's words make of figures."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from memory.detector.patterns import Expression, ReadyPack, compile_latin
from memory.detector.sentences import Span

_L = r"[a-z0-9_'\x7f\xe0-\xff]"
_BEFORE = r"(?:^|[^a-z0-9_\x7f\xe0-\xff.,:/@+-])"
_YEAR = r"(?:19|20)\d\d"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
# An ending or a word may hang on a figure: 14:00'te, 15:00да, 3pm.
_HUNG = r"(?:'?[a-z\xe0-\xff]{0,4})"

# Each kind with one group, the value.
_VALUES = (
    rf"{_BEFORE}([a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)",
    r"((?:https?|ftp|ssh|postgres(?:ql)?|redis)://[^ \n\"<>]+[^ \n\"<>.,;:!?)])",
    r"(?:^|[ (])(www\.[a-z0-9-]+\.[^ \n\"<>]+[^ \n\"<>.,;:!?)])",
    r"(?:^|[ (@])((?:t\.me|github\.com|gitlab\.com)/[a-z0-9_./-]+)",
    r"(?:^|[ (])((?:[a-z0-9-]+\.)+[a-z]{2,}:\d{2,5}|localhost:\d{2,5})",
    rf"{_BEFORE}((?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d{{2,5}}|/\d{{1,2}})?)",
    r"(?:^|[^a-z0-9_+])(\+\d[\d ().-]{6,20}\d)",
    rf"{_BEFORE}(8? ?\(?\d{{2,4}}\)?[ -]\d{{3}}[ -]\d\d[ -]\d\d)(?:[^\d]|$)",
    rf"{_BEFORE}(\d{{3}}[ -]\d{{3}}[ -]\d{{3}})(?:[^ \d]| [^\d]| ?$)",
    rf"{_BEFORE}({_YEAR}[-./]{_MONTH}[-./]{_DAY})(?:[^\d]|$)",
    rf"{_BEFORE}({_DAY}[./-]{_MONTH}[./-](?:{_YEAR}|\d\d))(?:[^\d.]|\.[^\d]|\.?$)",
    r"(?:^|[^a-z0-9_#&])(#\d{3,})",
)
_MEASURES = (
    rf"{_BEFORE}((?:[01]?\d|2[0-3]):[0-5]\d(?: ?[ap]\.?m)?{_HUNG})(?:[^\d:]|$)",
    r"(?:^|[^a-z0-9_])((?:[$]|usd|eur) ?\d[\d.,]*(?: ?(?:k|m|bn|mln|million)\b)?)",
    rf"{_BEFORE}(\d[\d.,]*(?: \d{{3}})* ?(?:k|mln|\xec\xeb\xed|\xf2\xfb\xf1)?\.? ?[$])",
    rf"{_BEFORE}(\d{{1,3}}(?:[ ,.']\d{{3}})+)(?:[^\d]|$)",
    rf"{_BEFORE}(\d{{5,}})(?:[^a-z0-9_\xe0-\xff]|$)",
    rf"{_BEFORE}(\d+(?:[.,]\d+)? ?%)",
)
# Names of invoices, flights, parts, read in small letters: the capitals are looked at afterwards.
_IDENTIFIERS = compile_latin(
    rf"{_BEFORE}([a-z]{{1,8}}(?:[-/#]?[a-z0-9]*\d[a-z0-9]*)(?:[-/][a-z0-9]+)*|"
    rf"\d+[a-z]{{1,3}}\d[a-z0-9-]*)"
)
_LIKELY = r"\d{3}|\d[:.]\d\d|[$%] ?\d|\d ?[$%]|@[a-z0-9-]+\.|://|www\.|t\.me/|\d{2}|[a-z-]\d"
_MOST_VALUES = 12
# Between two of these stands nothing of substance: they are one value (15 June, 3pm).
_GLUE = compile_latin(
    r"^(?:[ ,]*(?:at|by|\xe2|\xe2\xee|o|o godz\.?|godz\.?|saat|soat|kuni(?: soat)?|"
    r"\xea\xf3\xed\xe8|"
    r"\xf1\xee\xe0\xf2|gunu(?: saat)?)?[ ,]*)$"
)


@cache
def value_trigger() -> Expression:
    """Return what nothing that is a value can do without."""
    return compile_latin(_LIKELY)


@cache
def _strong() -> tuple[Expression, ...]:
    return tuple(map(compile_latin, _VALUES))


@cache
def _weak() -> tuple[Expression, ...]:
    return tuple(map(compile_latin, _MEASURES))


def find_values(
    stated: bytes, text: str, packs: Sequence[ReadyPack], *, keeps_measures: bool
) -> list[Span]:
    """Return where values stand, in order; a date and its time are one.

    Args:
        stated: A folded statement.
        text: The same as typed.
        packs: Whose months and units are read.
        keeps_measures: Whether times and amounts count.
    """
    spans: list[Span] = []
    _take(spans, _all(_strong(), stated))
    _take(spans, _all((ready.values for ready in packs), stated))
    _take(spans, (span for span in _spans(_IDENTIFIERS, stated) if _is_identifier(text, span)))
    if keeps_measures:
        _take(spans, _all((ready.measures for ready in packs), stated))
        _take(spans, _all(_weak(), stated))
    _take(spans, _all((ready.labels for ready in packs), stated))
    return _joined(sorted(spans, key=lambda span: span.start), stated)


def _all(expressions: Iterable[Expression | None], stated: bytes) -> list[Span]:
    """Return what any of the expressions finds, the longest first."""
    found = [span for one in expressions if one is not None for span in _spans(one, stated)]
    return sorted(found, key=lambda span: span.start - span.end)


def _spans(expression: Expression, stated: bytes) -> Iterator[Span]:
    position = 0
    for _ in range(_MOST_VALUES):
        match = expression.search(stated, position)
        if match is None:
            return
        group = next((one for one in range(1, expression.groups + 1) if match.start(one) >= 0), 0)
        start, end = match.start(group), match.end(group)
        stretch = stated[start:end]
        start += len(stretch) - len(stretch.lstrip(b' \n,.;:!?()"*-'))
        end = start + len(stated[start:end].rstrip(b' \n,;:!?()"*-.'))
        position = max(match.end(group), position + 1)
        if start < end:
            yield Span(start, end)


def _take(spans: list[Span], new: Iterable[Span]) -> None:
    """Add what does not overlap what was found before."""
    for span in new:
        if all(span.end <= other.start or span.start >= other.end for other in spans):
            spans.append(span)


def _is_identifier(text: str, span: Span) -> bool:
    """Return whether a word reads as an identifier: capitals, and figures enough."""
    word = text[span.start : span.end]
    figures = sum(map(str.isdigit, word))
    letters = [letter for letter in word if letter.isalpha()]
    has_capitals = bool(letters) and all(map(str.isupper, letters))
    is_joined = any(mark in word for mark in "-/#")
    return has_capitals and (figures >= 3 or (figures >= 2 and is_joined))


def _joined(spans: list[Span], stated: bytes) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        between = stated[joined[-1].end : span.start] if joined else b"x"
        if joined and len(between) < 16 and _GLUE.search(between) is not None:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined
