"""Word and Excel files: archives of XML, checked before anything opens them."""

import io
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from memory.reading.collecting import Collector
from memory.reading.errors import Unreadable
from memory.reading.tables import lines_of

if TYPE_CHECKING:
    from docx.table import Table

# An office file of 20 MB holds pictures; its XML is small, and packs to about a tenth.
MOST_UNPACKED: Final = 200 * 2**20
MOST_ENTRIES: Final = 5_000
# Both are refused by the format; they are only there to expand, or to fetch from elsewhere.
_DECLARATIONS: Final = ("<!DOCTYPE", "<!ENTITY")
_OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"


def check(content: bytes, *, has: str) -> None:
    """Look at an archive before a parser does.

    Args:
        has: An entry without which it is no file of its kind.

    Raises:
        Unreadable: It is none, or is made to harm.
    """
    if content.startswith(_OLD_OFFICE):
        # An encrypted new one is wrapped like an old one, and says so inside.
        is_locked = "EncryptedPackage".encode("utf-16-le") in content
        raise Unreadable("encrypted" if is_locked else "wrong_kind")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if has not in archive.namelist():
                raise Unreadable("wrong_kind")
            if any(entry.flag_bits & 1 for entry in entries):
                raise Unreadable("encrypted")
            unpacked = sum(entry.file_size for entry in entries)
            if len(entries) > MOST_ENTRIES or unpacked > MOST_UNPACKED:
                raise Unreadable("hostile")
            for entry in entries:
                if entry.filename.casefold().endswith((".xml", ".rels")):
                    _check_xml(archive, entry)
    except zipfile.BadZipFile as error:
        raise Unreadable("wrong_kind" if not content.startswith(b"PK") else "broken") from error


def read_docx(content: bytes, into: Collector) -> None:
    """Read paragraphs and tables in their order, and note headings."""
    from docx import Document
    from docx.text.paragraph import Paragraph

    check(content, has="word/document.xml")
    for block in Document(io.BytesIO(content)).iter_inner_content():
        if not isinstance(block, Paragraph):
            for line in lines_of(_rows(block)):
                into.line(line)
            continue
        text = block.text.strip()
        style = (block.style.name or "").casefold() if block.style is not None else ""
        if text and style.startswith(("heading", "title")):
            into.heading(text)
        into.line(text)


def read_xlsx(content: bytes, into: Collector) -> None:
    """Read each sheet's rows, with the values that formulas had when it was saved."""
    from openpyxl import load_workbook

    check(content, has="xl/workbook.xml")
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        into.begin(sheet.title)
        # What a file says of its own size may be a million empty rows.
        sheet.reset_dimensions()
        for line in lines_of(_cells(sheet)):
            into.line(line)


def _check_xml(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    with archive.open(entry) as opened:
        # A declaration stands before the first element.
        beginning = opened.read(64 * 1024)
    for declaration in _DECLARATIONS:
        for encoding in ("ascii", "utf-16-le", "utf-16-be"):
            if declaration.encode(encoding) in beginning:
                raise Unreadable("hostile")


def _rows(table: "Table") -> Iterator[list[str]]:
    for row in table.rows:
        yield [cell.text for cell in row.cells]


def _cells(sheet: Any) -> Iterator[list[str]]:  # Any: openpyxl has no types
    for row in sheet.iter_rows(values_only=True):
        yield ["" if value is None else str(value) for value in row]
