"""Which files may be fetched: those of one's own conversations, brought into or sent in them."""

from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from agents.models import File
from sessions.models import Attachment, ChatSession, Outgoing


def find(public_id: UUID, sessions: "QuerySet[ChatSession]") -> File | None:
    """Return a file of some conversations; None for every other.

    Args:
        sessions: Those that whoever asks may read.
    """
    brought = Attachment.objects.filter(
        Q(file=OuterRef("pk")) | Q(picture=OuterRef("pk")), message__session__in=sessions
    )
    sent = Outgoing.objects.filter(
        kind=Outgoing.Kind.FILE, file=OuterRef("pk"), session__in=sessions
    )
    return File.objects.filter(Exists(brought) | Exists(sent), public_id=public_id).first()
