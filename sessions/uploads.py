"""Files that people upload: kept until a message names them, for a day at most.

A file that waits says in its ``origin`` who uploaded it; once a message has it, which one.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from django.core.files.base import File as Bytes
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from agents.models import File, Person
from agents.services import files
from sessions.errors import FilesGone, UploadRefused
from sessions.models import Attachment, InboundMessage

MOST_IN_A_MESSAGE: Final = 10
# Of one person: whoever uploads more sends some of them first.
MOST_WAITING: Final = 100
KEPT_FOR: Final = timedelta(days=1)
_ORIGIN: Final = "upload:person:"
_BEGINNING_BYTES: Final = 16
_KINDS: Final = {"audio": Attachment.Kind.AUDIO, "video": Attachment.Kind.VIDEO}


def take(upload: Bytes[bytes] | None, *, declared: str, person: Person) -> File:
    """Keep what a person uploads until they send it.

    Args:
        declared: The type as the person's program names it.

    Raises:
        UploadRefused: It is not taken.
    """
    if upload is None:
        raise UploadRefused("missing")
    if not upload.size:
        raise UploadRefused("empty")
    if upload.size > files.MAX_BYTES:
        raise UploadRefused("too_large")
    origin = _origin_of(person)
    if File.objects.filter(person=person, origin=origin).count() >= MOST_WAITING:
        raise UploadRefused("too_many")
    name = files.clean_name(upload.name or "")
    upload.seek(0)
    beginning = upload.read(_BEGINNING_BYTES)
    return files.store_upload(
        upload,
        name=name,
        media_type=files.media_type_of(name, beginning, declared),
        team_id=person.team_id,
        person_id=person.pk,
        origin=origin,
    )


def lock(ids: Sequence[UUID], *, person: Person) -> list[File]:
    """Return files of a person in the order in which a message names them, locked.

    Some may belong to a message already: it may be the same one, sent again.

    Raises:
        FilesGone: One is not there, or another person's.
    """
    wanted = list(dict.fromkeys(ids))
    own = File.objects.select_for_update().filter(
        public_id__in=wanted, person=person, team_id=person.team_id
    )
    found = {file.public_id: file for file in own.order_by("pk")}
    if len(found) < len(wanted):
        raise FilesGone("no such files")
    return [found[public_id] for public_id in wanted]


def attachment_of(file: File) -> Attachment:
    """Return the row, not stored yet, with which a message has an uploaded file."""
    return Attachment(
        kind=kind_of(file.media_type),
        reference=f"file:{file.public_id}",
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
        file=file,
    )


def kind_of(media_type: str) -> Attachment.Kind:
    """Return what an uploaded file is taken for."""
    if media_type in files.PICTURES:
        return Attachment.Kind.PHOTO
    return _KINDS.get(media_type.partition("/")[0], Attachment.Kind.DOCUMENT)


def claim(locked: Sequence[File], message: InboundMessage, *, person: Person) -> None:
    """Give files that wait to a message, once; in the transaction that stored it.

    Raises:
        FilesGone: One does not wait: another message has it.
    """
    if any(file.origin != _origin_of(person) for file in locked):
        raise FilesGone("another message has them")
    File.objects.filter(pk__in=[file.pk for file in locked]).update(origin=message.ref)


def forget_old() -> None:
    """Delete files that nobody has sent within a day of uploading them."""
    before = timezone.now() - KEPT_FOR
    old = File.objects.filter(origin__startswith=_ORIGIN, created_at__lt=before)
    for pk in old.values_list("pk", flat=True):
        _forget(pk)


@transaction.atomic
def _forget(pk: int) -> None:
    waiting = File.objects.select_for_update(skip_locked=True)
    file = waiting.filter(pk=pk, origin__startswith=_ORIGIN).first()
    # A message may have got it meanwhile.
    if file is None:
        return
    try:
        with transaction.atomic():
            file.delete()
    except ProtectedError:
        # Something else keeps it.
        return
    transaction.on_commit(partial(default_storage.delete, file.content.name))


def _origin_of(person: Person) -> str:
    return f"{_ORIGIN}{person.pk}"
