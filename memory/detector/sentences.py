"""Cuts a folded message into sentences and clauses, and blanks what others said.

Everything here runs over `folding.fold`'s bytes, whose places are the message's own. The
expressions of `re` here are plain runs of characters, linear as they stand.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from memory.detector.patterns import compile_latin, plainly

LONGEST_SENTENCE = 300
_LONGEST_READ = 500
# A bullet folds to a letter, as what is masked does.
_BULLET = b"\x7f "

# Behind these a full stop ends no sentence: Dr., e.g., ул., тыс., godz., vb.
_SHORTENED = "".join(
    f"(?<![ (]{word}\\.)(?<!^{word}\\.)"
    for word in (
        "[a-z\\xe0-\\xff]", "dr", "mr", "ms", "mrs", "prof", "vs", "jr", "sr", "etc", "st",
        "nr", "np",
        "ul", "tel", "min", "max", "godz", "tys", "mln", "tzn", "vb", "vs",
        "\\xf3\\xeb", "\\xf2\\xe5\\xeb", "\\xf0\\xf3\\xe1", "\\xf2\\xfb\\xf1", "\\xec\\xeb\\xed",
    )
)  # fmt: skip
_END = re.compile(rf"(?:[!?]|\.{_SHORTENED})[.!?]*[\"')]*(?=[ \n;]|$)|\n+".encode("latin-1"))
# But, in each of the languages, where a statement of its own follows.
_BUT = (
    rb"(?:but i[ ']|(?:ama|fakat|lekin|ammo|biroq) |"
    rb"ale (?:nie|lubi|wol|uwielb|kocha|mam|jest|ja )|"
    rb"(?:\xed\xee|\xeb\xe5\xea\xe8\xed|\xe0\xec\xec\xee) )"
)
_BEFORE_BUT = re.compile(rb"(?<![,;:!?. ]) (?=" + _BUT + rb")")
_OPENING_BUT = re.compile(
    rb" *(?:but|ama|fakat|lekin|ammo|biroq|ale|\xed\xee|\xeb\xe5\xea\xe8\xed|\xe0\xec\xec\xee) +"
)
_CLAUSE_END = re.compile(rb"[,;:!?](?=[ \n\"]|$|" + _BUT + rb")| -(?= )|[()]")
# Of two words or more: a quoted single word is a name or a term (call me "Dan").
_QUOTE = re.compile(rb"\"[^\"\n]*\"")
_QUOTE_OF_APOSTROPHES = re.compile(
    rb"(?<![a-z0-9\xe0-\xff'])'[^ '\n]+ "
    rb"[^'\n]*'(?![a-z0-9\xe0-\xff])"
)
_FORWARDED = compile_latin(
    r"(?:^|\n)[ >-]*(?:(?:begin )?forwarded (?:message|from)|original message|fwd:|fw:|"
    r"\xef\xe5\xf0\xe5\xf1\xeb\xe0\xed+\xee\xe5? \xf1\xee\xee\xe1\xf9\xe5\xed\xe8\xe5|"
    r"\xef\xe5\xf0\xe5\xf1\xeb\xe0\xed\xee \xee\xf2|iletilen mesaj|yonlendirilen (?:mesaj|ileti)|"
    r"(?:przekazana |przeslana )wiadomosc|wiadomosc przekazana|yo'naltirilgan xabar|"
    r"uzatilgan xabar|"
    r"on [^\n]{5,100} wrote: *(?:\n|$)|[^\n]{5,100} \xef\xe8\xf1\xe0\xeb(?:\xe0|"
    r"\(\xe0\))?: *(?:\n|$)|"
    r"dnia [^\n]{5,100} napisal(?:a|\(a\))?: *(?:\n|$)|[^\n]{5,100} sunlari yazdi: *(?:\n|$))"
)
# A mail that was pasted whole: who sent it, and its subject or an address among its heads. A
# journey has a from and a to as well.
_SENT = "(?:^|\n) *(?:from|от|от кого|kimden|od|kimdan) ?: *"
_MAIL_HEAD = compile_latin(
    plainly(
        rf"{_SENT}[^\n]+\n(?:[^\n]+\n){{0,3}} *(?:subject|тема|konu|temat|mavzu) ?: *[^ \n]"
        rf"|{_SENT}[^\n]*@[^\n]*\n *(?:to|date|sent|cc|кому|дата|kime|tarih|do|data|kimga)"
        r" ?: *[^ \n]"
    )
)
# A line that ends without a mark, and a small letter right behind it.
_WRAP = re.compile(rb"(?<=[a-z0-9,'\xe0-\xff])\n(?=[a-z\xe0-\xff])")
_LABEL = re.compile(rb"(?:[^ :]+ ){0,3}[^ :]+ ?[:=](?: |$)")
_WIDE, _MOST_WRAPS = 60, 100
# Lines of mail quotes, data, logs, stack traces, shell sessions.
_FOREIGN_LINE = compile_latin(
    r"^ *(?:>|[{}\[]|<[a-z/!?]|\"[^\"\n]+\" *:|\||[$#] [a-z./]+|"
    r"(?:\[?\d{4}-\d\d-\d\d[ t]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[\d\d?[./]\d\d?[./]\d\d)|"
    r"[a-z]{3} +\d+ \d\d:\d\d:\d\d |(?:traceback \(|at [a-z_.$]+\(|file \"|caused by: )|"
    r"(?:error|warn|warning|info|debug|fatal|trace)[:\]]|"
    r"(?:from|to|subject|date|cc|\xee\xf2|\xea\xee\xec\xf3|\xf2\xe5\xec\xe0|kimden|konu|od|temat): "
    r"[^\n]*@|"
    r"[a-z_][a-z0-9_.]* ?=|(?:def|class|import|from|const|let|var|function|return|select|insert|"
    r"update) [^\n]*[=;({*]|(?:commit [0-9a-f]{7}|diff --git|\+\+\+ |--- a/|@@ ))"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the message."""

    start: int
    end: int


