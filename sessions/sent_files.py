"""Files that an agent sends into its conversation, each once a tool call."""

from collections.abc import Iterable
from typing import Final

from django.utils import timezone

from agents.models import File
from agents.services import files
from sessions import delivery, outbox
from sessions.models import ChatSession, Outgoing

_PREFIX: Final = "/file:"


def make(session: ChatSession, name: str, text: str, *, turn: str, call_id: str) -> File:
    """Make a text file, once a call: a call that is repeated finds what it made.

    Args:
        turn: Reference as text, ``turn:81``.
    """
    origin = _key(turn, call_id)[:64]
    made = File.objects.filter(team_id=session.team_id, origin=origin).first()
    if made is not None:
        return made
    clean = files.clean_name(name)
    return files.store(
        text.encode("utf-8", "replace"),
        name=clean,
        media_type=files.text_type_of(clean) or "text/plain",
        team_id=session.team_id,
        person_id=None if session.chat_id else session.person_id,
        chat_id=session.chat_id,
        origin=origin,
    )


def send(session: ChatSession, file: File, *, caption: str, turn: str, call_id: str) -> Outgoing:
    """Send a file into a conversation, once a call, in the caller's transaction.

    Where people read the transcript themselves it is there at once.
    """
    sent = outbox.queue_file(
        session.account,
        session.peer,
        file,
        key=_key(turn, call_id),
        caption=caption,
        thread=session.thread,
        session=session,
    )
    if sent.state == Outgoing.State.QUEUED and delivery.sender_of(session.account.channel).is_live:
        sent.state, sent.sent_at = Outgoing.State.SENT, timezone.now()
        sent.save(update_fields=["state", "sent_at"])
    return sent


def of_turns(session: ChatSession, turns: Iterable[int]) -> dict[int, list[Outgoing]]:
    """Return the files that were sent in turns, by turn."""
    wanted = {f"turn:{turn}": turn for turn in turns}
    found: dict[int, list[Outgoing]] = {}
    sent = Outgoing.objects.filter(session=session, kind=Outgoing.Kind.FILE)
    for outgoing in sent.select_related("file", "content").order_by("id"):
        turn = wanted.get((outgoing.key or "").partition(_PREFIX)[0])
        if turn is not None:
            found.setdefault(turn, []).append(outgoing)
    return found


def _key(turn: str, call_id: str) -> str:
    return f"{turn}{_PREFIX}{call_id}"[:200]
