"""Rich messages as plain lines (https://core.telegram.org/bots/api#richmessage)."""

from typing import Final

from pydantic import JsonValue

# A text may lie in others; deeper ones are nobody's.
_DEEPEST: Final = 12


def lines_of(blocks: JsonValue, deepest: int = _DEEPEST) -> list[str]:
    """Return the lines of a rich message's blocks, without their looks."""
    lines: list[str] = []
    if not isinstance(blocks, list) or not deepest:
        return lines
    for block in blocks:
        if isinstance(block, list):
            cells = [_plain(cell, deepest - 1) for cell in block]
            lines.append(" | ".join(cells))
        elif isinstance(block, dict):
            if "text" in block:
                lines.append(_plain(block["text"], deepest - 1))
            for part in ("summary", "caption"):
                if part in block:
                    lines.append(_plain(block[part], deepest - 1))
            for part in ("blocks", "items", "cells"):
                lines += lines_of(block.get(part), deepest - 1)
    return [line for line in lines if line]


def _plain(text: JsonValue, deepest: int) -> str:
    """Return a rich text's letters."""
    if isinstance(text, str):
        return text
    if not deepest:
        return ""
    if isinstance(text, list):
        return "".join(_plain(each, deepest - 1) for each in text)
    if isinstance(text, dict):
        return _plain(text.get("text"), deepest - 1)
    return ""
