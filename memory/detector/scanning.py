"""Reads a message sentence by sentence and says what is worth keeping.

Stricter than the words alone: questions, other people's words, instructions for one answer and
what passes give nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory.detector import english, uzbek
from memory.detector.folding import lower, straighten
from memory.detector.hits import Category, Hit, PackName
from memory.detector.packs import Clause, Pack
from memory.detector.secrets import mask_secrets
from memory.detector.sentences import LONGEST_SENTENCE, blank_others, clause_starts, sentences
from memory.detector.values import IDENTIFIERS, MEASURES, VALUES

PACKS: Mapping[str, Pack] = {pack.language: pack for pack in (english.PACK, uzbek.PACK)}

# What somebody pastes is longer than what somebody says; facts stand at its beginning or its end.
SCANNED_CHARACTERS = 16_000
_TAIL_CHARACTERS = 4_000
_MOST_HITS = 30
_SHORT_WORDS = 3

_ORDER: tuple[Category, ...] = (
    "correction",
    "proper_noun",
    "preference",
    "decision",
    "remember",
    "specific_value",
)


@dataclass(slots=True)
class _Reading:
    """What one sentence gave.

    Args:
        own: Length of what the person states before a question, 0 for nothing.
        wants_more: True where it only says "remember this", and the fact stands beside it.
        hands_over: True where an instruction and a colon hand over text to work on.
    """

    text: str
    own: int = 0
    categories: set[Category] = field(default_factory=set)
    wants_more: bool = False
    hands_over: bool = False


def scan(
    text: str, *, pack: PackName = "standard", languages: Sequence[str] = ("en", "uz")
) -> list[Hit]:
    """Find what a message says that is worth keeping, in the order of the message.

    Args:
        text: As the person wrote it; of more than 16,000 characters the first 12,000 and the
            last 4,000 are read.
        pack: Which words are listened to.
        languages: Codes of the packs to read with; unknown ones are skipped.
    """
    masked = mask_secrets(_excerpt(text))
    packs = [PACKS[language] for language in languages if language in PACKS]
    readings = _read(masked, packs)
    hits: dict[tuple[Category, str], Hit] = {}
    for place, reading in enumerate(readings):
        for category in _ORDER:
            if category in reading.categories:
                kept = _text_of(category, place, readings)
                if kept:
                    hits.setdefault((category, kept.casefold()), Hit(category, kept))
    return list(hits.values())[:_MOST_HITS]


def _excerpt(text: str) -> str:
    if len(text) <= SCANNED_CHARACTERS:
        return text
    return text[: SCANNED_CHARACTERS - _TAIL_CHARACTERS] + "\n\n" + text[-_TAIL_CHARACTERS:]


def _read(masked: str, packs: Sequence[Pack]) -> list[_Reading]:
    """Read every sentence; what an instruction hands over is skipped up to the next paragraph."""
    own = straighten(blank_others(masked))
    readings: list[_Reading] = []
    is_handed_over = False
    for sentence in sentences(own):
        is_handed_over = is_handed_over and not sentence.opens_paragraph
        if is_handed_over:
            continue
        reading = _read_sentence(own[sentence.start : sentence.end], packs)
        reading.text = masked[sentence.start : sentence.end]
        # A quote was blanked for reading, but it may be what is to be remembered.
        reading.wants_more &= straighten(reading.text) == own[sentence.start : sentence.end]
        is_handed_over = reading.hands_over
        readings.append(reading)
    return readings


def _read_sentence(sentence: str, packs: Sequence[Pack]) -> _Reading:
    reading = _Reading(sentence)
    whole = [_as_clause(pack, sentence) for pack in packs]
    pairs = list(zip(packs, whole, strict=True))
    if any(pack.retraction.search(clause.lowered) for pack, clause in pairs):
        return reading
    if any(pack.once.search(clause.lowered) for pack, clause in pairs):
        reading.hands_over = ": " in sentence or sentence.endswith(":")
        return reading
    reading.own = _stated(sentence, pairs)
    if reading.own == 0:
        return reading
    stated = sentence[: reading.own]
    pairs = [(pack, _as_clause(pack, stated)) for pack in packs]
    _judge(reading, stated, pairs)
    return reading


def _as_clause(pack: Pack, text: str) -> Clause:
    cased = pack.fold(text)
    return Clause(cased, lower(cased))


def _stated(sentence: str, pairs: Sequence[tuple[Pack, Clause]]) -> int:
    """Return how much of the sentence is stated before anything is asked."""
    if any(pack.request.search(clause.lowered) for pack, clause in pairs):
        return len(sentence)
    is_asked = sentence.rstrip(" )\"'”»").endswith("?")
    starts = clause_starts(sentence)
    clauses = zip(starts, [*starts[1:], len(sentence)], strict=True)
    for start, end in clauses:
        parts = [(pack, _as_clause(pack, sentence[start:end])) for pack, _ in pairs]
        if any(pack.question.search(part.lowered) for pack, part in parts):
            return start
        if is_asked and end == len(sentence) and start > 0:
            is_tag = any(pack.tag.search(part.lowered) for pack, part in parts)
            return start if is_tag else 0
    return 0 if is_asked else len(sentence)


def _judge(reading: _Reading, stated: str, pairs: Sequence[tuple[Pack, Clause]]) -> None:
    """Fill in the categories of a statement."""
    found: set[Category] = set()
    is_instruction = False
    for pack, clause in pairs:
        is_instruction |= pack.instruction.search(clause.lowered) is not None
        found |= _said(pack, clause)
        if asked := pack.remember.search(clause.lowered):
            rest = clause.lowered[: asked.start()] + " " + clause.lowered[asked.end() :]
            reading.wants_more |= not any(map(str.isalnum, pack.filler.sub(" ", rest)))
            found.add("remember")
    if "preference" in found and any(pack.passing.search(c.lowered) for pack, c in pairs):
        found.discard("preference")
    if is_instruction and "remember" not in found:
        reading.hands_over = ": " in stated or stated.endswith(":")
        # "Call me Dan" is an order by form only; what follows a colon is not the person's own.
        if reading.hands_over or not found & {"preference", "proper_noun"}:
            reading.own = 0
            return
    if _has_value(stated, pairs):
        found.add("specific_value")
    reading.categories = found


def _said(pack: Pack, clause: Clause) -> set[Category]:
    """Return what the person says of themselves, before somebody else's words begin."""
    reported = pack.reported.search(clause.lowered)
    if reported is not None:
        clause = Clause(clause.cased[: reported.start()], clause.lowered[: reported.start()])
    return {rule.category for rule in pack.rules if rule.applies(clause)}


