"""PDF files, page by page."""

import io
from typing import Final

from memory.reading.collecting import Collector
from memory.reading.errors import Unreadable

MOST_PAGES: Final = 5_000


def read_pdf(content: bytes, into: Collector) -> None:
    """Read the text of each page.

    Raises:
        Unreadable: It is none, needs a password, or has too many pages.
    """
    from pypdf import PdfReader

    if b"%PDF-" not in content[:1_024]:
        raise Unreadable("wrong_kind")
    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("encrypted")
    for number, page in enumerate(reader.pages, start=1):
        if number > MOST_PAGES:
            raise Unreadable("too_long")
        into.begin(f"page={number}")
        into.line(page.extract_text())
