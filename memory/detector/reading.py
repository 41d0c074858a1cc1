"""Reads one sentence with one language's pack."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memory.detector.hits import Category
from memory.detector.packs import Rule
from memory.detector.patterns import Expression, Match, ReadyPack, ReadyRule
from memory.detector.sentences import Span, clauses, opening_of, part_contrasts

_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_'\x7f" + bytes(range(0xE0, 0x100)))
MARKS = b' \n.,;:!?()"*-'
_AS_SPACES = bytes.maketrans(b'.,;:!?()"*-\n', b" " * 12)
# Conjunctions after a comma: when, if, that.
_GOES_ON = re.compile(
    rb"^ *(?:when|if|that|kiedy|gdy|jak|ze|zeby|\xea\xee\xe3\xe4\xe0|\xe5\xf1\xeb\xe8|\xf7\xf2\xee|"
    rb"\xf7\xf2\xee\xe1\xfb|\xea\xe0\xea) "
)
_LONGEST_OPENER = 40
_MOST_MATCHES = 6
_LIST_WORDS = 3
# Turkish and Uzbek hang endings on a name behind an apostrophe: FastAPI'ni, MySQL'i.
# In o' and g' it is part of the letter.
_HUNG_ENDING = re.compile(r"(?<=[\w+#])(?<![oOgG])['‘’ʻʼ`][a-zışüöğ]{0,6}$")
_LANGUAGES_WITH_HUNG_ENDINGS = frozenset({"tr", "uz"})
_QUOTES, _OPENING, _CLOSING = '"“”„«»', frozenset("„«“"), frozenset("”»")
_SURNAME = re.compile(r"[ ]+(?=[^\W\d_])([\w'’ʻʼ‘-]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found in a sentence; all places count from the sentence's start."""

    category: Category
    language: str
    span: Span
    value: Span
    is_negated: bool
    replaces: Span | None = None
    is_whole: bool = False


@dataclass(slots=True)
class Reading:
    """What one sentence gave.

    Args:
        own: Length of what the person states before a question; 0 for nothing.
        wants_more: True where it only says "remember this", and the fact stands beside it.
        hands_over: True where an instruction and a colon hand over text to work on.
        keeps_values: Whether dates and the like in it are kept; `keeps_measures` for times
            and amounts.
        reason: Why something that was said was not taken.
    """

    own: int
    findings: list[Finding] = field(default_factory=list)
    wants_more: bool = False
    hands_over: bool = False
    keeps_values: bool = True
    keeps_measures: bool = True
    reason: str = ""


def is_said(expression: Expression | None, text: bytes) -> bool:
    """Return whether an expression fits; one that is not there never does."""
    return expression is not None and expression.search(text) is not None


def read(ready: ReadyPack, sentence: bytes, text: str) -> Reading:
    """Read a sentence.

    Args:
        sentence: Folded, what others said blanked.
        text: The same as typed, place by place.
    """
    sentence = part_contrasts(sentence)
    reading = Reading(len(sentence))
    if is_said(ready.discard, sentence):
        return _nothing(reading, "asked_not_to_keep")
    if is_said(ready.once, sentence):
        reading.hands_over = _hands_over(sentence)
        return _nothing(reading, "for_once")
    reading.own = _stated(ready, sentence)
    if reading.own == 0:
        return _nothing(reading, "question")
    if reading.own < len(sentence):
        reading.reason = "question"
    stated = sentence[: reading.own]
    if is_said(ready.reported_all, stated) and not is_said(ready.not_reported, stated):
        return _nothing(reading, "words_of_others")
    if is_said(ready.hypothetical, stated):
        reading.reason = "hypothetical"
        reading.keeps_values = False
    else:
        _fill_in(reading, ready, stated, text)
    return reading


def _nothing(reading: Reading, reason: str) -> Reading:
    reading.own, reading.reason = 0, reason
    reading.keeps_values = False
    return reading


def _hands_over(sentence: bytes) -> bool:
    return b": " in sentence or sentence.endswith(b":")


