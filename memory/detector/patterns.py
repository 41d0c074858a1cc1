"""Turns a pack's phrases into linear-time expressions over folded text.

A phrase is a regular expression without look-around, written as people type, with a few signs:

==========  ==============================================================
`` ``       one or more spaces
``'``       an apostrophe, or none where people leave it out
``^``       first: a clause opens here
``$``       last: a clause ends here
`` ?``      any spaces, or none
``@``       one letter or figure
``%``       the word goes on with any letters, or ends
``~``       any words of the same clause, or none
``~~``      anything in the same sentence
``<,>``     punctuation
``<_>``     punctuation, a space, or both
``<w>``     one word
``<name>``  the name that the rule is about, its first word
``<v>``     the value that the rule is about
``<d>…</d>``  a date, without the endings behind it
``<n>``     a figure, of labelled figures
``<old>``   the value that is replaced
==========  ==============================================================
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from memory.detector.folding import fold
from memory.detector.packs import Pack, Rule

LETTER = r"[a-z0-9_'\x7f\xe0-\xff]"
_NO_LETTER = r"[^a-z0-9_'\x7f\xe0-\xff]"
_IN_CLAUSE = r"(?:[^,;:!?\n]|[,:.]\d)"
_START, _STOP = rf"(?:^|{_NO_LETTER})", rf"(?:{_NO_LETTER}|$)"
_CLAUSE_STOP = r"(?:[ \"')*]*(?:[,.;:!?()\n]|$| -))"
_SIGNS = {
    "~~": r"[ ,.;:!?\"()-](?:[^\n]*[ ,.;:\"(-])?",
    "~": rf" (?:{_IN_CLAUSE}*[ \"(-])?",
    "<,>": r" *[,.;:!-]+[ \"]*",
    "<_>": r"(?: *[,.;:!\"()-]+[ \"]*| +\"?)",
    "<w>": rf"{LETTER}+(?:[-./+#&]+{LETTER}+)*",
    "<name>": rf"\"?(?P<name>{LETTER}+(?:-{LETTER}+)*)",
    "<v>": rf"\"?(?P<v>{_IN_CLAUSE}+?)",
    "<d>": "(",
    "</d>": ")",
    "<n>": r"(#?[a-z]{0,3}-?\d[\d.,/-]*[a-z]?)",
    "<old>": rf"\"?(?P<old>{_IN_CLAUSE}+?)",
    "'": "'?",
    "@": LETTER,
    "%": f"{LETTER}*",
    " ?": " *",
    " ": " +",
}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_PARENTHESIS = re.compile(r"\\.|\[[^\]]*\]|\((?!\?)")
_WILD = re.compile(r"~~?|<(?!/?d>)[^>]*>")


class Match:
    """Where an expression and its groups stand."""

    __slots__ = ("_names", "_spans")

    def __init__(self, spans: list[tuple[int, int]], names: dict[str, int]) -> None:
        self._spans, self._names = spans, names

    def start(self, group: int | str = 0) -> int:
        """Return where a group starts; -1 where it took no part."""
        return self._spans[group if isinstance(group, int) else self._names[group]][0]

    def end(self, group: int | str = 0) -> int:
        """Return where a group ends; -1 where it took no part."""
        return self._spans[group if isinstance(group, int) else self._names[group]][1]


class Expression:
    """An expression over bytes, compiled at its first search; it runs in time linear in the text.

    Most of a pack's hundreds are never searched for: compiling all took 6 MB and 0.2 s.
    """

    __slots__ = ("_compiled", "_names", "_options", "_pattern")

    def __init__(self, pattern: bytes, options: re2.Options) -> None:
        self._pattern, self._options = pattern, options
        # Any: the library has no types.
        self._compiled: Any = None
        self._names: dict[str, int] = {}

    @property
    def names(self) -> dict[str, int]:
        """Return the numbers of its named groups."""
        self._compile()
        return self._names

    @property
    def groups(self) -> int:
        """Return how many groups it has."""
        count: int = self._compile().groups
        return count

    def search(self, text: bytes, position: int = 0) -> Match | None:
        """Return the first match from a place on.

        Raises:
            re2.error: The pattern is not one of the library's.
        """
        found = self._compile().search(text, position)
        if found is None:
            return None
        return Match([found.span(group) for group in range(self.groups + 1)], self._names)

    def _compile(self) -> Any:
        if self._compiled is None:
            compiled = re2.compile(self._pattern, self._options)
            self._names = {name.decode(): place for name, place in compiled.groupindex.items()}
            self._compiled = compiled
        return self._compiled


@cache
def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = 32 << 20
    return options


@cache
def compile_latin(pattern: str) -> Expression:
    """Compile an expression over folded text."""
    return Expression(pattern.encode("latin-1"), _options())


def plainly(pattern: str) -> str:
    """Write an expression's words as folded text has them; group names stay."""
    return fold(pattern).decode("latin-1").replace("(?p<", "(?P<")


