"""The process that reads one file: bytes on standard input, JSON on standard output.

It knows nothing of the platform: no settings, no database, no secrets.
"""

import codecs
import importlib
import json
import sys
from collections.abc import Callable
from typing import Final

from memory.reading.collecting import Collector
from memory.reading.confining import confine
from memory.reading.errors import Unreadable
from memory.reading.office import read_docx, read_xlsx
from memory.reading.pdf import read_pdf
from memory.reading.plain import read_csv, read_html, read_markdown, read_text

Reader = Callable[[bytes, Collector], None]

_READERS: Final[dict[str, Reader]] = {
    "text": read_text,
    "markdown": read_markdown,
    "csv": read_csv,
    "html": read_html,
    "pdf": read_pdf,
    "docx": read_docx,
    "xlsx": read_xlsx,
}
# Loaded while files may be opened, as those whom Python belongs to may be the only ones to read it.
_LIBRARIES: Final = {
    "pdf": ("pypdf", "pypdf.filters", "pypdf._codecs._codecs"),
    "docx": ("docx",),
    "xlsx": ("openpyxl",),
}
_ENCODINGS: Final = (
    *("cp437", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"),
    *("cp1250", "cp1251", "cp1252", "cp1254", "iso8859-2", "iso8859-9", "koi8-r"),
)


def main(kind: str, memory_bytes: str, cpu_s: str, wall_s: str, output_bytes: str) -> None:
    """Read what stands on standard input, and say what it says or why it cannot be read."""
    for library in _LIBRARIES.get(kind, ()):
        importlib.import_module(library)
    for encoding in _ENCODINGS:
        codecs.lookup(encoding)
    confine(
        memory_bytes=int(memory_bytes),
        cpu_s=int(cpu_s),
        wall_s=int(wall_s),
        output_bytes=int(output_bytes),
    )
    sys.stdout.write(json.dumps(_read(kind)))


def _read(kind: str) -> dict[str, object]:
    into = Collector()
    try:
        _READERS[kind](sys.stdin.buffer.read(), into)
        return into.finish()
    except Unreadable as error:
        return {"error": error.code}
    except MemoryError:
        return {"error": "too_big"}
    except Exception:
        # Parsers raise anything at what is broken; what exactly, helps nobody who uploads.
        return {"error": "broken"}
