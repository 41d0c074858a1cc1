"""What differs between two texts, as plain data: lines, and the words within changed lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, islice
from typing import Final, Literal

# Unchanged lines shown around a change; longer stretches are folded.
CONTEXT_LINES: Final = 3
# Comparing is quadratic at worst, and a text may be written to show it. Beyond this, what lies
# between the common beginning and end counts as rewritten.
MOST_LINES: Final = 4_000
# Words of a changed line are compared only while that is quick.
MOST_WORDS: Final = 600
MOST_PAIRS: Final = 200
# Lines that share less than this are another line, not a changed one.
LIKENESS: Final = 0.35

Kind = Literal["same", "removed", "added"]
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_Span = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line, and whether it is what changed in it."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of either text.

    Args:
        old_number: Its place in the old text, from 1; None for an added line.
        new_number: Its place in the new text, from 1; None for a removed line.
    """

    kind: Kind
    old_number: int | None
    new_number: int | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together; a folded block holds unchanged lines far from any change."""

    lines: tuple[Line, ...]
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Diff:
    """Both texts in one; without a change there are no blocks.

    Args:
        added: How many lines the new text has that the old one has not.
        removed: How many lines the old text has that the new one has not.
    """

    blocks: tuple[Block, ...]
    added: int
    removed: int


def compare(old: str, new: str) -> Diff:
    """Return what has to be done to the old text to get the new one."""
    if old == new:
        return Diff((), 0, 0)
    before, after = _split(old), _split(new)
    lines = list(_lines(before, after))
    return Diff(
        blocks=tuple(_blocks(lines)),
        added=sum(line.kind == "added" for line in lines),
        removed=sum(line.kind == "removed" for line in lines),
    )


def _split(text: str) -> list[str]:
    """Return the lines; an end of the last one counts as an empty line, so that it shows."""
    return text.split("\n") if text else []


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    for tag, i1, i2, j1, j2 in _spans(before, after):
        if tag == "equal":
            for offset in range(i2 - i1):
                pieces = (Piece(before[i1 + offset]),)
                yield Line("same", i1 + offset + 1, j1 + offset + 1, pieces)
        else:
            yield from _changed(before[i1:i2], after[j1:j2], i1, j1)


def _spans(before: Sequence[str], after: Sequence[str]) -> Iterator[_Span]:
    """Yield what to do with which lines; the common ends are cheap and go first."""
    start = _common(before, after)
    rest = _common(before[start:][::-1], after[start:][::-1])
    i2, j2 = len(before) - rest, len(after) - rest
    if start:
        yield "equal", 0, start, 0, start
    middle, other = before[start:i2], after[start:j2]
    if max(len(middle), len(other)) > MOST_LINES:
        yield "replace", start, i2, start, j2
    else:
        for tag, a1, a2, b1, b2 in SequenceMatcher(None, middle, other).get_opcodes():
            yield tag, start + a1, start + a2, start + b1, start + b2
    if rest:
        yield "equal", i2, len(before), j2, len(after)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _changed(
    removed: Sequence[str], added: Sequence[str], old_at: int, new_at: int
) -> Iterator[Line]:
    """Yield removed lines, then added ones, with the words that differ in those that pair up."""
    both = islice(zip(removed, added, strict=False), MOST_PAIRS)
    pairs = [_words(mine, theirs) for mine, theirs in both]
    for number, text in enumerate(removed):
        pieces = pairs[number][0] if number < len(pairs) else (Piece(text),)
        yield Line("removed", old_at + number + 1, None, pieces)
    for number, text in enumerate(added):
        pieces = pairs[number][1] if number < len(pairs) else (Piece(text),)
        yield Line("added", None, new_at + number + 1, pieces)


def _words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    whole = (Piece(old),), (Piece(new),)
    mine, theirs = _WORDS.findall(old), _WORDS.findall(new)
    if not mine or not theirs or len(mine) + len(theirs) > MOST_WORDS:
        return whole
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    if matcher.ratio() < LIKENESS:
        return whole
    spans = matcher.get_opcodes()
    return (
        _joined((tag != "equal", mine[i1:i2]) for tag, i1, i2, _, _ in spans),
        _joined((tag != "equal", theirs[j1:j2]) for tag, _, _, j1, j2 in spans),
    )


def _joined(spans: Iterator[tuple[bool, list[str]]]) -> tuple[Piece, ...]:
    return tuple(Piece("".join(words), is_changed) for is_changed, words in spans if words)


def _blocks(lines: Sequence[Line]) -> Iterator[Block]:
    """Yield the lines in order, those far from any change folded."""
    near: set[int] = set()
    for place, line in enumerate(lines):
        if line.kind != "same":
            near.update(range(place - CONTEXT_LINES, place + CONTEXT_LINES + 1))
    for is_near, places in groupby(range(len(lines)), key=lambda place: place in near):
        yield Block(tuple(lines[place] for place in places), is_folded=not is_near)
