"""Finds the sentences of a message that may say something, and has the packs read those.

The whole message is searched, once a pack and in linear time, for the words that a phrase cannot
do without; only sentences with such words are read closely.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from memory.detector import english, polish, russian, seed, turkish, uzbek
from memory.detector.folding import fold
from memory.detector.hits import Category, Hit, PackName
from memory.detector.patterns import Expression, ReadyPack, make_ready
from memory.detector.reading import MARKS, Finding, Reading, read, score, typed
from memory.detector.remembering import asked_to_remember
from memory.detector.secrets import MASK, mask_secrets
from memory.detector.sentences import (
    LONGEST_SENTENCE,
    Sentences,
    Span,
    blank_others,
    clauses,
    join_wrapped,
)
from memory.detector.uzbek_scripts import in_cyrillic, in_latin
from memory.detector.values import find_values, value_trigger

# Of sentences that look like facts so many (and so many characters) are read from the beginning
# on, and so many from the end back: the last word counts as much as the first, and a hostile text
# stays cheap. What a person types has a tenth of that.
_READ_FIRST, _READ_LAST = (60, 8_000), (20, 2_400)
_MOST_FIRST, _MOST_LAST = 30, 10
_MOST_HANDED = 10
_LONGEST_LABEL = 120
_CYRILLIC = 0xE0
_SHORT_WORDS = 3
_QUOTED = re.compile(r"[\"“«„]([^\"”»\n]*\w[^\"”»\n]*)[\"”»“]")

_ORDER: tuple[Category, ...] = (
    "correction",
    "proper_noun",
    "preference",
    "decision",
    "remember",
    "forget",
    "specific_value",
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a message gave, and why the rest of what looked like a fact gave nothing.

    Args:
        skipped: How many sentences were left out for each reason.
    """

    hits: list[Hit]
    skipped: dict[str, int]


@dataclass(slots=True)
class _Message:
    """A message while it is read."""

    text: str
    folded: bytes
    sentences: Sentences
    packs: Sequence[ReadyPack]
    asked: Sequence[Span]
    skipped: Counter[str] = field(default_factory=Counter)


def scan(text: str, *, pack: PackName = "standard") -> list[Hit]:
    """Find what a message says that is worth keeping, in the order of the message.

    Args:
        text: As the person wrote it, of any length.
        pack: Which words are listened to.
    """
    return scan_report(text, pack=pack).hits


def scan_report(text: str, *, pack: PackName = "standard") -> Report:
    """Do as `scan`, and count what was left out by its reason."""
    masked = unicodedata.normalize("NFC", mask_secrets(text))
    if pack == "seed":
        return Report(seed.scan(masked), {})
    folded = join_wrapped(blank_others(fold(masked), masked), masked, _says_something)
    message = _Message(masked, folded, Sentences(folded), _packs(), asked_to_remember(masked))
    places = _places(message)
    numbers = sorted(places)
    first = _affordable(message, numbers, _READ_FIRST)
    last = _affordable(message, numbers[: len(first) - 1 : -1] if first else [], _READ_LAST)
    message.skipped["too_many"] += len(numbers) - len(first) - len(last)
    found = _hits(message, places, first) + _hits(message, places, last[::-1])
    unique = {(hit.category, hit.text.casefold(), hit.value.casefold()): hit for hit in found}
    hits = list(unique.values())
    if len(hits) > _MOST_FIRST + _MOST_LAST:
        message.skipped["too_many"] += len(hits) - _MOST_FIRST - _MOST_LAST
        hits = hits[:_MOST_FIRST] + hits[-_MOST_LAST:]
    skipped = {reason: count for reason, count in sorted(message.skipped.items()) if count}
    return Report(hits, skipped)


def _says_something(line: bytes) -> bool:
    """Return whether a line has words that a phrase cannot do without."""
    return any(ready.triggers.search(line) is not None for ready in _packs())


def _affordable(message: _Message, numbers: Sequence[int], most: tuple[int, int]) -> list[int]:
    """Return the sentences from the first on that are few and short enough together."""
    characters = 0
    for place, number in enumerate(numbers[: most[0]]):
        span = message.sentences.span(number)
        characters += span.end - span.start
        if characters > most[1]:
            return list(numbers[: max(place, 1)])
    return list(numbers[: most[0]])


@cache
def _packs() -> tuple[ReadyPack, ...]:
    return (
        make_ready(english.PACK),
        make_ready(russian.PACK),
        make_ready(uzbek.PACK, in_latin),
        make_ready(uzbek.PACK, in_cyrillic),
        make_ready(turkish.PACK),
        make_ready(polish.PACK),
    )


