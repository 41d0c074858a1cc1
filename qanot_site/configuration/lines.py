"""On which line a value of a TOML file stands: the parsers that we have do not tell.

Only for files that ``tomllib`` has read already: what is no TOML is not found out here.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

Path = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE: Final = re.compile(r"[ \t]*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BASIC: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_LITERAL: Final = re.compile(r"'([^'\n]*)'")
# Up to two quotes may stand right before the closing three.
_LONG_BASIC: Final = re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2}(?!"))', re.DOTALL)
_LONG_LITERAL: Final = re.compile(r"'''.*?'''(?:'{0,2}(?!'))", re.DOTALL)
_PLAIN: Final = re.compile(r"[^,\]}#\n]+")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Lines:
    """Where each key and each item of a file stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._found: dict[Path, int] = {}
        self._items: dict[Path, int] = {}
        self._read()

    def of(self, path: Sequence[str | int]) -> int:
        """Return the line of a value, or of the nearest thing around it; 0 for the whole file."""
        for end in range(len(path), 0, -1):
            line = self._found.get(tuple(path[:end]))
            if line is not None:
                return line
        return 0

    def _read(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _header(self) -> Path:
        line = self._line()
        is_item = self._text.startswith("[[", self._at)
        self._at += 2 if is_item else 1
        keys = self._keys()
        self._at += 2 if is_item else 1
        path: Path = ()
        for place, key in enumerate(keys):
            path += (key,)
            if is_item and place == len(keys) - 1:
                self._items[path] = self._items.get(path, -1) + 1
            self._note(path, line)
            if path in self._items:
                path += (self._items[path],)
        self._found[path] = line
        return path

    def _pair(self, table: Path) -> None:
        line, path = self._line(), table
        for key in self._keys():
            path += (key,)
            self._note(path, line)
        self._at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            keys.append(self._key())
            self._skip(_SPACE)
            if self._text[self._at : self._at + 1] != ".":
                return keys
            self._at += 1

    def _key(self) -> str:
        if found := _BASIC.match(self._text, self._at):
            self._at = found.end()
            return _ESCAPE.sub(_unescaped, found[1])
        if found := _LITERAL.match(self._text, self._at):
            self._at = found.end()
            return found[1]
        return self._take(_BARE)

    def _value(self, path: Path) -> None:
        here = self._text[self._at : self._at + 3]
        if here == '"""':
            self._take(_LONG_BASIC)
        elif here == "'''":
            self._take(_LONG_LITERAL)
        elif here[:1] == '"':
            self._take(_BASIC)
        elif here[:1] == "'":
            self._take(_LITERAL)
        elif here[:1] == "[":
            self._array(path)
        elif here[:1] == "{":
            self._inline_table(path)
        else:
            self._take(_PLAIN)

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        self._skip(_BLANK)
        while self._text[self._at] != "]":
            self._note((*path, number), self._line())
            self._value((*path, number))
            number += 1
            self._skip_comma()
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        self._skip(_BLANK)
        while self._text[self._at] != "}":
            self._pair(path)
            self._skip_comma()
        self._at += 1

    def _skip_comma(self) -> None:
        self._skip(_BLANK)
        if self._text[self._at] == ",":
            self._at += 1
            self._skip(_BLANK)

    def _note(self, path: Path, line: int) -> None:
        self._found.setdefault(path, line)

    def _line(self) -> int:
        return bisect_left(self._breaks, self._at) + 1

    def _skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _take(self, what: re.Pattern[str]) -> str:
        found = what.match(self._text, self._at)
        if found is None:
            raise ValueError(f"no TOML in line {self._line()}")
        self._at = found.end()
        return found[0]


def _unescaped(found: re.Match[str]) -> str:
    said = found[1]
    if said[0] in "uU" and len(said) > 1:
        return chr(int(said[1:], 16))
    return _ESCAPED.get(said, said)
