"""Memory's part of a workspace, taken in: facts, documents and notes, nothing twice."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

from django.db import transaction

from agents.core.viewer import Viewer
from memory import detector, documents, entries, files, folder, hooks, wal
from memory.detector import mask_secrets
from memory.detector.hits import DURABLE
from memory.documents import Home
from memory.errors import DocumentTooLong, FolderRefused
from memory.index import facts, writing
from memory.index.writing import Text
from memory.models import DailyNote, MemoryDocument, Origin, Passage, Scope, WalEntry
from memory.sameness import fingerprint, key_of
from memory.workspace_files import (
    Mistake,
    NoteLine,
    StateLine,
    day_of_file,
    note_lines,
    state_lines,
)

SOURCE: Final = "import"
# Written while a conversation is recovered; it says nothing that the notes do not.
BUFFER: Final = "memory/working-buffer.md"
CATEGORIES: Final = tuple(
    str(each) for each in WalEntry.Category if each != WalEntry.Category.FORGET
)

# What became of a file, in words; and what of its lines was not understood.
Tell = Callable[[str, str], None]
Report = Callable[[str, Mistake], None]


def is_ours(name: str) -> bool:
    """Return whether a workspace's file belongs to memory."""
    plain = _plain(name)[1]
    if plain == BUFFER:
        return False
    return plain in (files.MEMORY, files.SESSION_STATE) or (
        plain.startswith("memory/") and plain.endswith(".md")
    )


@transaction.atomic
def take_in(
    found: Mapping[str, str], viewer: Viewer, *, zones: Sequence[str], tell: Tell, report: Report
) -> None:
    """Store what memory's files say, in the part of the viewer's person or, without one, the agent.

    Facts and entries that are there already are not stored again. MEMORY.md gets the lines that it
    lacks; every other document becomes what the file says, as a new version. Secrets are masked.

    Args:
        found: Texts by file name, as in a workspace; ``agent/`` and ``team/`` name those scopes.
        zones: Time zones that are likely, the likeliest first.
    """
    for name, text in found.items():
        scope, plain = _plain(name)
        home = _home(viewer, scope)
        day = day_of_file(plain)

        def note(mistake: Mistake, name: str = name) -> None:
            report(name, mistake)

        if plain == files.SESSION_STATE:
            lines = state_lines(text, categories=CATEGORIES, report=note)
            tell(name, _counted(_add_facts(lines, home, viewer), len(lines), "fact"))
        elif day is not None:
            entries = note_lines(text, day, zones=zones, report=note)
            tell(name, _counted(_add_notes(entries, home, viewer, day), len(entries), "entry"))
        else:
            _put_document(name, plain, text, home, tell=tell, report=note)


def _plain(name: str) -> tuple[str, str]:
    """Return the scope that a file's folder names, and its name there."""
    for scope, start in files.FOLDERS.items():
        if name.startswith(start):
            return scope, name.removeprefix(start)
    return "", name


def _home(viewer: Viewer, scope: str) -> Home:
    if scope == Scope.TEAM:
        return {"team_id": viewer.team_id, "scope": Scope.TEAM}
    own = {"team_id": viewer.team_id, "agent_id": viewer.agent_id}
    if scope == Scope.AGENT or viewer.person_id is None:
        return {**own, "scope": Scope.AGENT}
    return {**own, "scope": Scope.PERSON, "person_id": viewer.person_id}


