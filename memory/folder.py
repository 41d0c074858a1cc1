"""Memory documents as a folder ``/memories``, with the commands and answers that Anthropic's
memory tool (``memory_20250818``) has; models of other providers get the same.

``/memories/MEMORY.md`` is MEMORY.md, every other file ``/memories/x.md`` the document
``memory/x.md``. Answers are those of the tool's documentation, read on 2026-12-01:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.db import transaction

from memory import documents, files
from memory.detector import mask_secrets
from memory.documents import Home
from memory.errors import DocumentTooLong, FolderRefused
from memory.models import MemoryDocument

ROOT: Final = "/memories"
MOST_FILES: Final = 500
_MOST_LINES: Final = 999_999
_LEVELS: Final = 2
_NAME_CHARACTERS: Final = 100
# A day's notes are written by the platform and only ever grow.
_NOTES: Final = re.compile(r"memory/\d{4}-\d{2}-\d{2}\.md")
_HIDDEN: Final = ("node_modules",)


def view(home: Home, path: str, view_range: Sequence[int] | None = None) -> str:
    """Return a folder's listing, or a file with its line numbers.

    Raises:
        FolderRefused: The path is none of the folder's.
    """
    name = _name_of(path)
    texts = {row.name: row.text for row in documents.of_scope(home)}
    if name in texts:
        return _numbered(path, texts[name], view_range)
    inside = _below(name, texts)
    if not inside and name != "":
        raise FolderRefused(f"The path {path} does not exist. Please provide a valid path.")
    return _listed(path, inside, texts)


@transaction.atomic
def create(home: Home, path: str, text: str, *, source: str) -> str:
    """Store a new file; secrets are masked."""
    name = file_name(path)
    known = _names(home)
    if name in known or _below(name, known):
        raise FolderRefused(f"Error: File {path} already exists")
    if len(known) >= MOST_FILES:
        raise FolderRefused(f"Error: There are {MOST_FILES} files already; delete some first.")
    save(home, name, text, path=path, source=source)
    return f"File created successfully at: {path}"


@transaction.atomic
def str_replace(home: Home, path: str, old: str, new: str, *, source: str) -> str:
    """Exchange a text that a file has once."""
    document = _found(
        home, path, f"Error: The path {path} does not exist. Please provide a valid path."
    )
    text = document.text
    count = text.count(old) if old else 0
    if count == 0:
        raise FolderRefused(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if count > 1:
        lines = ", ".join(map(str, _lines_with(text, old)))
        raise FolderRefused(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    at = text[: text.index(old)].count("\n")
    changed = text.replace(old, mask_secrets(new))
    save(home, document.name, changed, path=path, source=source)
    lines_after = changed.split("\n")
    start, end = max(0, at - 2), min(len(lines_after), at + new.count("\n") + 3)
    shown = (_numbered_line(n, lines_after[n - 1]) for n in range(start + 1, end + 1))
    return "\n".join(["The memory file has been edited.", *shown])


@transaction.atomic
def insert(home: Home, path: str, line: int, text: str, *, source: str) -> str:
    """Put lines behind a line of a file; behind line 0 is its beginning."""
    document = _found(home, path, f"Error: The path {path} does not exist")
    lines = document.text.removesuffix("\n").split("\n") if document.text else []
    if not 0 <= line <= len(lines):
        raise FolderRefused(
            f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of "
            f"lines of the file: [0, {len(lines)}]"
        )
    lines.insert(line, mask_secrets(text.rstrip("\n")))
    save(home, document.name, "\n".join(lines) + "\n", path=path, source=source)
    return f"The file {path} has been edited."


@transaction.atomic
def delete(home: Home, path: str, *, source: str) -> str:
    """Delete a file, or a folder with all in it; the versions stay for the team."""
    name = _name_of(path)
    if name == "":
        raise FolderRefused("Error: Cannot delete the /memories directory itself")
    rows = {row.name: row for row in documents.of_scope(home)}
    chosen = [rows[name]] if name in rows else [rows[each] for each in _below(name, rows).values()]
    if not chosen:
        raise FolderRefused(f"Error: The path {path} does not exist")
    for document in chosen:
        documents.delete(document, source=source)
    return f"Successfully deleted {path}"


@transaction.atomic
def rename(home: Home, old_path: str, new_path: str, *, source: str) -> str:
    """Give a file, or a folder with all in it, another path."""
    old, new = _name_of(old_path), _name_of(new_path)
    if old == "":
        raise FolderRefused("Error: Cannot rename the /memories directory itself")
    rows = {row.name: row for row in documents.of_scope(home)}
    inside = {"": old} if old in rows else _below(old, rows)
    if not inside:
        raise FolderRefused(f"Error: The path {old_path} does not exist")
    if new in rows or _below(new, rows) or new == "":
        raise FolderRefused(f"Error: The destination {new_path} already exists")
    if old not in rows and f"{new_path}/".startswith(f"{old_path}/"):
        raise FolderRefused(f"Error: {new_path} lies inside {old_path}")
    for rest, name in inside.items():
        target = file_name(f"{new_path}/{rest}" if rest else new_path)
        save(home, target, rows[name].text, path=new_path, source=source)
        documents.delete(rows[name], source=source)
    return f"Successfully renamed {old_path} to {new_path}"


def _name_of(path: str) -> str:
    """Return the name of a path's document; empty for the folder itself.

    Raises:
        FolderRefused: It leads out of the folder, or names what no file may be called.
    """
    plain = path.strip()
    if plain != ROOT and not plain.startswith(f"{ROOT}/"):
        raise FolderRefused(f"Error: Path must start with {ROOT}, got: {path}")
    parts = [part for part in plain[len(ROOT) :].split("/") if part]
    for part in parts:
        is_odd = any(unicodedata.category(sign) in ("Cc", "Cs", "Cf") for sign in part)
        if part in (".", "..") or "\\" in part or "%" in part or is_odd:
            raise FolderRefused(f"Error: Path {path} would escape {ROOT} directory")
    name = "/".join(parts)
    if name in ("", files.MEMORY):
        return name
    return f"memory/{name}"


def file_name(path: str) -> str:
    """Return the name of a document to be written."""
    name = _name_of(path)
    if name == "" or path.endswith("/"):
        raise FolderRefused(f"Error: The path {path} is a directory")
    if _NOTES.fullmatch(name):
        raise FolderRefused(f"Error: The file {path} is kept by the platform: a day's notes")
    if len(name) > _NAME_CHARACTERS:
        raise FolderRefused(f"Error: The path {path} is too long")
    return name


def _path_of(name: str) -> str:
    return f"{ROOT}/{name.removeprefix('memory/')}"


def _names(home: Home) -> set[str]:
    return set(documents.of_scope(home).values_list("name", flat=True))


def _below(name: str, names: Iterable[str]) -> dict[str, str]:
    """Return the documents inside a folder, by the rest of their path."""
    start = f"{_path_of(name)}/" if name else f"{ROOT}/"
    paths = {_path_of(each): each for each in names}
    return {
        path.removeprefix(start): each
        for path, each in sorted(paths.items())
        if path.startswith(start)
    }


def _found(home: Home, path: str, refusal: str) -> MemoryDocument:
    row = documents.of_scope(home).select_for_update().filter(name=_name_of(path)).first()
    if row is None:
        raise FolderRefused(refusal)
    return row


def save(home: Home, name: str, text: str, *, path: str, source: str) -> None:
    clean = mask_secrets(text.replace("\x00", "").encode("utf-8", "replace").decode())
    try:
        documents.save(home, name, clean, source=source)
    except DocumentTooLong as exc:
        raise FolderRefused(
            f"Error: The file {path} would have about {exc.tokens} tokens; at most {exc.most} fit."
        ) from exc


def _numbered(path: str, text: str, view_range: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise FolderRefused(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 1, len(lines)
    if view_range is not None and len(view_range) == 2:
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else min(view_range[1], len(lines))
    shown = (_numbered_line(n, lines[n - 1]) for n in range(first, last + 1))
    return "\n".join([f"Here's the content of {path} with line numbers:", *shown])


def _numbered_line(number: int, line: str) -> str:
    return f"{number:>6}\t{line}"


def _lines_with(text: str, sought: str) -> list[int]:
    found, start = [], text.find(sought)
    while start != -1:
        found.append(text[:start].count("\n") + 1)
        start = text.find(sought, start + 1)
    return found


def _listed(path: str, inside: Mapping[str, str], texts: Mapping[str, str]) -> str:
    """Return a folder's files and folders, two levels deep, with their sizes."""
    here = path.rstrip("/") or ROOT
    sizes: dict[str, int] = {"": 0}
    for rest, name in inside.items():
        size = len(texts[name].encode())
        *folders, _file = parts = rest.split("/")
        sizes[""] += size
        if any(part.startswith(".") or part in _HIDDEN for part in parts):
            continue
        for depth in range(1, min(len(folders), _LEVELS) + 1):
            folder = "/".join(folders[:depth]) + "/"
            sizes[folder] = sizes.get(folder, 0) + size
        if len(parts) <= _LEVELS:
            sizes[rest] = size
    lines = [f"{_size(sizes[rest])}\t{here}{rest and '/'}{rest}" for rest in sorted(sizes)]
    heading = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items "
        "and node_modules:"
    )
    return "\n".join([heading, *lines])


def _size(size_bytes: int) -> str:
    """Return a size as ``du -h`` tells it: 4.0K."""
    size = float(size_bytes)
    for unit in ("B", "K", "M"):
        if size < 1024 or unit == "M":
            break
        size /= 1024
    return f"{size_bytes}B" if unit == "B" else f"{size:.1f}{unit}"
