"""Documents as passages: memory documents line by line, uploaded ones piece by piece."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final

from django.utils import timezone

from memory import files
from memory.index import texts, versions, writing
from memory.index.writing import APART, Text
from memory.models import MemoryDocument, MemoryScope, Origin, Passage, UploadedDocument
from memory.reading.parts import Parts

FILE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a document.

    Args:
        line: The number of the line in which it begins, from 1 on.
        day: What it says of when it was written.
        file: Where it stands, if that is more than the document's name: ``report.pdf#page=3``.
    """

    text: str
    line: int
    day: date | None = None
    file: str = ""


def replace_memory_document(document: MemoryDocument) -> None:
    """Let the lines of a memory document be found as they are now, and none that is gone.

    A line that stands there as before keeps its passage, and so its vector. It runs in the
    transaction that writes the document.
    """
    replace(
        _memory_source(document),
        home=_home_of(document),
        file=_shown_name(document),
        pieces=_lines_of(document.text),
        at=timezone.now(),
        origin=Origin.AGENT,
        # Lines that were added later stand behind older ones: no neighbours of theirs.
        step=APART,
    )


def append_to_memory_document(document: MemoryDocument, *, first_line: int) -> None:
    """Let the lines that a memory document got at its end be found.

    What it costs does not grow with the document, as messages wait for it.

    Args:
        first_line: The number of the first new one; those before it stand as they did.
    """
    versions.hold_filling(document.team_id)
    live = versions.live(document.team_id) or [versions.ensure(document.team_id)]
    if len(live) > 1:
        # One that is being filled may not have the lines before.
        replace_memory_document(document)
        return
    tail = "\n".join(document.text.splitlines()[first_line - 1 :])
    now, source, file = timezone.now(), _memory_source(document), _shown_name(document)
    writing.add(
        [
            Text(each.text, _at(each, now), Origin.AGENT, file=file, line=each.line)
            for each in _lines_of(tail, first_line)
        ],
        home=_home_of(document),
        kind=Passage.Kind.DOCUMENT,
        source=source,
        thread=source,
        step=APART,
        once=False,
        version_id=live[0].id,
    )


def replace(
    source: str,
    *,
    home: Mapping[str, object],
    file: str,
    pieces: Sequence[Piece],
    at: datetime,
    origin: Origin = Origin.UNTRUSTED,
    step: int = 1,
) -> None:
    """Let a document's pieces be found as they are now: new ones added, missing ones hidden.

    Args:
        source: What it is, as text: ``document:7``.
        pieces: None of them to take the document out.
        at: When the new pieces were written.
        step: How far apart they stand; from 3 on they are no neighbours of each other.
    """
    team_id = int(str(home["team_id"]))
    versions.hold_filling(team_id)
    live = versions.live(team_id) or [versions.ensure(team_id)]
    for version in live:
        _replace_in(
            version, source, home=home, file=file, pieces=pieces, at=at, origin=origin, step=step
        )


def add_uploaded(document: UploadedDocument) -> int:
    """Let an uploaded document that was read be found; return of how many pieces it is made.

    It runs in the transaction that stores its text.
    """
    versions.hold_filling(document.team_id)
    live = versions.live(document.team_id) or [versions.ensure(document.team_id)]
    count = 0
    for version in live:
        pieces = pieces_of(
            document, characters=version.chunk_characters, overlap=version.chunk_overlap
        )
        count = count or len(pieces)
        _replace_in(
            version,
            document.ref,
            home=document.home | {"is_library": True},
            file=document.name,
            pieces=pieces,
            at=document.created_at,
            origin=Origin.UNTRUSTED,
            step=1,
        )
    return count


def pieces_of(document: UploadedDocument, *, characters: int, overlap: int) -> list[Piece]:
    """Cut an uploaded document's text; no piece goes over the end of a page or a sheet."""
    stored = Parts.model_validate(document.parts or {"parts": []})
    return [
        Piece(
            piece,
            line,
            file=_place(document.name, part.label or part.heading_at(line)),
        )
        for part in stored.parts
        for line, piece in texts.placed_pieces(part.text, characters=characters, overlap=overlap)
    ]


def recut(source: str, *, characters: int, overlap: int) -> list[Piece]:
    """Return an uploaded document's pieces as another version of the index has them.

    Args:
        source: As its passages name it; one that is no uploaded document has none.
    """
    kind, _, key = source.partition(":")
    if kind != "document" or not key.isdecimal():
        return []
    found = UploadedDocument.objects.filter(pk=int(key)).first()
    return pieces_of(found, characters=characters, overlap=overlap) if found else []


def _place(name: str, label: str) -> str:
    """Return a place inside a file, as links write it: ``report.pdf#page=3``, ``a.docx#Leave``."""
    return f"{name}#{label}"[:FILE_CHARACTERS] if label else name


def _lines_of(text: str, first: int = 1) -> list[Piece]:
    """Return a memory document's lines that say something, counted from a number on."""
    return [
        Piece(line, number, files.day_of(line))
        for number, line in enumerate(text.splitlines(), start=first)
        if line.strip() and line != files.MEMORY_HEADING
    ]


def _memory_source(document: MemoryDocument) -> str:
    return f"memory:{document.pk}"


def _shown_name(document: MemoryDocument) -> str:
    return files.FOLDERS.get(document.scope, "") + document.name


def _home_of(document: MemoryDocument) -> Mapping[str, object]:
    return {
        "team_id": document.team_id,
        "scope": document.scope,
        "agent_id": document.agent_id,
        "person_id": document.person_id,
        "chat_id": document.chat_id,
    }


def _at(piece: Piece, otherwise: datetime) -> datetime:
    return datetime.combine(piece.day, time(), tzinfo=UTC) if piece.day else otherwise


def _replace_in(
    version: versions.Live,
    source: str,
    *,
    home: Mapping[str, object],
    file: str,
    pieces: Sequence[Piece],
    at: datetime,
    origin: Origin,
    step: int,
) -> None:
    """Compare with what stands there, each text as often as it comes."""
    scopes = MemoryScope.objects.filter(version_id=version.id, **{"is_library": False, **home})
    standing = Passage.objects.filter(scope__in=scopes, source=source, hidden_at=None)
    left: dict[str, list[Passage]] = {}
    for passage in standing.only("id", "text", "file", "line"):
        left.setdefault(passage.text, []).append(passage)
    new: list[Piece] = []
    for piece in pieces:
        same = left.get(texts.clean(piece.text))
        if not same:
            new.append(piece)
            continue
        passage = same.pop()
        here = piece.file or file
        if (passage.file, passage.line) != (here, piece.line):
            Passage.objects.filter(pk=passage.pk).update(file=here, line=piece.line)
    gone = [passage.pk for passages in left.values() for passage in passages]
    Passage.objects.filter(pk__in=gone).update(hidden_at=timezone.now())
    writing.add(
        [
            Text(piece.text, _at(piece, at), origin, file=piece.file or file, line=piece.line)
            for piece in new
        ],
        home=home,
        kind=Passage.Kind.DOCUMENT,
        source=source,
        thread=source,
        step=step,
        once=False,
        version_id=version.id,
    )
