"""What a language pack is, and the small language its expressions are written in.

A pack is data: phrases as a person types them, read by `memory.detector.patterns`.
"""

from dataclasses import dataclass
from typing import Literal

from memory.detector.hits import Category

# Where a rule's value stands: behind the phrase, before it, in its group, or the whole clause.
Place = Literal["after", "before", "group", "clause", "none"]
# What else has to hold of the value: a name typed with its capital, such a name with nothing
# behind it, a name after words that leave no doubt, a name or a figure.
Check = Literal["", "capital", "alone", "name", "specific"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of saying something worth keeping.

    Args:
        phrase: How it is said.
        value: Where its value stands.
        check: What the value has to be.
        but_not: What may not follow the phrase, as a phrase.
        unless: What may not stand anywhere in the sentence, as a phrase.
        is_negated: Whether the phrase itself says no.
        whole: Whether the fact is the whole statement, not its clause alone.
    """

    category: Category
    phrase: str
    value: Place = "after"
    check: Check = ""
    but_not: str = ""
    unless: str = ""
    is_negated: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Pack:
    """How one language says what is kept, and what only looks like it.

    Every field but the first four is a tuple of phrases; an empty one says nothing.

    Args:
        openers: Words that a clause may begin with and still be the clause it is.
        common: Frequent words, by which two packs that found the same settle whose it is.
        not_names: What is no name although it stands in a name's place with a capital.
        question: A clause that asks, with or without its mark.
        not_asking: Words of asking that ask nothing, such as "never" made of "when".
        tag: A clause with a question mark that asks for nothing but a yes.
        request: A question by form that asks to remember.
        discard: Asks not to keep; the sentence gives nothing.
        instruction: Asks for work to be done now.
        standing: Says that an instruction is meant for always.
        once: Says that something is meant for this answer only.
        passing: Ties a liking to the moment.
        reported: From here on somebody else's words.
        reported_all: The whole sentence is somebody else's words.
        not_reported: What looks like that and is the person's own ("they call me X").
        hypothetical: Tells what would be, not what is.
        narrative: Tells what happened or passes; its times and figures are no values.
        negation: Words that say no.
        asks_anywhere: Whether a word of asking asks in any clause of the sentence. Where such
            words also join clauses they ask in the first, else only with a question mark.
        fillers: What a value may begin or end with and does not mean.
        values: Dates and labelled figures.
        measures: Times and amounts, not kept out of a narrative.
    """

    language: str
    openers: str
    common: frozenset[str]
    not_names: frozenset[str]
    question: tuple[str, ...] = ()
    not_asking: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    request: tuple[str, ...] = ()
    discard: tuple[str, ...] = ()
    instruction: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()
    reported_all: tuple[str, ...] = ()
    not_reported: tuple[str, ...] = ()
    hypothetical: tuple[str, ...] = ()
    narrative: tuple[str, ...] = ()
    negation: tuple[str, ...] = ()
    fillers: str = ""
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    asks_anywhere: bool = False


def ways(
    category: Category,
    *phrases: str,
    value: Place = "after",
    check: Check = "",
    but_not: str = "",
    unless: str = "",
    is_negated: bool = False,
    whole: bool = False,
) -> tuple[Rule, ...]:
    """Return one rule a phrase, all with the same conditions."""
    return tuple(
        Rule(category, phrase, value, check, but_not, unless, is_negated, whole)
        for phrase in phrases
    )
