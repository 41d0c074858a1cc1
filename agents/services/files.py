"""Files that people or tools brought: their bytes in the default storage, their facts in a row."""

import hashlib
import mimetypes
import re
import unicodedata
from typing import Final

from django.core.files.base import ContentFile
from django.core.files.base import File as Bytes

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
_MEDIA_TYPE: Final = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]{0,100}", re.ASCII)
# How the pictures begin that browsers and models show.
_BEGINNINGS: Final = {
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
PICTURES: Final = frozenset(_BEGINNINGS)


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
    file = File(
        team_id=team_id,
        person_id=person_id,
        chat_id=chat_id,
        name=clean_name(name),
        media_type=media_type[:127] or ANY_TYPE,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        origin=origin,
    )
    return _keep(file, ContentFile(content))


def store_upload(
    upload: Bytes[bytes], *, name: str, media_type: str, team_id: int, origin: str, person_id: int
) -> File:
    """Keep a file as it was uploaded, piece by piece; otherwise like ``store``.

    Raises:
        FileTooLarge: It is beyond the limit.
    """
    if upload.size > MAX_BYTES:
        raise FileTooLarge
    digest = hashlib.sha256()
    for piece in upload.chunks():
        digest.update(piece)
    file = File(
        team_id=team_id,
        person_id=person_id,
        name=clean_name(name),
        media_type=media_type[:127] or ANY_TYPE,
        size_bytes=upload.size,
        sha256=digest.hexdigest(),
        origin=origin,
    )
    return _keep(file, upload)


def _keep(file: File, content: Bytes[bytes]) -> File:
    # Its sender's name is nothing that a file system should be given.
    file.content.save(f"{file.sha256[:16]}.bin", content, save=False)
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


def media_type_of(name: str, beginning: bytes, declared: str) -> str:
    """Return a file's type: a picture by its first bytes, a text by its ending, else as declared.

    Args:
        declared: What its sender says; may be anything.
    """
    for media_type, begins in _BEGINNINGS.items():
        if begins.match(beginning):
            return media_type
    if (text_type := text_type_of(name)) is not None:
        return text_type
    said = declared.partition(";")[0].strip().casefold()
    if said in PICTURES or _MEDIA_TYPE.fullmatch(said) is None:
        return ANY_TYPE
    return said


def text_type_of(name: str) -> str | None:
    """Return the text type that a file's ending stands for; None for an ending of no text."""
    _, dot, ending = name.casefold().rpartition(".")
    if not dot:
        return None
    if ending in _TEXT_ENDINGS:
        return _TEXT_ENDINGS[ending]
    guessed, _ = _TYPES.guess_type(f"file.{ending}")
    return guessed if guessed is not None and guessed.startswith("text/") else None