def _stated(ready: ReadyPack, sentence: bytes) -> int:
    """Return how much of the sentence is stated before anything is asked."""
    if is_said(ready.request, sentence):
        return len(sentence)
    is_asked = sentence.rstrip(b" )\"'").endswith(b"?")
    parts = clauses(sentence)
    for part in parts:
        clause = sentence[part.start : part.end]
        may_ask = part.start == 0 or is_asked or ready.asks_anywhere
        if may_ask and _asks(ready, clause):
            return part.start
        if clause.rstrip(b" \"'").endswith(b"?"):
            # Uzbek and Turkish mark what asks; elsewhere a mark may ask for all that went before.
            is_apart = ready.asks_anywhere or is_said(ready.tag, clause)
            return part.start if is_apart else 0
    return 0 if is_asked else len(sentence)


def _asks(ready: ReadyPack, clause: bytes) -> bool:
    """Return whether a clause asks by its words."""
    if ready.not_asking is not None:
        for _ in range(_MOST_MATCHES):
            found = ready.not_asking.search(clause)
            if found is None:
                break
            clause = clause[: found.start() + 1] + clause[found.end() - 1 :]
    return is_said(ready.question, clause)


def _fill_in(reading: Reading, ready: ReadyPack, stated: bytes, text: str) -> None:
    """Fill in what a statement says."""
    own = stated
    if ready.reported is not None and (reported := ready.reported.search(stated)) is not None:
        own = stated[: reported.start()]
        reading.reason = "words_of_others"
    reading.findings = list(_findings(ready, own, text, asks=stated))
    categories = {finding.category for finding in reading.findings}
    if "forget" in categories and "remember" not in categories:
        reading.findings = [one for one in reading.findings if one.category == "forget"]
        reading.keeps_values = False
        return
    is_instruction = is_said(ready.instruction, stated) and not is_said(ready.standing, stated)
    if is_instruction and not categories & {"remember", "correction"}:
        reading.hands_over = _hands_over(stated)
        reading.keeps_values = False
        reading.reason = "instruction"
        # "Call me Dan" is an order by form only; what follows a colon is not the person's own.
        if reading.hands_over:
            reading.findings = []
            reading.own = 0
    if is_said(ready.passing, stated) and not is_said(ready.standing, stated):
        kept = [finding for finding in reading.findings if finding.category != "preference"]
        if len(kept) < len(reading.findings):
            reading.reason = "passing"
        reading.findings = kept
    reading.keeps_measures = not is_said(ready.narrative, stated)


def _findings(ready: ReadyPack, own: bytes, text: str, *, asks: bytes) -> Iterator[Finding]:
    """Yield what the rules find; a wish to remember counts where it is reported, too."""
    parts: list[Span] = []
    for number in ready.of_rules.among(asks):
        one = ready.rules[number]
        said = asks if one.rule.category == "remember" else own
        if one.says.search(said) is None:
            continue
        parts = parts or clauses(asks)
        yield from _matches(ready, one, said, text, parts)


def _matches(
    ready: ReadyPack, one: ReadyRule, said: bytes, text: str, parts: list[Span]
) -> Iterator[Finding]:
    if is_said(one.unless, said):
        return
    position = 0
    for _ in range(_MOST_MATCHES):
        match = one.says.search(said, position)
        if match is None:
            return
        start, end = _bounds(match, said)
        if one.opens and not _opens(ready, said, start):
            position = max(start + 1, position + 1)
            continue
        position = max(end, position + 1)
        if one.but_not is not None and one.but_not.search(said[end:]) is not None:
            continue
        finding = _finding(ready, one, match, Span(start, end), said, text, parts)
        if finding is not None:
            yield finding
            if one.rule.whole:
                return


def _opens(ready: ReadyPack, said: bytes, start: int) -> bool:
    """Return whether a clause opens at a place."""
    before = said[:start]
    if len(before) > _LONGEST_OPENER:
        before = b"x" + before[-_LONGEST_OPENER:]
    return ready.opening.search(before) is not None


def _bounds(match: Match, said: bytes) -> tuple[int, int]:
    """Return a match without the marks on its sides."""
    start, end = match.start(), match.end()
    while start < end and said[start] in MARKS:
        start += 1
    if end > start and said[end - 1] not in _LETTERS:
        end -= 1
    return start, end


