"""Documents as passages: memory documents line by line, uploaded ones piece by piece."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.utils import timezone

from memory import files
from memory.index import texts, versions, writing
from memory.index.writing import APART, Text
from memory.models import MemoryDocument, MemoryScope, Origin, Passage


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a document.

    Args:
        line: The number of the line in which it begins, from 1 on.
        day: What it says of when it was written.
    """

    text: str
    line: int
    day: date | None = None


def replace_memory_document(document: MemoryDocument) -> None:
    """Let the lines of a memory document be found as they are now, and none that is gone.

    A line that stands there as before keeps its passage, and so its vector. It runs in the
    transaction that writes the document.
    """
    home = {
        "team_id": document.team_id,
        "scope": document.scope,
        "agent_id": document.agent_id,
        "person_id": document.person_id,
        "chat_id": document.chat_id,
    }
    replace(
        f"memory:{document.pk}",
        home=home,
        file=files.FOLDERS.get(document.scope, "") + document.name,
        pieces=_lines_of(document.text),
        at=timezone.now(),
        origin=Origin.AGENT,
        # Lines that were added later stand behind older ones: no neighbours of theirs.
        step=APART,
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


def cut(text: str, *, team_id: int) -> list[Piece]:
    """Cut a document's text as the team's settings say."""
    settings = versions.settings_of(team_id)
    placed = texts.placed_pieces(
        text, characters=settings.chunk_characters, overlap=settings.chunk_overlap
    )
    return [Piece(piece, line) for line, piece in placed]


def _lines_of(text: str) -> list[Piece]:
    """Return a memory document's lines that say something."""
    return [
        Piece(line, number, files.day_of(line))
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and line != files.MEMORY_HEADING
    ]


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
    scopes = MemoryScope.objects.filter(version_id=version.id, **home)
    standing = Passage.objects.filter(scope__in=scopes, source=source, hidden_at=None)
    left: dict[str, list[Passage]] = {}
    for passage in standing.only("id", "text", "line"):
        left.setdefault(passage.text, []).append(passage)
    new: list[Piece] = []
    for piece in pieces:
        same = left.get(texts.clean(piece.text))
        if not same:
            new.append(piece)
            continue
        passage = same.pop()
        if passage.line != piece.line:
            Passage.objects.filter(pk=passage.pk).update(line=piece.line)
    gone = [passage.pk for passages in left.values() for passage in passages]
    Passage.objects.filter(pk__in=gone).update(hidden_at=timezone.now())
    writing.add(
        [Text(piece.text, _at(piece, at), origin, file=file, line=piece.line) for piece in new],
        home=home,
        kind=Passage.Kind.DOCUMENT,
        source=source,
        thread=source,
        step=step,
        once=False,
        version_id=version.id,
    )
