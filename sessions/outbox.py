"""Queueing what leaves besides answers: notices and files, each once by its key.

Everything is stored in the caller's transaction. A bell rings after commit, so that it leaves at
once; a lost bell costs a sweep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import BaseModel, TypeAdapter

from agents import doorbell
from agents.core.messages import JsonObject
from agents.models import File, User
from agents.services import audit
from sessions import bells
from sessions.models import ChannelAccount, ChatSession, Content, Outgoing


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message: it brings ``data`` back to us, or opens ``url``.

    Args:
        data: What the channel hands back when it is pressed; at most 64 bytes on Telegram.
    """

    text: str
    data: str = ""
    url: str = ""


Keyboard = Sequence[Sequence[Button]]


class StoredKeyboard(BaseModel):
    """The stored form of a message's buttons (``Outgoing.buttons``)."""

    v: int = 1
    rows: list[list[Button]]


_JSON = TypeAdapter(JsonObject)
_ENDED_BADLY: Final = (Outgoing.State.FAILED, Outgoing.State.UNKNOWN)
_DROPPABLE: Final = (Outgoing.State.QUEUED, Outgoing.State.UNKNOWN)


def queue_notice(
    account: ChannelAccount,
    peer: str,
    text: str,
    *,
    key: str,
    thread: str = "",
    reply_to: str = "",
    buttons: Keyboard = (),
    session: ChatSession | None = None,
) -> Outgoing:
    """Queue a text of the platform's own, once; the same key returns the first row.

    Args:
        peer: The chat on the channel.
        text: Plain text in the reader's language; it is sent as it is, nothing in it is markup.
        key: What makes it this send and no other, such as ``command:<account>:<update>``.
        reply_to: The message on the channel that it replies to.
    """
    return _queue(
        Outgoing(
            kind=Outgoing.Kind.NOTICE,
            account=account,
            session=session,
            key=key,
            peer=peer,
            thread=thread,
            reply_to=reply_to,
            buttons=stored(buttons),
        ),
        text,
    )


def queue_file(
    account: ChannelAccount,
    peer: str,
    file: File,
    *,
    key: str,
    caption: str = "",
    thread: str = "",
    reply_to: str = "",
    session: ChatSession | None = None,
) -> Outgoing:
    """Queue a file, once; the same key returns the first row.

    Args:
        caption: Plain text below it; a channel that allows less cuts it, marked.
        key: What makes it this send and no other, such as ``turn:81/file:2``.
    """
    return _queue(
        Outgoing(
            kind=Outgoing.Kind.FILE,
            account=account,
            session=session,
            key=key,
            peer=peer,
            thread=thread,
            reply_to=reply_to,
            file=file,
        ),
        caption,
    )


@transaction.atomic
def send_again(outgoing: Outgoing, *, by: User) -> bool:
    """Queue a row that failed or was held back; what may have left says that it comes again.

    False where it is neither, and nothing was changed.
    """
    now = timezone.now()
    ended = Outgoing.objects.filter(pk=outgoing.pk, state__in=_ENDED_BADLY)
    # As if it were new: what is older than some days would be given up at once.
    if not ended.update(
        state=Outgoing.State.QUEUED, not_before=None, attempts=0, error="", created_at=now
    ):
        return False
    outgoing.parts.exclude(state=Outgoing.State.SENT).update(attempts=0)
    _record("outgoing.sent_again", outgoing, by)
    doorbell.ring_after_commit(bells.SEND, outgoing.pk)
    return True


@transaction.atomic
def drop(outgoing: Outgoing, *, by: User) -> bool:
    """Note that a row of unknown outcome, or one that waits, is not to be sent any more.

    False where it is neither, and nothing was changed.
    """
    open_ones = Outgoing.objects.filter(pk=outgoing.pk, state__in=_DROPPABLE)
    if not open_ones.update(state=Outgoing.State.FAILED, error="dropped", not_before=None):
        return False
    _record("outgoing.dropped", outgoing, by)
    return True


def _record(action: str, outgoing: Outgoing, by: User) -> None:
    if outgoing.account is None:
        raise AssertionError("every row has its account")
    audit.record(
        team_id=outgoing.account.team_id,
        actor=by,
        action=action,
        subject=f"outgoing:{outgoing.pk}",
    )


def keyboard_of(outgoing: Outgoing) -> list[list[Button]]:
    """Return a row's buttons, none where it has none."""
    if outgoing.buttons is None:
        return []
    return StoredKeyboard.model_validate(outgoing.buttons).rows


def stored(buttons: Keyboard) -> JsonObject | None:
    """Return the stored form of buttons; None for none."""
    if not buttons:
        return None
    rows = [list(row) for row in buttons]
    return _JSON.validate_python(StoredKeyboard(rows=rows).model_dump())


def _queue(outgoing: Outgoing, text: str) -> Outgoing:
    try:
        with transaction.atomic():
            return _store(outgoing, text)
    except IntegrityError:
        # It is queued already, or just now by somebody else; its text went with the savepoint.
        earlier = Outgoing.objects.filter(key=outgoing.key).first()
        if earlier is None:
            raise
        return earlier


def _store(outgoing: Outgoing, text: str) -> Outgoing:
    if outgoing.account is None:
        raise AssertionError("every row has its account")
    # PostgreSQL's text holds no NUL.
    clean = text.replace("\x00", "")
    if clean:
        outgoing.content = Content.objects.create(team_id=outgoing.account.team_id, text=clean)
    outgoing.created_at = timezone.now()
    outgoing.save(force_insert=True)
    doorbell.ring_after_commit(bells.SEND, outgoing.pk)
    return outgoing
