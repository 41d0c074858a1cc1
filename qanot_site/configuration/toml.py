"""Writing TOML for people to review: long texts as they are, one item of a list a line.

``tomllib`` reads and does not write. What we write is tables, lists and plain values of ours, in
our order, with comments.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
# Read back as anything else, or not at all, unless they are escaped.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_WIDTH: Final = 100


def key(name: str) -> str:
    """Return a key, quoted where it has to be."""
    return name if _BARE.fullmatch(name) else _basic(name)


def header(*path: str, is_item: bool = False) -> str:
    """Return the line that opens a table, or the next of several."""
    name = ".".join(key(part) for part in path)
    return f"[[{name}]]" if is_item else f"[{name}]"


def pair(name: str, value: object) -> str:
    """Return a key with its value."""
    line = f"{key(name)} = {_value(value)}"
    if isinstance(value, list | tuple) and len(line) > _WIDTH:
        items = "".join(f"    {_value(item)},\n" for item in value)
        return f"{key(name)} = [\n{items}]"
    return line


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal | float):
        # As it is written: 0.1 is no longer number in the file than on a page.
        return format(Decimal(str(value)), "f")
    if isinstance(value, str):
        return _long(value) if "\n" in value else _basic(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"no TOML for {type(value).__name__}")


def _basic(text: str) -> str:
    # JSON escapes what TOML wants escaped, except one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _long(text: str) -> str:
    """Return a text of several lines; the first line break after the quotes does not count."""
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    escaped = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return f'"""\n{escaped}"""'