def expand(phrase: str) -> str:
    """Write a phrase as an expression, its ends at ends of words; `^` is left to the reader."""
    body = phrase.removeprefix("^").removesuffix("$").rstrip(" ")
    folded = plainly(body)
    body = _written(folded)
    if phrase.endswith("$"):
        stop = _CLAUSE_STOP
    else:
        stop = "" if folded.endswith(("%", ">")) else _STOP
    return f"(?:{body}){stop}"


def _written(folded: str) -> str:
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], _ungrouped(folded))


def opening_before(openers: str) -> str:
    """Return what stands before a clause: nothing, a mark, or words that it may begin with."""
    words = _written(plainly(openers))
    return rf"(?:^|[,.;:!?()\"*\n-]|(?:^|{_NO_LETTER})(?:{words})[ ,.!-]) *\"?"


def any_of(phrases: Iterable[str], openers: str = "") -> Expression | None:
    """Compile phrases into one expression; None where there are none."""
    phrases = [phrase for phrase in phrases if phrase]
    opening = [_without_groups(expand(phrase)) for phrase in phrases if phrase.startswith("^")]
    others = [_without_groups(expand(phrase)) for phrase in phrases if not phrase.startswith("^")]
    parts = [f"{opening_before(openers)}(?:{'|'.join(opening)})"] if opening else []
    parts += [f"{_START}(?:{'|'.join(others)})"] if others else []
    return compile_latin("|".join(parts)) if parts else None


def _ungrouped(pattern: str) -> str:
    """Make every group of a phrase one that is not reported."""
    return _PARENTHESIS.sub(lambda found: "(?:" if found[0] == "(" else found[0], pattern)


