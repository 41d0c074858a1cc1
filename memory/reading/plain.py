"""Text, Markdown, tables of commas, and pages of the web."""

import codecs
import csv
import io
import re
from html.parser import HTMLParser
from typing import Final

from memory.reading.collecting import Collector
from memory.reading.errors import Unreadable
from memory.reading.tables import lines_of

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# How files of other kinds begin, whatever they are called.
_OTHERS: Final = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\xd0\xcf\x11\xe0",
)
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})\s+(\S.{0,300})$")
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)")
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?([\w-]{2,20})""", re.IGNORECASE)
_LONGEST_CELL: Final = 1_000_000
_HIDDEN: Final = {"script", "style", "noscript", "template", "svg", "head", "iframe", "object"}
_BLOCKS: Final = {
    *("p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol"),
    *("li", "dl", "dt", "dd", "table", "tr", "blockquote", "pre", "form", "figure", "hr", "br"),
    *("h1", "h2", "h3", "h4", "h5", "h6"),
}
_TITLES: Final = {"h1", "h2", "h3"}


def decoded(content: bytes, *, charset: str = "") -> str:
    """Return a file's text in whichever of the usual encodings it is.

    Raises:
        Unreadable: It is no text.
    """
    if content.startswith(_OTHERS):
        raise Unreadable("wrong_kind")
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _lines(content.decode(encoding, "replace"))
    if b"\x00" in content:
        raise Unreadable("wrong_kind")
    for encoding in filter(None, ("utf-8", charset, "cp1251", "cp1252")):
        try:
            return _lines(content.decode(encoding))
        except (UnicodeDecodeError, LookupError):
            continue
    return _lines(content.decode("utf-8", "replace"))


def read_text(content: bytes, into: Collector) -> None:
    """Read a text as it is."""
    into.line(decoded(content))


def read_markdown(content: bytes, into: Collector) -> None:
    """Read Markdown as it is, and note its headings."""
    is_code = False
    for line in decoded(content).split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and (found := _HEADING.match(line)):
            into.heading(found[2].rstrip("# "))
        into.line(line)


def read_csv(content: bytes, into: Collector) -> None:
    """Read rows, each as a line.

    Raises:
        Unreadable: They are no rows.
    """
    text = decoded(content)
    csv.field_size_limit(_LONGEST_CELL)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:8_192], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        for line in lines_of(csv.reader(io.StringIO(text), dialect)):
            into.line(line)
    except csv.Error as error:
        raise Unreadable("broken") from error


def read_html(content: bytes, into: Collector) -> None:
    """Read what a page shows: no scripts, no styles, no addresses."""
    named = _CHARSET.search(content[:2_048])
    page = _Page(into)
    page.feed(decoded(content, charset=named[1].decode() if named else ""))
    page.close()
    page.end_line()


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Page(HTMLParser):
    """Writes a page's text, a block a line."""

    def __init__(self, into: Collector) -> None:
        super().__init__(convert_charrefs=True)
        self._into = into
        self._words: list[str] = []
        self._hidden = 0
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in ("td", "th") and self._words:
            self._words.append(" | ")
        elif tag in _BLOCKS:
            self.end_line()
            self._is_title = tag in _TITLES

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _BLOCKS:
            self.end_line()
        if tag == "body":
            self._hidden = 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._words.append(data)

    def end_line(self) -> None:
        """Write the line that was collected, if it says something."""
        line = " ".join("".join(self._words).split())
        self._words.clear()
        if not line:
            return
        if self._is_title:
            self._into.heading(line)
            self._is_title = False
        self._into.line(line)