def _places(message: _Message) -> dict[int, set[int]]:
    """Return the sentences that have a trigger, each with the numbers of the packs it is of."""
    places: dict[int, set[int]] = {}
    for number in _with_trigger(message, value_trigger()):
        places.setdefault(number, set())
    for place, ready in enumerate(message.packs):
        for number in _with_trigger(message, ready.triggers):
            places.setdefault(number, set()).add(place)
        for number in _with_trigger(message, ready.value_triggers):
            places.setdefault(number, set())
    for span in message.asked:
        places.setdefault(message.sentences.at(span.start), set())
    return places


def _with_trigger(message: _Message, expression: Expression) -> Iterator[int]:
    position = 0
    while position < len(message.folded):
        found = expression.search(message.folded, max(0, position - 1))
        if found is None:
            return
        stretch = message.folded[found.start() : found.end()]
        place = found.start() + len(stretch) - len(stretch.lstrip(MARKS))
        number = message.sentences.at(max(position, min(place, found.end() - 1)))
        yield number
        position = message.sentences.end(number)


def _hits(message: _Message, places: dict[int, set[int]], numbers: Sequence[int]) -> list[Hit]:
    """Read sentences in their order; what an instruction hands over is skipped with it."""
    hits: list[Hit] = []
    handed_over = -1
    for number in numbers:
        if handed_over >= 0:
            between = range(handed_over + 1, min(number, handed_over + _MOST_HANDED) + 1)
            if not any(map(message.sentences.opens_paragraph, between)):
                message.skipped["handed_over"] += 1
                continue
            handed_over = -1
        span = message.sentences.span(number)
        if message.sentences.is_foreign(number):
            message.skipped["pasted"] += 1
            continue
        readings = _readings(message, span, places[number])
        if any(reading.hands_over for _, reading in readings):
            handed_over = number
            message.skipped["instruction"] += 1
            continue
        hits += _of_sentence(message, number, span, readings)
    return hits


def _readings(
    message: _Message, span: Span, triggered: set[int]
) -> list[tuple[ReadyPack, Reading]]:
    """Read a sentence with the packs whose words it has, and with its language's for its guards."""
    sentence = message.folded[span.start : span.end]
    text = message.text[span.start : span.end]
    likely = _likely(message.packs, sentence)
    packs = [
        ready
        for place, ready in enumerate(message.packs)
        if place in triggered or any(ready is one for one in likely)
    ]
    return [(ready, read(ready, sentence, text)) for ready in packs]


def _likely(packs: Sequence[ReadyPack], sentence: bytes) -> list[ReadyPack]:
    """Return the packs most of whose frequent words a sentence has; all where it has none."""
    scores = [score(ready, sentence) for ready in packs]
    best = max(scores)
    return [ready for ready, points in zip(packs, scores, strict=True) if points == best]


def _of_sentence(
    message: _Message, number: int, span: Span, readings: list[tuple[ReadyPack, Reading]]
) -> list[Hit]:
    text = message.text[span.start : span.end]
    sentence = message.folded[span.start : span.end]
    found: list[Finding] = []
    for _, reading in readings:
        if reading.reason:
            message.skipped[reading.reason] += 1
        found += reading.findings
    asked = [one for one in message.asked if span.start <= one.start < span.end]
    if asked and not any(one.category in ("remember", "forget") for one in found):
        found += _remembered(asked[0], span, sentence, readings)
    hits: list[Hit] = []
    for finding in _settled(found, message, sentence):
        hit = _hit(finding, message, number, text)
        if hit is not None:
            hits.append(hit)
    if any(one.category == "forget" for one in found):
        return hits
    if not readings or all(reading.keeps_values for _, reading in readings):
        hits += _values(message, sentence, text, readings)
    return hits


def _remembered(
    asked: Span, span: Span, sentence: bytes, readings: list[tuple[ReadyPack, Reading]]
) -> list[Finding]:
    """Take what stands beside a "remember" of a language without a pack."""
    start, end = asked.start - span.start, asked.end - span.start
    # The packs' words of asking are other languages' words of other things: "mi" is "my" in
    # Spanish. Cyrillic ones are akin.
    is_akin = any(letter >= _CYRILLIC for letter in sentence[start:end])
    is_asked = is_akin and any(reading.reason == "question" for _, reading in readings)
    if is_asked or sentence.rstrip(b" )\"'").endswith(b"?"):
        return []
    rest = Span(end, len(sentence)) if end < len(sentence) - 2 else Span(0, start)
    stretch = sentence[rest.start : rest.end]
    left = len(stretch) - len(stretch.lstrip(MARKS))
    value = Span(rest.start + left, rest.start + left + len(stretch.strip(MARKS)))
    if value.start >= value.end:
        return []
    return [Finding("remember", "", Span(0, len(sentence)), value, is_negated=False)]


