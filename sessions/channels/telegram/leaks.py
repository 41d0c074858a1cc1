"""Tool-call syntax that a model wrote into its answer instead of calling the tool.

The rule: it is removed outside code only. What stands in a fenced block or in backticks is code
that the person asked for and stays, except blocks that name themselves a call (``tool_code``).
An opening mark without its end is removed to the end of the text where a call follows it; a
sentence that merely names the mark stays.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

# What begins a leaked call, and what ends it.
_MARKS: Final = {
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "<tool_code>": "</tool_code>",
    "<tool_response>": "</tool_response>",
    "<tool_result>": "</tool_result>",
    "<function_call>": "</function_call>",
    "<function_calls>": "</function_calls>",
    "<function_results>": "</function_results>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|tool_call_begin|>": "<|tool_call_end|>",
    "<|tool_calls_section_begin|>": "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>": "<｜tool▁calls▁end｜>",
    "<|python_tag|>": "<|eom_id|>",
    "[TOOL_CALLS]": "[/TOOL_CALLS]",
}
_NAMED: Final = re.compile(r"<(function|invoke|antml:invoke)(?:=|\s+name=)[^<>\n]{1,200}>")
_OPENING: Final = re.compile(
    "|".join([*(re.escape(mark) for mark in _MARKS), _NAMED.pattern]), re.IGNORECASE
)
_MARK_AT_END: Final = re.compile(rf"(?:{_OPENING.pattern})\s*\Z", re.IGNORECASE)
_CALL_FOLLOWS: Final = re.compile(r"\s*(?:[\[{<]|\w+\s*[({]|\Z)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)")
_CALLING_FENCES: Final = frozenset(
    {"tool_code", "tool_call", "tool_calls", "tool_use", "function_call", "function_calls"}
)
_CODE_SPAN: Final = re.compile(r"(`+)(?!`).{1,500}?(?<!`)\1(?!`)", re.DOTALL)
_GAP: Final = re.compile(r"\n{3,}")


def without_calls(markdown: str) -> str:
    """Return an answer without leaked tool calls; what is in order comes back as it is."""
    if not _OPENING.search(markdown) and not any(name in markdown for name in _CALLING_FENCES):
        return markdown
    kept = "".join(
        block if is_code else _without_marks(block) for block, is_code in _blocks(markdown)
    )
    return kept if kept == markdown else _GAP.sub("\n\n", kept).strip()


def _blocks(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yield the text's pieces with whether they are fenced code; calling fences are left out."""
    prose: list[str] = []
    lines = iter(markdown.splitlines(keepends=True))
    for line in lines:
        opening = _FENCE.match(line)
        if opening is None:
            prose.append(line)
            continue
        block = [line, *_until_closed(lines, opening[1])]
        if opening[2].lower() in _CALLING_FENCES:
            continue
        if _MARK_AT_END.search("".join(prose[-2:])):
            # The call's own arguments.
            prose += block
            continue
        yield "".join(prose), False
        prose = []
        yield "".join(block), True
    yield "".join(prose), False


def _until_closed(lines: Iterator[str], fence: str) -> Iterator[str]:
    for line in lines:
        yield line
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            return


def _without_marks(prose: str) -> str:
    kept: list[str] = []
    code = deque(match.span() for match in _CODE_SPAN.finditer(prose))
    at = 0
    while (opening := _OPENING.search(prose, at)) is not None:
        while code and code[0][1] <= opening.start():
            code.popleft()
        if code and code[0][0] < opening.start():
            kept.append(prose[at : code[0][1]])
            at = code[0][1]
            continue
        end = _end_of(prose, opening)
        # Where nothing ends it and no call follows, it is a word among others.
        kept.append(prose[at : opening.end() if end is None else opening.start()])
        at = opening.end() if end is None else end
    return "".join([*kept, prose[at:]])


def _end_of(prose: str, opening: re.Match[str]) -> int | None:
    closing = _MARKS.get(opening[0]) or _MARKS.get(opening[0].lower())
    if closing is None:
        named = _NAMED.fullmatch(opening[0])
        closing = f"</{named[1]}>" if named else ""
    found = prose.find(closing, opening.end())
    if found >= 0:
        return found + len(closing)
    return len(prose) if _CALL_FOLLOWS.match(prose, opening.end()) else None
