"""Markdown of a model → text with spans, and its other forms: rich HTML, HTML, plain text.

Nothing that a model writes is markup of Telegram's: HTML is shown as it was written, pictures
become links (whoever fetches one would be told what was said), links lead to the web or to mail
only, and spoilers, custom emoji and mentions of people by number cannot be made.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

import pyromark
import telegramify_markdown
from telegramify_markdown import RenderConfig

from sessions.channels.telegram import tables
from sessions.channels.telegram.splitting import Formatted, Span, units

# As the converter's, since what we change must be what it then reads.
_OPTIONS: Final = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
)
# Parsing is not linear on hostile texts; nobody reads an answer this long as prose.
MARKDOWN_CHARACTERS: Final = 40_000
RICH_CHARACTERS: Final = 32_768
# What is escaped can reveal more; a text that goes on doing so is shown as it is.
ROUNDS: Final = 8

_SCHEMES: Final = ("http://", "https://", "mailto:")
_BREAK: Final = re.compile(rb"<br\s*/?>", re.IGNORECASE)
_MATH: Final = re.compile(rb"\\\(([^$\n]{1,500}?)\\\)|\\\[([^$]{1,2000}?)\\\]")
_DEFINITION: Final = re.compile(rb"^([ >]{0,9})\[([^\]\n]{1,200})\]:(?=\s)", re.MULTILINE)
_BARS: Final = re.compile(rb"\|(?=\|)")
_KINDS: Final = frozenset(
    "bold italic underline strikethrough spoiler blockquote code pre text_link".split()
)
_TAGS: Final = {
    "bold": "b",
    "italic": "i",
    "underline": "u",
    "strikethrough": "s",
    "spoiler": "tg-spoiler",
    "blockquote": "blockquote",
    "code": "code",
}

# Any: events are JSON-like values of the parser.
_Event = tuple[Any, dict[str, int]]
# Where in the source's bytes, and what stands there instead.
_Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Written:
    """One answer in the forms that the Bot API may take.

    Args:
        rich: HTML of a rich message; empty where spans show the text as well.
    """

    formatted: Formatted
    rich: str = ""


@lru_cache(maxsize=64)
def written(markdown: str) -> Written:
    """Return a finished answer's forms."""
    formatted = spans_of(markdown)
    if len(markdown) > MARKDOWN_CHARACTERS or not _needs_rich(markdown):
        return Written(formatted)
    tamed = _tamed(markdown, wide_tables=True)
    rich = telegramify_markdown.richify(tamed, latex_escape=False).html if tamed else None
    return Written(formatted, rich if rich and len(rich) <= RICH_CHARACTERS else "")


def spans_of(markdown: str) -> Formatted:
    """Return Markdown as text with spans; one that cannot be read as such comes as it is."""
    text = _clean(markdown)
    if len(text) > MARKDOWN_CHARACTERS:
        return Formatted(text)
    tamed = _tamed(text, wide_tables=False)
    if tamed is None:
        return Formatted(text)
    shown, entities = telegramify_markdown.convert(tamed, latex_escape=False, config=_config())
    if not shown.strip():
        # Markup around nothing.
        return Formatted(text.strip())
    return _trimmed(shown, [_span(entity) for entity in entities if entity.type in _KINDS])


