"""Files of every kind, made here; hostile ones too."""

import io
import zipfile

import docx
import openpyxl
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

WORD = "word/document.xml"


def word(*blocks: str) -> bytes:
    """Make a Word file; a block that begins with # is a heading, one with | a table's row."""
    document = docx.Document()
    for block in blocks:
        if block.startswith("# "):
            document.add_heading(block[2:], 1)
        elif "|" in block:
            table = document.add_table(0, len(block.split("\n")[0].split("|")))
            for row in block.split("\n"):
                for cell, text in zip(table.add_row().cells, row.split("|"), strict=True):
                    cell.text = text
        else:
            document.add_paragraph(block)
    kept = io.BytesIO()
    document.save(kept)
    return kept.getvalue()


def sheets(**rows: list[list[object]]) -> bytes:
    """Make an Excel file of named sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in rows.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def pdf(*pages: str, password: str = "", operators: bytes = b"") -> bytes:
    """Make a PDF of pages with one line each.

    Args:
        operators: Stands in the place of each page's line, compressed.
    """
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(200, 200)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = StreamObject()
        stream.set_data(operators or f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())
    if password:
        writer.encrypt(password, algorithm="AES-256")
    kept = io.BytesIO()
    writer.write(kept)
    return kept.getvalue()


def archive(**entries: bytes) -> bytes:
    """Make a compressed archive; two underscores in a name stand for a slash, ``_dot_`` for one."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return kept.getvalue()
