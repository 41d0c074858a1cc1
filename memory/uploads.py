"""Uploaded documents: taken in, read by a process of their own, found, and taken out again.

A document is reference: what it says is no fact and is never recalled by itself, but found by
who looks into documents.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import structlog
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from agents import sql
from agents.models import File, User
from agents.services import audit, files
from memory.detector import mask_secrets
from memory.errors import UploadRefused
from memory.index import documents as index
from memory.index import writing
from memory.models import Scope, UploadedDocument
from memory.reading import process
from memory.reading.errors import Unreadable
from memory.reading.kinds import MEDIA_TYPES, kind_of
from memory.reading.parts import Part, Parts

_log = structlog.get_logger(__name__)

State = UploadedDocument.State

# In one scope; each may be 20 MB.
MOST_DOCUMENTS: Final = 500
# What a file's row says whose bytes are here for the document alone.
ORIGIN: Final = "document"
# Who reads longer has died: the bounds of reading are below.
STALE: Final = timedelta(seconds=180)
# A file that ends its reader's worker again and again is given up.
TRIES: Final = 3

_PROGRESS: Final = """
    SELECT p.source, count(*), count(*) FILTER (WHERE p.is_indexed),
        count(*) FILTER (WHERE p.wants_vector), bool_or(v.space_id IS NOT NULL)
    FROM memory_indexversion v
    JOIN memory_memoryscope s ON s.version_id = v.id
    JOIN memory_passage p ON p.scope_id = s.id
    WHERE v.team_id = ANY(%s) AND v.state = 'active' AND p.source = ANY(%s)
        AND p.hidden_at IS NULL
    GROUP BY p.source
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a document that was read can be found.

    Args:
        pieces: Of how many it is made.
        by_words: How many are found by words.
        by_meaning: How many are found by meaning; None where the team has no such search.
    """

    pieces: int
    by_words: int
    by_meaning: int | None

    @property
    def is_found_by_words(self) -> bool:
        """Return whether only meaning may be missing."""
        return self.by_words == self.pieces

    @property
    def percent(self) -> int:
        """Return how much of it can be found."""
        if not self.pieces:
            return 0
        if self.by_meaning is None:
            return 100 * self.by_words // self.pieces
        return 100 * (self.by_words + self.by_meaning) // (2 * self.pieces)


# --- taking in -----------------------------------------------------------------------------------


def add(
    content: bytes,
    *,
    name: str,
    home: Mapping[str, object],
    source: str,
    author: User | None = None,
) -> tuple[UploadedDocument, bool]:
    """Take a file in, to be read soon; the same one is there once a scope.

    Args:
        home: The columns of the scope, as `memory.models.scope_of` gives them.
        source: Who brought it, as text: ``user:3``, ``turn:81 call``.

    Returns:
        The document, and whether it is new; one that could not be read is tried again.

    Raises:
        UploadRefused: It is not taken.
    """
    if not content:
        raise UploadRefused("empty")
    if len(content) > files.MAX_BYTES:
        raise UploadRefused("too_large")
    name = files.clean_name(name)
    kind = kind_of(name)
    if kind is None:
        raise UploadRefused("unknown_kind")
    digest = hashlib.sha256(content).hexdigest()
    if (known := _again(home, digest)) is not None:
        return known, False
    _check_room(home)
    file = files.store(
        content,
        name=name,
        media_type=MEDIA_TYPES[kind],
        team_id=int(str(home["team_id"])),
        person_id=_id(home.get("person_id")),
        chat_id=_id(home.get("chat_id")),
        origin=ORIGIN,
    )
    document, is_new = _insert(file, name, home=home, source=source, author=author)
    if document.file_id != file.pk:
        remove_file(file)
    return document, is_new


def add_file(
    file: File, *, home: Mapping[str, object], source: str
) -> tuple[UploadedDocument, bool]:
    """Take in a file that is here already, as one that came in a conversation.

    Raises:
        UploadRefused: It is not taken.
    """
    if not file.size_bytes:
        raise UploadRefused("empty")
    if kind_of(file.name) is None:
        raise UploadRefused("unknown_kind")
    if (known := _again(home, file.sha256)) is not None:
        return known, False
    _check_room(home)
    return _insert(file, files.clean_name(file.name), home=home, source=source, author=None)


def _insert(
    file: File, name: str, *, home: Mapping[str, object], source: str, author: User | None
) -> tuple[UploadedDocument, bool]:
    try:
        with transaction.atomic():
            document = UploadedDocument.objects.create(
                **home,
                file=file,
                name=name,
                sha256=file.sha256,
                source=source[:200],
                author=author,
            )
            _note(document, "upload.added", actor=author or source)
    except IntegrityError:
        # Somebody else brought the same one at this moment.
        known = _again(home, file.sha256)
        if known is None:
            raise
        return known, False
    return document, True


def _again(home: Mapping[str, object], digest: str) -> UploadedDocument | None:
    """Return the document that is there already, and let a failed one be read again."""
    known = in_scope(home).filter(sha256=digest).first()
    if known is not None and known.state == State.FAILED:
        UploadedDocument.objects.filter(pk=known.pk, state=State.FAILED).update(
            state=State.WAITING, error="", attempts=0
        )
        known.refresh_from_db(fields=["state", "error", "attempts"])
    return known


def in_scope(home: Mapping[str, object]) -> QuerySet[UploadedDocument]:
    """Return the documents of exactly one scope, without their texts."""
    owners = {name: home.get(name) for name in ("agent_id", "person_id", "chat_id")}
    rows = UploadedDocument.objects.filter(
        team_id=int(str(home["team_id"])), scope=str(home["scope"])
    )
    for name, value in owners.items():
        rows = rows.filter(**{name: value}) if value else rows.filter(**{f"{name}__isnull": True})
    return rows.defer("parts")


def _check_room(home: Mapping[str, object]) -> None:
    if in_scope(home).count() >= MOST_DOCUMENTS:
        raise UploadRefused("too_many")


# --- reading -------------------------------------------------------------------------------------


def read_one(pk: int | None = None) -> UploadedDocument | None:
    """Read a document that waits; None where none does.

    Call it outside of a transaction: it takes as long as the file does.
    """
    document = claim(pk)
    if document is not None:
        settle(document, read(document))
    return document


@transaction.atomic
def claim(pk: int | None = None) -> UploadedDocument | None:
    """Take a document that waits, or whose reader died; None where there is none."""
    now = timezone.now()
    waiting = Q(state=State.WAITING) | Q(state=State.READING, claimed_at__lt=now - STALE)
    rows = UploadedDocument.objects.filter(waiting).order_by("pk")
    if pk is not None:
        rows = rows.filter(pk=pk)
    held = rows.select_related("file").select_for_update(skip_locked=True, of=("self",))
    document = held.first()
    if document is None:
        return None
    document.state, document.claimed_at = State.READING, now
    document.attempts += 1
    if document.attempts > TRIES:
        document.state, document.error = State.FAILED, "broken"
    document.save(update_fields=["state", "claimed_at", "attempts", "error"])
    return document if document.state == State.READING else None


def read(document: UploadedDocument) -> Parts | Unreadable:
    """Return what a claimed document says, secrets masked, or why it cannot be read.

    It takes as long as the file does, and no database.
    """
    try:
        content = files.read(document.file)
    except OSError:
        return Unreadable("lost")
    try:
        parts = process.read(content, name=document.name)
    except Unreadable as error:
        return error
    return Parts(parts=tuple(_masked(part) for part in parts.parts))


def _masked(part: Part) -> Part:
    headings = tuple((line, mask_secrets(title)) for line, title in part.headings)
    return Part(label=part.label, text=mask_secrets(part.text), headings=headings)


@transaction.atomic
def settle(document: UploadedDocument, said: Parts | Unreadable) -> bool:
    """Write down what was read, all of it found or nothing.

    Returns:
        False where the document was forgotten or claimed by somebody else meanwhile.
    """
    held = UploadedDocument.objects.select_for_update().filter(
        pk=document.pk, state=State.READING, claimed_at=document.claimed_at
    )
    if not held.exists():
        return False
    document.read_at = timezone.now()
    if isinstance(said, Unreadable):
        document.state, document.error = State.FAILED, said.code
        _log.info("document.unreadable", document=document.pk, code=said.code)
    else:
        document.state, document.error = State.READY, ""
        document.parts, document.characters = said.model_dump(), said.characters
        document.pieces = index.add_uploaded(document)
        _log.info("document.read", document=document.pk, pieces=document.pieces)
    document.save(update_fields=["state", "error", "parts", "characters", "pieces", "read_at"])
    return True


def again(document: UploadedDocument, *, by: User) -> bool:
    """Let a document that could not be read be read again; False where it is not so."""
    is_done = UploadedDocument.objects.filter(pk=document.pk, state=State.FAILED).update(
        state=State.WAITING, error="", attempts=0
    )
    if is_done:
        _note(document, "upload.retried", actor=by)
    return bool(is_done)


# --- looking and forgetting ----------------------------------------------------------------------


def progress(documents: Iterable[UploadedDocument]) -> dict[int, Progress]:
    """Return how far each document that was read can be found, by its key."""
    asked = {document.ref: document for document in documents if document.state == State.READY}
    if not asked:
        return {}
    teams = sorted({document.team_id for document in asked.values()})
    rows = sql.fetch(_PROGRESS, [teams, list(asked)])
    return {
        asked[source].pk: Progress(pieces, words, pieces - waiting if has_meaning else None)
        for source, pieces, words, waiting, has_meaning in rows
    }


@transaction.atomic
def forget(document: UploadedDocument, *, actor: "User | str") -> bool:
    """Take a document out: its pieces, their vectors, its text, and its file if it is its own.

    A file that came in a conversation stays the conversation's.

    Returns:
        False where it was taken out already.
    """
    held = UploadedDocument.objects.select_for_update(of=("self",)).select_related("file")
    found = held.defer("parts").filter(pk=document.pk).first()
    if found is None:
        return False
    writing.hide([found.ref], home=found.home)
    _note(found, "upload.forgotten", actor=actor)
    file = found.file
    found.delete()
    if file.origin == ORIGIN:
        remove_file(file)
    return True


def move(person_id: int, *, into_id: int) -> None:
    """Give one person's own documents to another, in the caller's transaction.

    Of a file that both have, one document stays. What is found of them moves with the index.
    """
    own = UploadedDocument.objects.filter(scope=Scope.PERSON, person_id=person_id)
    for document in own.select_for_update(of=("self",)).defer("parts"):
        home = document.home | {"person_id": into_id}
        if in_scope(home).filter(sha256=document.sha256).exists():
            forget(document, actor=audit.PLATFORM)
            continue
        UploadedDocument.objects.filter(pk=document.pk).update(person_id=into_id)
        File.objects.filter(pk=document.file_id, origin=ORIGIN).update(person_id=into_id)


def remove_file(file: File) -> None:
    """Remove a stored file, its bytes once the transaction has ended well."""
    name = file.content.name
    file.delete()
    if name:
        transaction.on_commit(partial(default_storage.delete, name))


def _note(document: UploadedDocument, action: str, *, actor: "User | str") -> None:
    """Write down who brought or took what; names of people's own documents are theirs."""
    audit.record(
        team_id=document.team_id, actor=actor, action=action, subject=f"upload:{document.pk}"
    )


def _id(value: object) -> int | None:
    return None if value is None else int(str(value))