def _counted(new: int, all_of_them: int, noun: str) -> str:
    """Return how many were new, in words."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    words = f"{new} new {noun if new == 1 else plural}"
    known = all_of_them - new
    return f"{words}, {known} there already" if known else words


# --- facts ---------------------------------------------------------------------------------------


def _add_facts(lines: Iterable[StateLine], home: Home, viewer: Viewer) -> int:
    wal.lock_scope(home)
    rows = WalEntry.objects.visible_to(viewer)
    if home["scope"] in files.FOLDERS:
        # What was shared is there twice, as it was said and for more people.
        rows = rows.filter(scope=home["scope"])
    known = Counter(
        (row.category, files.one_line(row.text), row.created_at.replace(microsecond=0))
        for row in rows
    )
    new = []
    for line in lines:
        text = files.one_line(mask_secrets(line.text))
        mark = (line.category, text, line.at.astimezone(UTC).replace(microsecond=0))
        if known[mark]:
            known[mark] -= 1
        else:
            new.append(_entry(line, text, home, viewer))
    stored = WalEntry.objects.bulk_create(new)
    facts.add(stored)
    for entry in stored:
        hooks.written(entry.text, entry.source)
    return len(stored)


def _entry(line: StateLine, text: str, home: Home, viewer: Viewer) -> WalEntry:
    hits = [hit for hit in detector.scan(text) if hit.category == line.category]
    entry = WalEntry(
        **home,
        category=line.category,
        text=text,
        value=hits[0].value[: wal.VALUE_CHARACTERS] if hits else "",
        is_negated=bool(hits) and hits[0].is_negated,
        language=hits[0].language if hits else "",
        is_durable=line.category in DURABLE,
        author_id=viewer.person_id,
        origin=Origin.PERSON if viewer.person_id else Origin.SYSTEM,
        source=_source(home, f"{line.category} {text} {line.at.isoformat()}"),
        thread=SOURCE,
        created_at=line.at,
        last_said_at=line.at,
    )
    entry.fingerprint = fingerprint(entries.said(entry), author_id=None)
    return entry


# --- notes ---------------------------------------------------------------------------------------


def _add_notes(entries: Iterable[NoteLine], home: Home, viewer: Viewer, day: date) -> int:
    known = Counter(
        _mark(row.occurred_at, row.question, row.answer, row.text)
        for row in DailyNote.objects.visible_to(viewer).filter(day=day)
    )
    seen: Counter[tuple[object, ...]] = Counter()
    count = 0
    for entry in entries:
        said = [mask_secrets(each) for each in (entry.question, entry.answer, entry.text)]
        mark = _mark(entry.at, *said)
        seen[mark] += 1
        if seen[mark] <= known[mark]:
            continue
        _add_note(entry, said, home, day, source=_source(home, f"{mark} {seen[mark]}"))
        count += 1
    return count


def _mark(at: datetime, *said: str) -> tuple[object, ...]:
    return (at.astimezone(UTC).replace(microsecond=0).isoformat(), *said)


def _add_note(entry: NoteLine, said: Sequence[str], home: Home, day: date, *, source: str) -> None:
    question, answer, text = said
    DailyNote.objects.create(
        **home,
        day=day,
        occurred_at=entry.at,
        time_zone=entry.time_zone,
        question=question,
        answer=answer,
        text=text,
        source=source,
    )
    file, person_id = files.note_file(day), home.get("person_id")
    spoken = (
        (question, Origin.PERSON, person_id if isinstance(person_id, int) else None),
        (answer or text, Origin.AGENT, None),
    )
    writing.add(
        [
            Text(words, entry.at, origin, author_id, file=file)
            for words, origin, author_id in spoken
            if words
        ],
        home=home,
        kind=Passage.Kind.EXCHANGE,
        source=source,
        thread=f"{SOURCE}:{day}",
    )
    hooks.written(f"{question}\n{answer}" if question else text, source)


# --- documents -----------------------------------------------------------------------------------


def _put_document(
    name: str,
    plain: str,
    text: str,
    home: Home,
    *,
    tell: Tell,
    report: Callable[[Mistake], None],
) -> None:
    try:
        path = plain if plain == files.MEMORY else plain.removeprefix("memory/")
        stored_as = folder.file_name(f"{folder.ROOT}/{path}")
    except FolderRefused as exc:
        report(Mistake(0, f"this name cannot be taken: {exc}"))
        return
    clean = mask_secrets(text.replace("\x00", ""))
    document = MemoryDocument.objects.filter(**home, name=stored_as, deleted_at=None).first()
    before = document.text if document else ""
    if clean == before or (not clean and document is None):
        tell(name, "there already, the same")
        return
    if before and stored_as == files.MEMORY:
        clean, added = _joined(before, clean)
        if not added:
            tell(name, "there already, every fact of it")
            return
        what = f"{added} lines added to those that are there"
    else:
        what = "new version" if document else "new"
    try:
        documents.save(home, stored_as, clean, source=SOURCE)
    except DocumentTooLong as exc:
        report(Mistake(0, f"too long: about {exc.tokens} tokens, at most {exc.most}"))
        return
    tell(name, f"{what}, {len(clean)} characters")


def _joined(before: str, text: str) -> tuple[str, int]:
    """Return a MEMORY.md with the lines of another one that it lacks, and how many these are."""
    known = {_key(line) for line in before.splitlines()}
    new = [
        line
        for line in text.splitlines()
        if line.strip() and not line.startswith("# ") and _key(line) not in known
    ]
    if not new:
        return before, 0
    start = before if before.endswith("\n") else f"{before}\n"
    return start + "\n".join(new) + "\n", len(new)


def _key(line: str) -> str:
    return key_of(files.fact_of(line) or "") or line.strip()


def _source(home: Home, what: str) -> str:
    """Return what marks an imported thing as such, the same whenever it is imported."""
    owner = ",".join(f"{name}={value}" for name, value in sorted(home.items()))
    return f"{SOURCE}:{hashlib.sha256(f'{owner} {what}'.encode()).hexdigest()[:32]}"
