"""Files are read with their places, by a process that can do nothing else."""

import os
import subprocess
import sys

import pytest

from memory.reading import process
from memory.reading.errors import Unreadable
from memory.reading.parts import Parts
from memory.reading.process import Bounds, read
from tests.memory.reading import made

QUICK = Bounds(cpu_s=2, wall_s=20)


def texts(content: bytes, name: str) -> list[tuple[str, str]]:
    return [(part.label, part.text) for part in read(content, name=name).parts]


def refusal(content: bytes, name: str, bounds: Bounds = QUICK) -> str:
    with pytest.raises(Unreadable) as refused:
        read(content, name=name, bounds=bounds)
    return refused.value.code


def test_texts_keep_their_lines_in_every_usual_encoding() -> None:
    said = "Birinchi qator\r\nОʻзбекча сўз\n"
    assert texts(said.encode(), "A.TXT") == [("", "Birinchi qator\nОʻзбекча сўз")]
    assert texts("Привет, мир".encode("cp1251"), "a.txt") == [("", "Привет, мир")]
    assert texts("Zażółć".encode("utf-16"), "a.txt") == [("", "Zażółć")]


def test_markdown_has_its_headings_and_code_has_none() -> None:
    (part,) = read(b"Intro\n# One\ntext\n```\n# no\n```\n## Two\nmore", name="a.md").parts
    assert part.headings == ((2, "One"), (7, "Two"))
    assert [part.heading_at(line) for line in (1, 2, 6, 8)] == ["", "One", "One", "Two"]


def test_rows_say_what_each_value_is() -> None:
    rows = "city;people\nTashkent;3000000\n\nLublin;330000\n"
    ((_, text),) = texts(rows.encode(), "a.csv")
    assert text.split("\n") == [
        "city | people",
        "city: Tashkent; people: 3000000",
        "",
        "city: Lublin; people: 330000",
    ]


def test_pages_of_the_web_give_what_they_show() -> None:
    page = b"""<html><head><title>t</title><style>p{}</style></head><body><h1>Rules</h1>
    <p>No&nbsp;smoking.<br>Ever.</p><script>alert("no")</script>
    <table><tr><td>Fine</td><td>50</td></tr></table></body></html>"""
    (part,) = read(page, name="a.html").parts
    assert part.text == "Rules\nNo smoking.\nEver.\nFine | 50"
    assert part.headings == ((1, "Rules"),)


def test_pages_sheets_and_headings_are_places() -> None:
    assert texts(made.pdf("One", "Two"), "a.pdf") == [("page=1", "One"), ("page=2", "Two")]
    book = made.sheets(Prices=[["Item", "Price"], ["Tea", 3.5]], Empty=[], Лист=[["x"]])
    assert texts(book, "a.xlsx") == [
        ("Prices", "Item | Price\nItem: Tea; Price: 3.5"),
        ("Лист", "x"),
    ]
    (part,) = read(made.word("# Leave", "25 days", "Who|Days\nAnna|25"), name="a.docx").parts
    assert part.text == "Leave\n25 days\nWho | Days\nWho: Anna; Days: 25"
    assert part.headings == ((1, "Leave"),)


DTD = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
LOOP = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "a.txt", "empty"),
        (b"x", "a.exe", "unknown_kind"),
        (b"x", "pdf", "unknown_kind"),
        (b"\x89PNG\r\n\x1a\n", "a.txt", "wrong_kind"),
        (b"a\x00b", "a.csv", "wrong_kind"),
        (b"just words", "a.pdf", "wrong_kind"),
        (b"just words", "a.docx", "wrong_kind"),
        (b"PK\x03\x04 and no more", "a.xlsx", "broken"),
        (b"%PDF-1.7 and no more", "a.pdf", "broken"),
        (LOOP, "a.pdf", "broken"),
        (b"  \n ", "a.txt", "no_text"),
        (made.pdf(""), "scan.pdf", "no_text"),
        (made.pdf("x", password="secret"), "a.pdf", "encrypted"),
        (made.sheets(A=[["x"]]), "a.docx", "wrong_kind"),
        (made.archive(word__document_dot_xml=DTD), "a.docx", "hostile"),
        (made.archive(xl__workbook_dot_xml=DTD.decode().encode("utf-16")), "a.xlsx", "hostile"),
        (made.archive(word__document_dot_xml=bytes(201 * 2**20)), "bomb.docx", "hostile"),
        (made.archive(word__document_dot_xml=b"<a>" * 2_000_000), "deep.docx", "broken"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_says_why(content: bytes, name: str, code: str) -> None:
    assert refusal(content, name) == code


def test_endless_ones_are_ended() -> None:
    endless = made.pdf("x", operators=b"BT (x) Tj ET " * 4_000_000)
    assert len(endless) < 200_000
    assert refusal(endless, "a.pdf", Bounds(cpu_s=1, wall_s=20)) == "too_slow"
    assert refusal(b"a" * 5_000_001, "a.txt") == "too_long"
    small = Bounds(memory_bytes=300 * 2**20, cpu_s=5, wall_s=20)
    assert refusal(b"word " * 40_000_000, "a.txt", small) in ("too_big", "too_long")


WRITTEN = "/tmp/qanot-was-here"  # noqa: S108 — it must not be there
ATTEMPTS = """
import os, sys
sys.path.insert(0, os.getcwd())
import socket, subprocess
from memory.reading.confining import confine
print(sorted(os.environ))
confine(memory_bytes=500 * 2**20, cpu_s=5, wall_s=10, output_bytes=10_000)
attempts = {
    "network": lambda: socket.create_connection(("127.0.0.1", 9)),
    "names": lambda: socket.getaddrinfo("example.org", 80),
    "program": lambda: subprocess.run(["/bin/true"]),
    "fork": os.fork,
    "secret": lambda: open("/etc/passwd").read(),
    "write": lambda: open("/tmp/qanot-was-here", "w"),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name)
    except (OSError, LookupError):
        pass
"""


def test_the_reading_process_reaches_nothing(tmp_path: object) -> None:
    said = subprocess.run(
        [sys.executable, "-I", "-c", ATTEMPTS],
        env=process._ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        cwd=process._PROJECT,
    )
    assert said.stdout.strip() == str(sorted(process._ENVIRONMENT))
    assert not os.path.exists(WRITTEN)


def test_parts_of_the_first_version_stay_readable() -> None:
    kept = {"v": 1, "parts": [{"label": "page=2", "text": "Two", "headings": [[1, "Two"]]}]}
    (part,) = Parts.model_validate(kept).parts
    assert (part.label, part.text, part.heading_at(1)) == ("page=2", "Two", "Two")