def to_html(formatted: Formatted) -> str:
    """Return text with spans as the Bot API's HTML."""
    coded = formatted.text.encode("utf-16-le")
    ordered = sorted(formatted.spans, key=lambda span: (span.offset, -span.length))
    return "".join(_nested(coded, ordered, 0, len(coded) // 2))


def _nested(coded: bytes, spans: Sequence[Span], start: int, end: int) -> Iterator[str]:
    """Yield the HTML from ``start`` to ``end``; of spans that cross, the inner one is cut."""
    at, index = start, 0
    while index < len(spans):
        span = spans[index]
        index += 1
        if span.offset < at or span.offset >= end:
            continue
        stop = min(span.end, end)
        inner = []
        while index < len(spans) and spans[index].offset < stop:
            inner.append(spans[index])
            index += 1
        yield _escaped(coded, at, span.offset)
        opening, closing = _tags(span)
        yield opening
        yield from _nested(coded, inner, span.offset, stop)
        yield closing
        at = stop
    yield _escaped(coded, at, end)


def _escaped(coded: bytes, start: int, end: int) -> str:
    return html.escape(coded[start * 2 : end * 2].decode("utf-16-le", "replace"), quote=False)


def _tags(span: Span) -> tuple[str, str]:
    if span.kind == "text_link":
        return f'<a href="{html.escape(span.url)}">', "</a>"
    if span.kind == "pre" and span.language:
        language = html.escape(span.language)
        return f'<pre><code class="language-{language}">', "</code></pre>"
    tag = _TAGS.get(span.kind, "pre")
    return f"<{tag}>", f"</{tag}>"


def _clean(markdown: str) -> str:
    return markdown.replace("\x00", "").encode("utf-8", "replace").decode()


def _span(entity: telegramify_markdown.MessageEntity) -> Span:
    return Span(entity.type, entity.offset, entity.length, entity.url or "", entity.language or "")


def _trimmed(text: str, spans: Sequence[Span]) -> Formatted:
    """Leave out white space around the text; spans move and shrink with it."""
    kept = text.strip("\n").rstrip()
    first = units(text[: len(text) - len(text.lstrip("\n"))])
    last = first + units(kept)
    return Formatted(
        kept,
        tuple(
            Span(span.kind, start - first, end - start, span.url, span.language)
            for span in spans
            if (start := max(span.offset, first)) < (end := min(span.end, last))
        ),
    )


def _events(source: str) -> list[_Event]:
    # Their precise types say less than what we look for in them.
    return cast(list[_Event], list(pyromark.events_with_range(source, options=_OPTIONS)))


def _needs_rich(markdown: str) -> bool:
    """Return whether there is what spans cannot show: a table, or a formula on its own."""
    if "|" not in markdown and "$$" not in markdown and r"\[" not in markdown:
        return False
    return any(
        isinstance(event, dict) and ("DisplayMath" in event or _opens(event, "Table") is not None)
        for event, _ in _events(_as_math(markdown))
    )


def _tamed(markdown: str, *, wide_tables: bool) -> str | None:
    """Return Markdown of which only what we allow is markup; None for a text that resists."""
    text = _outside_code(_as_math(markdown), _DEFINITION, _kept_definition)
    for _ in range(ROUNDS):
        source = text.encode()
        edits = list(_edits(source, _events(text), wide_tables=wide_tables))
        if not edits:
            return text
        text = _edited(source, edits).decode()
    return None


def _as_math(markdown: str) -> str:
    r"""Return Markdown with ``\(…\)`` and ``\[…\]`` in the form that the parser knows."""
    return _outside_code(markdown, _MATH, _dollars)


def _outside_code(
    markdown: str, what: re.Pattern[bytes], instead: Callable[[re.Match[bytes]], bytes]
) -> str:
    source = markdown.encode()
    if not what.search(source):
        return markdown
    return b"".join(
        piece if is_code else what.sub(instead, piece)
        for piece, is_code in _by_code(source, _events(markdown))
    ).decode()


def _kept_definition(found: re.Match[bytes]) -> bytes:
    """Show where a link leads that nothing in the text refers to, such as a list of sources."""
    is_used = found.string.count(b"[" + found[2] + b"]") > 1
    return found[0] if is_used else found[1] + b"\\" + found[0][len(found[1]) :]


def _dollars(found: re.Match[bytes]) -> bytes:
    inline, block = found[1], found[2]
    return b"$" + inline.strip() + b"$" if inline is not None else b"$$" + block.strip() + b"$$"


def _by_code(source: bytes, events: Sequence[_Event]) -> Iterator[tuple[bytes, bool]]:
    at = 0
    for event, where in events:
        is_code = isinstance(event, dict) and ("Code" in event or _opens(event, "CodeBlock"))
        if is_code and where["start"] >= at:
            yield source[at : where["start"]], False
            yield source[where["start"] : where["end"]], True
            at = where["end"]
    yield source[at:], False


def _edits(source: bytes, events: Sequence[_Event], *, wide_tables: bool) -> Iterator[_Edit]:
    """Yield changes that do not overlap, in the text's order."""
    reader = tables.Reader(source)
    behind = 0
    for event, where in events:
        table = reader.read(event, where)
        if table is not None and not wide_tables and table.is_wide and table.start >= behind:
            yield table.start, table.end, table.as_list()
            behind = table.end
    # A table that is taken apart is looked into in the next round.
    if behind:
        return
    in_code = False
    for event, where in events:
        if isinstance(event, dict) and (_opens(event, "CodeBlock") or event.get("End")):
            in_code = "End" not in event
        if in_code or not isinstance(event, dict):
            continue
        if "Text" in event:
            found = _without_spoilers(source, where["start"], where["end"], reader)
        else:
            edit = _edit(source, event, where["start"], where["end"], reader)
            found = [edit] if edit is not None else []
        for edit in found:
            if edit[0] >= behind:
                yield edit
                behind = edit[1]


def _without_spoilers(
    source: bytes, start: int, end: int, reader: tables.Reader
) -> Iterable[_Edit]:
    """Yield what keeps two bars from hiding what stands between them."""
    between = b" " if reader.has(start) else b"\\"
    for bars in _BARS.finditer(source, start, end):
        yield bars.end(), bars.end(), between


def _edit(
    source: bytes, event: dict[str, Any], start: int, end: int, reader: tables.Reader
) -> _Edit | None:
    if "InlineHtml" in event and _BREAK.fullmatch(source[start:end]):
        return start, end, b" " if reader.has(start) else b"\n"
    if "InlineHtml" in event or event.get("Start") == "HtmlBlock":
        return _escape(source, start, end, b"<")
    if (image := _opens(event, "Image")) is not None:
        return _without_picture(source, image, start, end)
    if (link := _opens(event, "Link")) is not None and not _is_allowed(link):
        return _escape(source, start, end, b"[<")
    return None


def _opens(event: Any, name: str) -> Any:  # Any: the parser's JSON-like values
    """Return what an event that begins an element says of it; None for other events."""
    start = event.get("Start")
    return start.get(name) if isinstance(start, dict) else None


def _is_allowed(link: dict[str, str]) -> bool:
    return link.get("dest_url", "").lower().startswith(_SCHEMES)


def _escape(source: bytes, start: int, end: int, signs: bytes) -> _Edit | None:
    for at in range(start, end):
        if source[at] in signs:
            return at, at, b"\\"
    return None


def _without_picture(source: bytes, image: dict[str, str], start: int, end: int) -> _Edit:
    if source[start : start + 3] == b"![]":
        return start, end, image.get("dest_url", "").encode()
    return start, start + 1, b""


def _edited(source: bytes, edits: Sequence[_Edit]) -> bytes:
    pieces, at = [], 0
    for start, end, instead in edits:
        pieces += [source[at:start], instead]
        at = end
    return b"".join([*pieces, source[at:]])


@lru_cache(maxsize=1)
def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    signs = config.markdown_symbol
    signs.heading_level_1 = signs.heading_level_2 = ""
    signs.heading_level_3 = signs.heading_level_4 = ""
    signs.unordered_list_item = "•"
    signs.task_completed, signs.task_uncompleted = "☑", "☐"
    config.cite_expandable = False
    return config