def _finding(
    ready: ReadyPack,
    one: ReadyRule,
    match: Match,
    phrase: Span,
    said: bytes,
    text: str,
    parts: list[Span],
) -> Finding | None:
    rule = one.rule
    clause = _clause(phrase, parts, said)
    value = _value(ready, one, match, phrase, clause, said)
    if "name" in one.says.names:
        value = Span(match.start("name"), match.end("name"))
        if not _is_name(ready, rule.check, value, said, text):
            return None
        value = _whole_name(value, said, text)
    elif rule.check == "specific" and not _is_specific(text, value):
        return None
    elif rule.value == "after" and not rule.whole:
        if value.start >= value.end:
            value, clause = _next_clause(ready, rule.category, clause, said, parts)
        if rule.category == "preference":
            value, clause = _with_list(ready, value, clause, said, parts)
    is_empty = value.start >= value.end
    if is_empty and rule.category != "remember" and rule.value in ("after", "before", "group"):
        return None
    replaces = None
    if "old" in one.says.names and match.start("old") >= 0:
        replaces = _trimmed(ready, Span(match.start("old"), match.end("old")), said)
    shown = Span(0, len(said)) if rule.whole else clause
    is_negated = rule.is_negated
    if rule.category in ("preference", "decision", "remember") and not is_negated:
        is_negated = is_said(ready.negation, _denying(rule, value, clause, said))
    return Finding(
        rule.category, ready.pack.language, shown, value, is_negated, replaces, rule.whole
    )


def _denying(rule: Rule, value: Span, clause: Span, said: bytes) -> bytes:
    """Return the words among which "no" denies a fact.

    What is liked may lack something and be liked: in "I love tea without sugar" only what stands
    around the tea counts, and the first word of what is liked.
    """
    if rule.category == "remember":
        return said[value.start : value.end]
    if rule.category == "decision" or rule.value == "clause":
        return said[clause.start : clause.end]
    first = said.find(b" ", value.start, value.end)
    opening = said[clause.start : value.end if first < 0 else first]
    return opening + b" , " + said[value.end : max(value.end, clause.end)]


def _clause(phrase: Span, parts: list[Span], said: bytes) -> Span:
    """Return the clauses that a phrase stands in, without a "but" before them."""
    most = len(said)
    start = max((part.start for part in parts if part.start <= phrase.start), default=0)
    end = min((part.end for part in parts if part.end >= phrase.end), default=most)
    start += opening_of(said[start:end])
    return Span(start, min(end, most))


def _value(
    ready: ReadyPack, one: ReadyRule, match: Match, phrase: Span, clause: Span, said: bytes
) -> Span:
    """Return where a rule's value stands, trimmed."""
    if "v" in one.says.names and match.start("v") >= 0:
        return _trimmed(ready, Span(match.start("v"), match.end("v")), said)
    if one.rule.whole:
        after = _trimmed(ready, Span(phrase.end, len(said)), said)
        if after.start < after.end and one.rule.value == "after":
            return after
        before = _trimmed(ready, Span(0, phrase.start), said)
        return before if before.start < before.end else after
    if one.rule.value == "before":
        return _trimmed(ready, Span(clause.start, phrase.start), said)
    if one.rule.value == "clause":
        return _trimmed(ready, clause, said)
    return _trimmed(ready, Span(phrase.end, clause.end), said)


def _trimmed(ready: ReadyPack, span: Span, said: bytes) -> Span:
    """Leave out marks and words that mean nothing at both ends."""
    start, end = span.start, span.end
    for _ in range(2):
        while start < end and said[start] in MARKS:
            start += 1
        while end > start and said[end - 1] in MARKS:
            end -= 1
        stretch = said[start:end]
        if ready.fillers_before is not None and (found := ready.fillers_before.search(stretch)):
            start += found.end() - (found.end() < len(stretch) and found.end() > 0)
        if start < end and ready.fillers_after is not None:
            stretch = said[start:end]
            if (found := ready.fillers_after.search(stretch)) is not None:
                end = start + found.start()
    while start < end and said[start] in MARKS:
        start += 1
    while end > start and said[end - 1] in MARKS:
        end -= 1
    return Span(start, end)


def _next_clause(
    ready: ReadyPack, category: Category, clause: Span, said: bytes, parts: list[Span]
) -> tuple[Span, Span]:
    """Take the clause that a liking or decision is about: I hate it when …, Agreed, we …"""
    for part in parts:
        if part.start != clause.end:
            continue
        is_told = category == "decision" or said[clause.end - 1 : clause.end] in (b":", b"-")
        if is_told or _GOES_ON.search(said[part.start : part.end]) is not None:
            value = _trimmed(ready, Span(part.start, min(part.end, len(said))), said)
            return value, Span(clause.start, min(part.end, len(said)))
    return Span(clause.end, clause.end), clause


