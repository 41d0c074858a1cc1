"""Cuts a message into the person's own sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_SENTENCE = 300

_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|no|nr|vs|jr|sr|e\.g|i\.e|etc|approx)|(?<!\w)[^\W\d_])\.$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[)\"'»”]?(?=\s)|\n+")
_CLAUSE_END = re.compile(r"[,;:!](?=\s)|\s[—–-](?=\s)")

# Words of others: quotes of two words or more, quoted lines, code, data, forwarded mail.
_OTHERS = re.compile(
    r"```[\s\S]{0,20000}?(?:```|$)"
    r"|«[^»\n]{1,2000}»|“[^”\n]{1,2000}”|„[^“”\n]{1,2000}[“”]"
    r"|\"[^\"\n]{1,2000}\""
    r"|(?<!\w)'[^'\n]{3,300}'(?!\w)|(?<!\w)‘[^‘’\n]{3,300}’(?!\w)"
)
_OTHERS_LINES = re.compile(r"^[ \t]*(?:>|[{}\[\]]|\"[^\"\n]{1,100}\"[ \t]*:).*$", re.MULTILINE)
_FORWARDED = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*)?(?:(?:begin[ \t]+)?forwarded[ \t]+message|original[ \t]+message|"
    r"пересланное[ \t]+сообщение|on[ \t][^\n]{5,100}[ \t]wrote:[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Where a sentence stands, and whether a blank line stands before it."""

    start: int
    end: int
    opens_paragraph: bool


def blank_others(text: str) -> str:
    """Replace other people's words by spaces; same length.

    A quoted single word stays: it is a name or a term (call me "Dan").
    """
    text = _OTHERS.sub(lambda match: _blank(match[0]), text)
    text = _OTHERS_LINES.sub(lambda match: " " * len(match[0]), text)
    if forwarded := _FORWARDED.search(text):
        text = text[: forwarded.start()] + " " * (len(text) - forwarded.start())
    return text


def _blank(quote: str) -> str:
    """Keep the marks of a quote, so that it still belongs to its sentence."""
    if quote.startswith("```"):
        return " " * len(quote)
    if len(quote.split()) == 1:
        return quote
    return quote[0] + " " * (len(quote) - 2) + quote[-1]


def sentences(text: str) -> Iterator[Sentence]:
    """Yield what ends with a full stop or a line; a longer one than 300 characters in pieces."""
    start = 0
    opens_paragraph = True
    for end in _ends(text):
        for piece_start, piece_end in _pieces(text, start, end):
            yield Sentence(piece_start, piece_end, opens_paragraph)
            opens_paragraph = False
        opens_paragraph = "\n\n" in text[max(start, end - 200) : end]
        start = end


def _ends(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        if not _ABBREVIATION.search(text, max(0, match.end() - 8), match.end()):
            yield match.end()
    yield len(text)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Trim, and cut what is too long at its last space."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST_SENTENCE:
        cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
        cut = start + LONGEST_SENTENCE if cut < 0 else cut
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def clause_starts(sentence: str) -> list[int]:
    """Return where the clauses of a sentence begin, the first at 0."""
    return [0, *(match.end() for match in _CLAUSE_END.finditer(sentence))]
