"""A person's data as one archive, for them to take along: docs/portability.md."""

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from django.db import transaction
from django.http import FileResponse
from django.utils import timezone

from agents.models import Person, User
from agents.services import audit, portability

FORMAT: Final = "qanot person 1"
_IN_MEMORY: Final = 8 * 2**20
_README: Final = """\
Everything that is kept of one person, as it was on {at}.

data/     one JSON file a table; each is a list of rows
files/    files that came or were sent in their conversations

Passwords, tokens, vectors and other people's words are not in it.
"""


def write(person: Person, to: IO[bytes], *, by: User | str) -> int:
    """Write the archive of a person, and into the audit log that it was made.

    Returns:
        How many rows are in it.
    """
    subject = portability.subject_of(person, by=by)
    now = timezone.now()
    counts: dict[str, int] = {}
    with zipfile.ZipFile(to, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", _README.format(at=f"{now:%Y-%m-%d %H:%M} UTC"))
        for name, rows in portability.parts(subject):
            counts[name] = len(rows)
            archive.writestr(f"data/{name}.json", _json(rows))
        for name, content in portability.files(subject):
            archive.writestr(name, content)
        head = {"format": FORMAT, "made_at": now.isoformat(), "rows": counts}
        archive.writestr("contents.json", _json(head))
    audit.record(
        team_id=subject.team_id,
        actor=subject.actor,
        action="person.exported",
        subject=f"person:{subject.person_id}",
        reason=f"{sum(counts.values())} rows",
    )
    return sum(counts.values())


def write_file(person: Person, path: Path, *, by: User | str) -> int:
    """Write the archive into a new file that only its owner reads; return how many rows.

    Raises:
        OSError: It exists, or cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        return write(person, file, by=by)


def response_of(person: Person, *, by: User) -> FileResponse:
    """Return the archive as a download; it lies in memory, or in an unnamed file if it is large."""
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)
    try:
        with transaction.atomic():
            write(person, file, by=by)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    response = FileResponse(file, as_attachment=True, filename=name_of(person))
    response["Cache-Control"] = "private, no-store"
    return response


def name_of(person: Person) -> str:
    """Return what the archive is called: by number, as names are anybody's."""
    return f"qanot-person-{person.public_id}.zip"


def lines(report: portability.Report) -> Iterator[str]:
    """Yield what an erasure did, table by table, for a terminal."""
    for count in report.counts:
        yield f"{count.rows:>8}  {count.label}{' (emptied)' if count.stays else ''}"
    if report.files:
        yield f"{report.files:>8}  stored files removed"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
