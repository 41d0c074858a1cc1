"""The pack `seed`: the six plain triggers of Qanot AI, sentence by sentence.

Kept as simple as they are known, for agents that were used to them; nothing is left out for
being a question or somebody else's words.
"""

from collections.abc import Iterator
from functools import cache

from memory.detector.folding import fold
from memory.detector.hits import Category, Hit
from memory.detector.patterns import Expression, compile_latin
from memory.detector.sentences import LONGEST_SENTENCE, Sentences

_B = r"(?:^|[^a-z0-9_'\x7f\xe0-\xff])"
_TRIGGERS: tuple[tuple[Category, str], ...] = (
    ("correction", rf"{_B}(?:actually|no,? i meant|it'?s not [^\n]+,? it'?s)[ ,]"),
    ("proper_noun", rf"{_B}(?:my name is|i'm|i am|call me) +([^ ,.;:!?\n]+)"),
    ("preference", rf"{_B}i (?:like|prefer|don'?t like|want) "),
    ("decision", rf"{_B}(?:let'?s do|let'?s use|let'?s go|go with|use) "),
    (
        "specific_value",
        r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|https?://[^ \n]+|\d{5,})",
    ),
    ("remember", rf"{_B}(?:remember|don'?t forget|eslab qol|unutma|yodda tut)"),
)
_MOST_HITS = 40


@cache
def _expressions() -> tuple[tuple[Category, Expression], ...]:
    return tuple((category, compile_latin(pattern)) for category, pattern in _TRIGGERS)


def scan(text: str) -> list[Hit]:
    """Find the plain triggers; `text` has its secrets masked."""
    folded = fold(text)
    sentences = Sentences(folded)
    found: dict[tuple[int, Category], Hit] = {}
    for category, expression in _expressions():
        for number, value in _sentences_with(category, expression, folded, sentences, text):
            span = sentences.span(number)
            said = " ".join(text[span.start : span.end].split())[:LONGEST_SENTENCE]
            found.setdefault((number, category), Hit(category, said, value))
    return [found[key] for key in sorted(found, key=lambda key: key[0])][:_MOST_HITS]


def _sentences_with(
    category: Category, expression: Expression, folded: bytes, sentences: Sentences, text: str
) -> Iterator[tuple[int, str]]:
    position, given = 0, 0
    while given < _MOST_HITS and (match := expression.search(folded, position)) is not None:
        number = sentences.at(match.end() - 1)
        value = ""
        if category == "proper_noun":
            value = text[match.start(1) : match.end(1)]
        if category != "proper_noun" or value[:1].isupper():
            given += 1
            yield number, value
        position = max(match.end(), position + 1)