def blank_others(folded: bytes, text: str) -> bytes:
    """Replace fenced code, quotes and what follows a forward's heading by spaces; same length.

    Args:
        text: The same as typed; a backquote folds to an apostrophe, as Uzbek uses it.
    """
    if "```" in text:
        folded = _blank_code(folded, text)
    if b'"' in folded:
        folded = _QUOTE.sub(_blank, folded)
    if b" '" in folded or folded.startswith(b"'"):
        folded = _QUOTE_OF_APOSTROPHES.sub(_blank, folded)
    for heading in (_FORWARDED, _MAIL_HEAD):
        if (forwarded := heading.search(folded)) is not None:
            folded = folded[: forwarded.start()] + b" " * (len(folded) - forwarded.start())
    return folded


def join_wrapped(folded: bytes, text: str, opens: Callable[[bytes], bool]) -> bytes:
    """Make one line of lines that were wrapped by width, so that a sentence stays one; same length.

    A line goes on where the next begins small behind one that is long, or began with a capital.
    A label or data goes on from nothing, nor does a statement from a short line.

    Args:
        text: The same as typed.
        opens: Tells whether a line has words that say something.
    """
    joined = bytearray(folded)
    start = 0
    for end in islice((found.start() for found in _WRAP.finditer(folded)), _MOST_WRAPS):
        start = max(start, folded.rfind(b"\n", 0, end) + 1)
        is_wide = end - start >= _WIDE
        is_wrapped = is_wide or text[start : start + 1].isupper()
        line = folded[end + 1 : end + _LONGEST_READ].split(b"\n", 1)[0]
        is_own = _LABEL.match(line) or _FOREIGN_LINE.search(line) or (not is_wide and opens(line))
        if not is_wrapped or not text[end + 1].islower() or is_own:
            continue
        if _FOREIGN_LINE.search(folded[start : start + _LONGEST_READ]) is None:
            joined[end : end + 1] = b" "
    return bytes(joined)


def _blank_code(folded: bytes, text: str) -> bytes:
    pieces: list[bytes] = []
    place = 0
    for number, part in enumerate(text.split("```")):
        own = folded[place : place + len(part)]
        pieces.append(b" " * len(part) if number % 2 else own)
        place += len(part) + 3
    return b"   ".join(pieces)


def _blank(match: re.Match[bytes]) -> bytes:
    """Keep the marks of a quote, so that it still belongs to its sentence."""
    if b" " not in match[0]:
        return match[0]
    return match[0][:1] + b" " * (len(match[0]) - 2) + match[0][-1:]


class Sentences:
    """Where the sentences of a folded message stand."""

    def __init__(self, folded: bytes) -> None:
        self._folded = folded
        ends = [match.end() for match in _END.finditer(folded)]
        if not ends or ends[-1] < len(folded):
            ends.append(len(folded))
        self._ends = ends if len(folded) <= _LONGEST_READ else self._cut(ends)

    def _cut(self, ends: list[int]) -> list[int]:
        """Cut what is too long to be a sentence, between words."""
        cut: list[int] = []
        start = 0
        for end in ends:
            while end - start > _LONGEST_READ:
                space = self._folded.rfind(b" ", start + _LONGEST_READ // 2, start + _LONGEST_READ)
                start = start + _LONGEST_READ if space < 0 else space
                cut.append(start)
            cut.append(end)
            start = end
        return cut

    def __len__(self) -> int:
        return len(self._ends)

    def at(self, position: int) -> int:
        """Return the number of the sentence in which a place lies."""
        return min(bisect_right(self._ends, position), len(self._ends) - 1)

    def end(self, number: int) -> int:
        """Return where a sentence ends, with what stands behind it."""
        return self._ends[number]

    def span(self, number: int) -> Span:
        """Return a sentence, trimmed."""
        start = self._ends[number - 1] if number else 0
        end = self._ends[number]
        stretch = self._folded[start:end]
        start += len(stretch) - len(stretch.lstrip(b" \n;"))
        stretch = stretch.strip(b" \n;")
        if stretch.startswith(_BULLET):
            start, stretch = start + len(_BULLET), stretch[len(_BULLET) :]
        return Span(start, start + len(stretch))

    def opens_paragraph(self, number: int) -> bool:
        """Return whether a blank line stands before a sentence."""
        if number == 0:
            return True
        start = self.span(number).start
        before = self._folded[max(0, start - 40) : start]
        return b"\n\n" in before.replace(b" ", b"").replace(b";", b"")

    def is_foreign(self, number: int) -> bool:
        """Return whether the sentence's line is a quoted one, data, a log or code."""
        start = self.span(number).start
        line = self._folded.rfind(b"\n", 0, start) + 1
        return _FOREIGN_LINE.search(self._folded[line : line + 300]) is not None


def part_contrasts(sentence: bytes) -> bytes:
    """Put the comma before "but" that many leave out; same length.

    What is liked and what is not are two facts.
    """
    return _BEFORE_BUT.sub(b",", sentence)


def opening_of(clause: bytes) -> int:
    """Return how long the "but" is with which a clause opens; 0 for none."""
    found = _OPENING_BUT.match(clause)
    return found.end() if found is not None else 0


def clauses(sentence: bytes) -> list[Span]:
    """Return the clauses of a sentence, their closing mark included."""
    ends = [match.end() for match in _CLAUSE_END.finditer(sentence)]
    if not ends or ends[-1] < len(sentence):
        ends.append(len(sentence))
    return [Span(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