def _without_groups(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def trigger_of(phrase: str) -> str:
    """Return, as an expression, the longest stretch of a phrase without a wild sign.

    Nothing fits without it. One expression of such stretches finds the sentences worth reading in
    a single pass; with wild signs in it, its automaton would grow without measure.
    """
    pieces = _pieces(phrase)
    longest = max(pieces, key=_least_width)
    expanded = expand(longest)
    if longest is not pieces[-1]:
        expanded = expanded.removesuffix(_STOP)
    return (_START if longest is pieces[0] else "") + _without_groups(expanded)


def _least_width(phrase: str) -> int:
    """Return how many characters a phrase takes at least."""
    return _least_widths(phrase.removeprefix("^").removesuffix("$"), 0)[0]


def _least_widths(phrase: str, position: int) -> tuple[int, int]:
    """Return the least width of the alternatives from a place on, and where they end."""
    widths, width, last = [], 0, 0
    while position < len(phrase) and phrase[position] != ")":
        last = 1
        match phrase[position]:
            case "|":
                widths.append(width)
                width = last = 0
            case "(":
                last, position = _least_widths(phrase, position + 1)
            case "[":
                position = phrase.index("]", position)
            case "'" | "%" | "+" | "?" | "*":
                last = 0
            case "\\":
                position += 1
        position += 1
        if phrase[position : position + 1] in ("?", "*"):
            last = 0
        elif phrase[position : position + 1] == "{":
            end = phrase.index("}", position)
            last *= int(phrase[position + 1 : end].split(",")[0])
            position = end + 1
        width += last
    return min([*widths, width]), position


def _pieces(phrase: str) -> list[str]:
    pieces, start, depth, position = [], 0, 0, 0
    while position < len(phrase):
        depth += {"(": 1, ")": -1}.get(phrase[position], 0)
        wild = _WILD.match(phrase, position)
        if wild is not None and depth == 0:
            pieces.append(phrase[start:position])
            start = position = wild.end()
            if phrase[position : position + 1] == "?":
                start = position = position + 1
        else:
            position += 1
    return [*pieces, phrase[start:]]


class Triggers:
    """Tells which of many phrases a sentence may have, in one pass."""

    __slots__ = ("_set",)

    def __init__(self, phrases: Iterable[str]) -> None:
        self._set = re2.Set.SearchSet(_options())
        for phrase in phrases:
            self._set.Add(trigger_of(phrase).encode("latin-1"))
        self._set.Compile()

    def among(self, sentence: bytes) -> list[int]:
        """Return the numbers of the phrases whose longest stretch a sentence has, ascending."""
        return sorted(self._set.Match(sentence) or ())


@dataclass(frozen=True, slots=True)
class ReadyRule:
    """A rule with its expressions."""

    rule: Rule
    opens: bool
    says: Expression
    but_not: Expression | None
    unless: Expression | None


@dataclass(frozen=True, slots=True)
class ReadyPack:
    """A pack with its expressions, in one script."""

    pack: Pack
    common: frozenset[bytes]
    not_names: frozenset[bytes]
    triggers: Expression
    asks_anywhere: bool
    value_triggers: Expression
    question: Expression | None
    not_asking: Expression | None
    tag: Expression | None
    request: Expression | None
    discard: Expression | None
    instruction: Expression | None
    standing: Expression | None
    once: Expression | None
    passing: Expression | None
    reported: Expression | None
    reported_all: Expression | None
    not_reported: Expression | None
    hypothetical: Expression | None
    narrative: Expression | None
    negation: Expression | None
    fillers_before: Expression | None
    fillers_after: Expression | None
    values: Expression | None
    labels: Expression | None
    opening: Expression
    measures: Expression | None
    rules: tuple[ReadyRule, ...]
    of_rules: Triggers


def make_ready(pack: Pack, write: Callable[[str], str] = str) -> ReadyPack:
    """Compile a pack.

    Args:
        write: Writes its phrases in another script.
    """
    openers = write(pack.openers)

    def each(phrases: tuple[str, ...]) -> Expression | None:
        return any_of(map(write, phrases), openers)

    phrases = [rule.phrase for rule in pack.rules] + [*pack.discard, *pack.instruction]
    fillers = _without_groups(_START + expand(write(pack.fillers))) if pack.fillers else ""
    return ReadyPack(
        pack=pack,
        common=frozenset(fold(write(word)) for word in pack.common),
        not_names=frozenset(fold(write(word)) for word in pack.not_names),
        triggers=_triggers(map(write, phrases)),
        value_triggers=_triggers(map(write, (*pack.values, *pack.labels, *pack.measures))),
        asks_anywhere=pack.asks_anywhere,
        question=each(pack.question),
        not_asking=each(pack.not_asking),
        tag=each(pack.tag),
        request=each(pack.request),
        discard=each(pack.discard),
        instruction=each(pack.instruction),
        standing=each(pack.standing),
        once=each(pack.once),
        passing=each(pack.passing),
        reported=each(pack.reported),
        reported_all=each(pack.reported_all),
        not_reported=each(pack.not_reported),
        hypothetical=each(pack.hypothetical),
        narrative=each(pack.narrative),
        negation=each(pack.negation),
        fillers_before=compile_latin(rf"^(?:[ ,;:.!\"-]*{fillers})+") if fillers else None,
        fillers_after=compile_latin(rf"(?:{fillers}[ ,;:.!\"-]*)+$") if fillers else None,
        values=each(pack.values),
        labels=each(pack.labels),
        opening=compile_latin(opening_before(openers) + "$"),
        measures=each(pack.measures),
        rules=tuple(_make_rule(rule, write) for rule in pack.rules),
        of_rules=Triggers(write(rule.phrase) for rule in pack.rules),
    )


def _triggers(phrases: Iterable[str]) -> Expression:
    triggers = dict.fromkeys(map(trigger_of, phrases))
    return compile_latin("|".join(f"(?:{one})" for one in triggers))


def _make_rule(rule: Rule, write: Callable[[str], str]) -> ReadyRule:
    return ReadyRule(
        rule=rule,
        opens=rule.phrase.startswith("^"),
        says=compile_latin(_START + expand(write(rule.phrase))),
        but_not=_following(write(rule.but_not)),
        unless=any_of([write(rule.unless)] if rule.unless else []),
    )


def _following(phrase: str) -> Expression | None:
    """Compile what may not follow: read from the phrase's end on."""
    if not phrase:
        return None
    return compile_latin(rf"^[ \"]*(?:{_written(plainly(phrase))})(?:{_NO_LETTER}|$)")