def _with_list(
    ready: ReadyPack, value: Span, clause: Span, said: bytes, parts: list[Span]
) -> tuple[Span, Span]:
    """Go on over the short clauses of an enumeration: tea, coffee and juice."""
    for part in parts:
        if part.start < clause.end or part.end > len(said):
            continue
        stretch = said[part.start : part.end]
        is_list = said[clause.end - 1 : clause.end] == b"," and part.start == clause.end
        is_short = 0 < len(stretch.split()) <= _LIST_WORDS
        if not is_list or not is_short or is_said(ready.triggers, b" " + stretch):
            break
        if is_said(ready.negation, stretch) or is_said(ready.tag, stretch):
            break
        clause = Span(clause.start, part.end)
        value = _trimmed(ready, Span(value.start, part.end), said)
    return value, clause


def _is_name(ready: ReadyPack, check: str, value: Span, said: bytes, text: str) -> bool:
    """Return whether a word in a name's place is one."""
    word = text[value.start : value.end].strip("\"“”«»„'")
    folded = said[value.start : value.end].strip(b"\"'")
    if not word or word[0].isdigit() or folded in ready.not_names:
        return False
    is_capital = word[0].isupper() and (len(word) == 1 or any(map(str.islower, word)))
    if check == "capital":
        return is_capital
    if check == "alone":
        return is_capital and _ALONE.match(text, value.end) is not None
    if word[0].isupper():
        return True
    return _NAME_STOP.match(said, value.end) is not None


# After "I'm" a name ends there, or goes on with a surname.
_ALONE = re.compile(
    r"\s*(?:$|[,.!;:()…—–\"»”]|-\s)|\s+(?:and|from|but|by|here|a|an|the|your|nice|i|not|va|i|и|а|из|с|ve|z)\b"
    r"|\s+[A-ZА-ЯŁŚŻŹĆÇŞĞÜÖİÓ]"
)
_NAME_STOP = re.compile(
    rb"[ \"']*(?:$|[,.;:!()*-]| (?:and|but|va|i|a|ve|ama|from)[ ]"
    rb"| (?:\xe8|\xe0|\xed\xee|\xe8\xe7)[ ]|[ ]+[^ ,.;:!]+[ ]*(?:$|[,.;:!()-]))"
)


def _whole_name(value: Span, said: bytes, text: str) -> Span:
    """Take the surnames behind a name: what goes on with a capital, or as small as the name."""
    end = value.end
    is_small = text[value.start : value.start + 1].islower()
    for _ in range(3):
        found = _SURNAME.match(text, end, len(said))
        if found is None:
            break
        word = found[1]
        ends_all = found.end() >= len(said.rstrip(b" .!")) and is_small
        if not ((word[0].isupper() and len(word) > 1) or (ends_all and len(word) > 2)):
            break
        end = found.end()
    return Span(value.start, end)


def _is_specific(text: str, span: Span) -> bool:
    """Return whether a value holds a name or a figure."""
    words = text[span.start : span.end].split()
    first = 0 if span.start else 1
    return any(any(map(str.isdigit, word)) for word in words) or any(
        word[:1].isupper() for word in words[first:]
    )


def score(ready: ReadyPack, sentence: bytes) -> int:
    """Return how many of a pack's frequent words a sentence has."""
    words = sentence.translate(_AS_SPACES).split()
    return sum(word in ready.common for word in words)


def _is_open(word: str) -> bool:
    """Return whether a quote opens inside and does not close there."""
    return sum(mark in _OPENING for mark in word) > sum(mark in _CLOSING for mark in word)


def typed(value: Span, text: str, language: str) -> str:
    """Return a value as typed, without an ending that was hung on a name."""
    end = value.end
    if text[end : end + 1] in _CLOSING and _is_open(text[value.start : end]):
        end += 1
    word = " ".join(text[value.start : end].split())
    if word[:1] in _QUOTES and word[-1:] in _QUOTES:
        word = word[1:-1]
    elif word[-1:] in _QUOTES and not any(mark in word[:-1] for mark in _QUOTES):
        word = word.rstrip(_QUOTES)
    if language in _LANGUAGES_WITH_HUNG_ENDINGS:
        head, _, last = word.rpartition(" ")
        if any(letter.isupper() or letter.isdigit() for letter in last):
            last = _HUNG_ENDING.sub("", last)
        word = f"{head} {last}".strip()
    return word
