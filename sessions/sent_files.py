"""Files that an agent sends into its conversation, each once a tool call."""

from django.utils import timezone

from agents.models import File
from agents.services import files
from sessions import delivery, outbox, shown_files
from sessions.models import ChatSession, Outgoing


def make(session: ChatSession, name: str, text: str, *, turn: str, call_id: str) -> File:
    """Make a text file, once a call: a call that is repeated finds what it made.

    Args:
        turn: Reference as text, ``turn:81``.
    """
    origin = shown_files.key_of(turn, call_id)[:64]
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
        key=shown_files.key_of(turn, call_id),
        caption=caption,
        thread=session.thread,
        session=session,
    )
    if sent.state == Outgoing.State.QUEUED and delivery.sender_of(session.account.channel).is_live:
        sent.state, sent.sent_at = Outgoing.State.SENT, timezone.now()
        sent.save(update_fields=["state", "sent_at"])
    return sent
