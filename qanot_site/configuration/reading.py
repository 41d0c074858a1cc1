"""A file read and checked for itself, before the database is asked."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError, create_model
from pydantic_core import ErrorDetails

from agents.services import managed
from qanot_site.configuration.errors import FileRefused, Mistake
from qanot_site.configuration.lines import Lines
from qanot_site.configuration.sections import SECTIONS
from qanot_site.configuration.tables import Slug, Table, nearest

_AT: Final = re.compile(r" \(at line (\d+), column \d+\)")
_KEY: Final = "[key]"
# Names of what a value should have been, for pydantic's kinds of mistakes.
_WANTED: Final = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "is_instance_of": "a number",
    "decimal_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list in [ ]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """What a file says, checked as far as it can be without a team.

    Args:
        name: How it was named; rows that it owns carry it.
        team: The slug that it names; None where it leaves that to the command.
        tables: By section and key.
        files: A digest of each file that was read, by its whole path.
    """

    name: str
    team: str | None
    tables: Mapping[str, Mapping[str, Table]]
    files: Mapping[str, str]
    lines: Lines


def read(path: Path, *, name: str) -> ConfigurationFile:
    """Read a file and those that it names.

    Raises:
        FileRefused: It cannot be read, or says what no set-up can be.
    """
    try:
        folder = Folder(path.resolve(strict=True).parent)
        text = folder.take(path.resolve())
    except (OSError, ValueError) as exc:
        raise FileRefused(name, [Mistake(0, why(exc))]) from exc
    try:
        said = tomllib.loads(text, parse_float=Decimal)
        lines = Lines(text)
    except tomllib.TOMLDecodeError as exc:
        raise FileRefused(name, [_no_toml(str(exc), text)]) from exc
    except (ValueError, RecursionError) as exc:
        # Of Python itself: a whole number of thousands of digits, or thousands of lists in lists.
        raise FileRefused(name, [Mistake(0, "this has a number or a nesting without end")]) from exc
    whole = _whole()
    try:
        checked: Any = whole.model_validate(said, context=folder.read)
    except ValidationError as exc:
        mistakes = [_mistake(error, whole, lines) for error in exc.errors()]
        raise FileRefused(name, mistakes) from exc
    tables = {section.name: getattr(checked, section.name) for section in SECTIONS}
    return ConfigurationFile(name, checked.team, tables, folder.files, lines)


class Folder:
    """The folder of a file, out of which no other file is read.

    Attributes:
        files: A digest of each file that was read, by its whole path.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files: dict[str, str] = {}

    def read(self, name: str) -> str:
        """Return the text of a file in the folder.

        Raises:
            ValueError: It lies elsewhere, or cannot be read.
        """
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"“{name}” has to lie in the folder of this file, or below it")
        try:
            path = (self._path / name).resolve(strict=True)
            if not path.is_relative_to(self._path):
                raise ValueError(f"“{name}” leads out of the folder of this file")
            return self.take(path)
        except OSError as exc:
            raise ValueError(f"“{name}” cannot be read: {why(exc)}") from exc

    def take(self, path: Path) -> str:
        """Return a file's text with plain line ends, and remember its digest."""
        if not path.is_file():
            raise ValueError(f"“{path.name}” is no file")
        if path.stat().st_size > managed.MOST_BYTES:
            raise ValueError(f"“{path.name}” has more than {managed.MOST_BYTES:,} bytes")
        content = path.read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as exc:
            raise ValueError(f"“{path.name}” is not written in UTF-8") from exc
        self.files[str(path)] = managed.digest(content)
        return text.replace("\r\n", "\n")


def why(error: OSError | ValueError) -> str:
    """Return in a few words what is wrong with a file."""
    return (error.strerror or "unknown") if isinstance(error, OSError) else str(error)


@cache
def _whole() -> type[Table]:
    """Return the model of a whole file: the team, and the sections that are registered."""
    tables: dict[str, Any] = {  # fields, as create_model takes them
        section.name: (dict[section.key, section.table], {})  # type: ignore[name-defined]  # at run time
        for section in SECTIONS
    }
    return create_model("File", __base__=Table, team=(Slug | None, None), **tables)


def _no_toml(said: str, text: str) -> Mistake:
    found = _AT.search(said)
    line = int(found[1]) if found else text.count("\n") + 1
    return Mistake(line, f"this is no TOML: {_AT.sub('', said)}")


def _mistake(error: ErrorDetails, whole: type[BaseModel], lines: Lines) -> Mistake:
    path = tuple(part for part in error["loc"] if part != _KEY)
    return Mistake(lines.of(path), _said(error, path, whole))


def _said(error: ErrorDetails, path: Sequence[str | int], whole: type[BaseModel]) -> str:
    kind, name = error["type"], path[-1] if path else ""
    if kind == "extra_forbidden":
        known = _fields_at(whole, path[:-1])
        return f"there is no “{name}” here{nearest(str(name), known)}"
    if kind == "missing":
        return f"“{name}” is missing"
    if kind in ("value_error", "assertion_error"):
        return str(error["ctx"]["error"])
    if kind in _WANTED:
        return f"“{name}” wants {_WANTED[kind]}"
    message = error["msg"]
    return f"“{name}”: {message[:1].lower()}{message[1:]}"


def _fields_at(whole: type[BaseModel], path: Sequence[str | int]) -> tuple[str, ...]:
    """Return the keys of the table that stands at a place of the file."""
    here: Any = whole
    for part in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = here.model_fields[str(part)].annotation
        else:
            here = get_args(here)[-1]
    is_table = isinstance(here, type) and issubclass(here, BaseModel)
    return tuple(here.model_fields) if is_table else ()