def _has_value(stated: str, pairs: Sequence[tuple[Pack, Clause]]) -> bool:
    lowered = lower(stated)
    if VALUES.search(lowered) or IDENTIFIERS.search(stated):
        return True
    if any(pack.values.search(clause.lowered) for pack, clause in pairs):
        return True
    if any(pack.narrative.search(clause.lowered) for pack, clause in pairs):
        return False
    return MEASURES.search(lowered) is not None or any(
        pack.measures.search(clause.lowered) for pack, clause in pairs
    )


def _text_of(category: Category, place: int, readings: Sequence[_Reading]) -> str:
    """Return the sentence, with its neighbour where it only points at it."""
    reading = readings[place]
    parts = [reading.text[: reading.own]]
    if category == "remember" and reading.wants_more:
        parts = _with_neighbour(place, readings)
    joined = " ".join(" ".join(parts).split()).rstrip(",;:—– ")
    return joined if len(joined) <= LONGEST_SENTENCE else joined[: LONGEST_SENTENCE - 1] + "…"


def _with_neighbour(place: int, readings: Sequence[_Reading]) -> list[str]:
    """Find the fact that "remember this" points at; nothing where there is none.

    "Remember this:" points ahead to all that fits; else it points back, or ahead where nothing
    of substance stands before it.
    """
    reading = readings[place]
    asking = reading.text[: reading.own]
    ahead = [after.text[: after.own] for after in readings[place + 1 :] if after.own]
    if asking.rstrip().endswith(":"):
        return [asking, *ahead[:10]] if ahead else []
    before = readings[place - 1] if place else None
    if before and before.own and len(before.text[: before.own].split()) >= _SHORT_WORDS:
        return [before.text[: before.own], asking]
    return [asking, ahead[0]] if ahead else []