def _settled(found: Sequence[Finding], message: _Message, sentence: bytes) -> list[Finding]:
    """Keep one of what several rules or packs found of a category in the same place."""
    scores = {ready.pack.language: 0 for ready in message.packs}
    if len({finding.language for finding in found}) > 1:
        for ready in message.packs:
            points = score(ready, message.folded[:2000]) + score(ready, sentence)
            scores[ready.pack.language] = max(scores[ready.pack.language], points)
    kept: list[Finding] = []
    # Of equals the rule that stands first in its pack is the more precise one.
    for finding in sorted(found, key=lambda one: -scores.get(one.language, 0)):
        if not any(_overlap(finding, other) for other in kept):
            kept.append(finding)
    return sorted(kept, key=lambda one: (_ORDER.index(one.category), one.span.start))


def _overlap(one: Finding, other: Finding) -> bool:
    if one.category != other.category:
        return False
    if one.category not in ("preference", "proper_noun"):
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end


def _hit(finding: Finding, message: _Message, number: int, text: str) -> Hit | None:
    value = typed(finding.value, text, finding.language)
    said = text[finding.span.start : finding.span.end]
    if finding.category == "remember" and (quote := _QUOTED.search(said)) and not _has_words(value):
        # A quote is blanked for reading, but it may be what is to be remembered.
        value = quote[1]
    if finding.category == "remember" and not _has_words(value):
        said, value = _neighbour(message, number, said)
        if not said:
            message.skipped["nothing_to_remember"] += 1
            return None
    replaces = ""
    if finding.replaces is not None:
        replaces = typed(finding.replaces, text, finding.language)
    return Hit(
        category=finding.category,
        text=_shown(said),
        value=_shown(value),
        is_negated=finding.is_negated,
        language=finding.language,
        replaces=_shown(replaces),
    )


def _has_words(value: str) -> bool:
    return any(map(str.isalnum, value)) or MASK in value


def _shown(said: str) -> str:
    joined = " ".join(said.split()).rstrip(",;:—– ").lstrip(",;:—–-) ")
    return joined if len(joined) <= LONGEST_SENTENCE else joined[: LONGEST_SENTENCE - 1] + "…"


def _values(
    message: _Message, sentence: bytes, text: str, readings: list[tuple[ReadyPack, Reading]]
) -> list[Hit]:
    own = min((reading.own for _, reading in readings), default=len(sentence))
    keeps = all(reading.keeps_measures for _, reading in readings)
    stated = sentence[:own]
    spans = find_values(stated, text, message.packs, keeps_measures=keeps)
    if not spans:
        return []
    parts = clauses(stated)
    language = readings[0][0].pack.language if len(readings) == 1 else ""
    hits = []
    for span in spans:
        start = _start_of(span, parts, stated)
        end = min((part.end for part in parts if part.end >= span.end), default=own)
        hits.append(
            Hit(
                "specific_value",
                _shown(text[start:end]),
                " ".join(text[span.start : span.end].split()),
                language=language,
            )
        )
    return hits


def _start_of(span: Span, parts: Sequence[Span], stated: bytes) -> int:
    """Return where the clause of a value begins, with the label or the words it goes on from.

    In "My phone: +998 90 123 45 67" the phone is said before the colon, in "The code (front door)
    is QX-1234" the code before the parenthesis.
    """
    starts = [part.start for part in parts if part.start <= span.start]
    start = starts.pop() if starts else 0
    while starts and span.start - starts[-1] <= _LONGEST_LABEL:
        mark = stated[:start].rstrip(b" ")[-1:]
        is_bare = not any(map(str.isalnum, stated[start : span.start].decode("latin-1")))
        if mark not in (b"(", b")") and not (is_bare and mark in (b":", b"-")):
            break
        start = starts.pop()
    return start


def _neighbour(message: _Message, number: int, asking: str) -> tuple[str, str]:
    """Find the fact that "remember this" points at; nothing where there is none.

    "Remember this:" points ahead to all that fits; else it points back, or ahead where nothing
    of substance stands before it.
    """
    ahead = [
        _own(message, after)
        for after in range(number + 1, min(number + 11, len(message.sentences)))
    ]
    ahead = [said for said in ahead if said]
    if asking.rstrip().endswith(":"):
        return (" ".join([asking, *ahead]), " ".join(ahead)) if ahead else ("", "")
    before = _own(message, number - 1) if number else ""
    if len(before.split()) >= _SHORT_WORDS:
        return f"{before} {asking}", before
    return (f"{asking} {ahead[0]}", ahead[0]) if ahead else ("", "")


def _own(message: _Message, number: int) -> str:
    """Return a neighbouring sentence where it is a statement of the person's own."""
    span = message.sentences.span(number)
    sentence = message.folded[span.start : span.end]
    if sentence.rstrip(b" )\"'").endswith(b"?") or message.sentences.is_foreign(number):
        return ""
    text = " ".join(message.text[span.start : span.end].split())
    return text if any(map(str.isalnum, sentence.decode("latin-1"))) else ""
