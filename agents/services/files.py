"""Files that people or tools brought: their bytes in the default storage, their facts in a row."""

import hashlib
import mimetypes
import unicodedata
from typing import Final

from django.core.files.base import ContentFile

from agents.models import File

# What Telegram lets a bot fetch; the other channels take no more.
MAX_BYTES: Final = 20 * 2**20
NAME_CHARACTERS: Final = 120
NAMELESS: Final = "file"
ANY_TYPE: Final = "application/octet-stream"
# Python's own list; that of the machine would differ from one to the next.
_TYPES: Final = mimetypes.MimeTypes()
# What it does not know, or know differently.
_TEXT_ENDINGS: Final = {
    "md": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "xml": "application/xml",
    "log": "text/plain",
    "sql": "application/sql",
    "ts": "text/plain",
    "rs": "text/plain",
    "go": "text/plain",
    "sh": "text/plain",
    "ini": "text/plain",
}


class FileTooLarge(Exception):
    """It has more than ``MAX_BYTES``."""


def store(
    content: bytes,
    *,
    name: str,
    media_type: str,
    team_id: int,
    origin: str,
    person_id: int | None = None,
    chat_id: int | None = None,
) -> File:
    """Keep a file; the bytes are stored before the row, so that no row lacks them.

    Args:
        name: As its sender calls it; folders and control characters are taken out.
        origin: Who brought it, as text: ``message:12``, ``turn:81``.

    Raises:
        FileTooLarge: It is beyond the limit.
    """
    if len(content) > MAX_BYTES:
        raise FileTooLarge
    digest = hashlib.sha256(content).hexdigest()
    file = File(
        team_id=team_id,
        person_id=person_id,
        chat_id=chat_id,
        name=clean_name(name),
        media_type=media_type[:127] or ANY_TYPE,
        size_bytes=len(content),
        sha256=digest,
        origin=origin,
    )
    # Its sender's name is nothing that a file system should be given.
    file.content.save(f"{digest[:16]}.bin", ContentFile(content), save=False)
    file.save(force_insert=True)
    return file


def read(file: File) -> bytes:
    """Return a file's bytes.

    Raises:
        OSError: The storage has lost them.
    """
    with file.content.open("rb") as opened:
        content: bytes = opened.read()
    return content


def clean_name(name: str) -> str:
    """Return a file's name as one bounded line: no folder, nothing invisible, its ending kept."""
    last = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(
        letter if unicodedata.category(letter)[0] != "C" else " " for letter in last[:1_000]
    )
    line = " ".join(visible.split()).strip(". ")
    if len(line) <= NAME_CHARACTERS:
        return line or NAMELESS
    stem, dot, ending = line.rpartition(".")
    if not dot or len(ending) > 16:
        return line[:NAME_CHARACTERS]
    return f"{stem[: NAME_CHARACTERS - len(ending) - 1]}.{ending}"


def text_type_of(name: str) -> str | None:
    """Return the text type that a file's ending stands for; None for an ending of no text."""
    _, dot, ending = name.casefold().rpartition(".")
    if not dot:
        return None
    if ending in _TEXT_ENDINGS:
        return _TEXT_ENDINGS[ending]
    guessed, _ = _TYPES.guess_type(f"file.{ending}")
    return guessed if guessed is not None and guessed.startswith("text/") else None
