"""What a language pack is."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory.detector.hits import Category


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence as its pack reads it: one script, one apostrophe.

    Args:
        cased: As typed; tells names from words.
        lowered: The same in small letters, place by place; patterns run on it.
    """

    cased: str
    lowered: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of saying something worth keeping.

    Args:
        pattern: Searched in small letters.
        accepts: A last look at what no pattern on small letters can see, such as a capital.
    """

    category: Category
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str], Clause], bool] | None = None

    def applies(self, clause: Clause) -> bool:
        """Return whether it is said here."""
        return any(
            self.accepts is None or self.accepts(match, clause)
            for match in self.pattern.finditer(clause.lowered)
        )


@dataclass(frozen=True, slots=True)
class Pack:
    """How one language says what is kept, and what only looks like it.

    Args:
        fold: Brings text into the script and form the patterns are written in.
        question: A clause that asks.
        tag: A clause with a question mark that asks for nothing but a yes.
        request: A question by form that asks to remember.
        retraction: Asks to forget or not to keep; the sentence gives nothing.
        instruction: An instruction for now.
        once: Says that something is meant for this answer only.
        passing: Ties a liking to the moment.
        reported: From here on somebody else's words.
        narrative: Tells what happened; its times and figures are no values.
        remember: Asks to keep.
        filler: Words that are no content beside `remember`.
        values: Dates and labelled values.
        measures: Times and amounts, not kept out of a narrative.
    """

    language: str
    fold: Callable[[str], str]
    question: re.Pattern[str]
    tag: re.Pattern[str]
    request: re.Pattern[str]
    retraction: re.Pattern[str]
    instruction: re.Pattern[str]
    once: re.Pattern[str]
    passing: re.Pattern[str]
    reported: re.Pattern[str]
    narrative: re.Pattern[str]
    remember: re.Pattern[str]
    filler: re.Pattern[str]
    values: re.Pattern[str]
    measures: re.Pattern[str]
    rules: tuple[Rule, ...]


NAME = r"(?P<name>[^\W\d_][\w'-]{0,40})"


def any_of(*patterns: str) -> re.Pattern[str]:
    """Compile alternatives; written in small letters, so without a flag for case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def rules(category: Category, *patterns: str) -> Iterator[Rule]:
    """Make rules that need no last look, as one search."""
    yield Rule(category, any_of(*patterns))


def named(match: re.Match[str], clause: Clause, group: str = "name") -> str:
    """Return what a group matched, as typed."""
    return clause.cased[match.start(group) : match.end(group)]


def is_capitalised(word: str) -> bool:
    """Return whether a word is written as a name: capital first, small letters behind it."""
    return word[:1].isupper() and (len(word) == 1 or any(letter.islower() for letter in word))


def is_specific(word: str) -> bool:
    """Return whether a word is a name or has a figure in it."""
    return is_capitalised(word) or any(letter.isdigit() for letter in word)
