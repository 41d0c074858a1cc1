"""Which files can be read, by their names' endings."""

from typing import Final

# The ending says how it is read; that its content fits is checked by who reads it.
KINDS: Final = {
    "txt": "text",
    "md": "markdown",
    "markdown": "markdown",
    "csv": "csv",
    "html": "html",
    "htm": "html",
    "pdf": "pdf",
    "docx": "docx",
    "xlsx": "xlsx",
}
MEDIA_TYPES: Final = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
ENDINGS: Final = ("txt", "md", "csv", "html", "pdf", "docx", "xlsx")


def kind_of(name: str) -> str | None:
    """Return how a file of this name is read; None for one that is not."""
    _, dot, ending = name.casefold().rpartition(".")
    return KINDS.get(ending) if dot else None
