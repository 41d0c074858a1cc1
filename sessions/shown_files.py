"""What people are shown of files: those that came with messages, those that answers sent."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from agents import sql
from agents.services.files import PICTURES
from sessions import file_words

# The key of an outgoing file is its turn's reference, this, and the tool call's id.
SEPARATOR: Final = "/file:"
KEY_CHARACTERS: Final = 200

_ATTACHED = """
    SELECT a.message_id, a.kind, a.name, a.media_type, a.size_bytes, a.state, a.error,
        f.public_id, p.public_id, h.text, h.erased_at
    FROM bot_sessions_attachment a
    LEFT JOIN agents_file f ON f.id = a.file_id
    LEFT JOIN agents_file p ON p.id = a.picture_id
    LEFT JOIN bot_sessions_content h ON h.id = a.transcript_id
    WHERE a.message_id = ANY(%s) ORDER BY a.message_id, a.number
"""
# A call that a second attempt repeats has two steps and one key.
_SENT = """
    SELECT s.turn_id, s.call_id, f.public_id, f.name, f.media_type, f.size_bytes, c.text,
        c.erased_at
    FROM (SELECT DISTINCT turn_id, call_id FROM bot_sessions_turnstep
        WHERE turn_id = ANY(%s) AND kind = 'tool') s
    JOIN bot_sessions_outgoing o
        ON o.key = left('turn:' || s.turn_id || %s || s.call_id, %s) AND o.kind = 'file'
    JOIN agents_file f ON f.id = o.file_id
    LEFT JOIN bot_sessions_content c ON c.id = o.content_id
    ORDER BY o.id
"""


@dataclass(frozen=True, slots=True)
class ShownAttachment:
    """A file that came with a person's message.

    Args:
        id: To fetch it by; None where it is not here.
        preview: A picture of it, to fetch; None where there is none.
        heard: What is said in it, once it was heard.
        trouble: Why it is not here or was not heard, in words.
    """

    id: UUID | None
    kind: str
    name: str
    media_type: str
    size_bytes: int | None
    state: str
    preview: UUID | None
    heard: str | None
    error: str
    trouble: str | None


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that an answer sent.

    Args:
        call: The tool call that sent it.
        preview: A picture of it, to fetch; None where it is none.
        caption: May be empty.
    """

    id: UUID
    call: str
    name: str
    media_type: str
    size_bytes: int
    preview: UUID | None
    caption: str


def key_of(turn: str, call_id: str) -> str:
    """Return what makes a file that a tool call sends the same send, however often it is called.

    Args:
        turn: Reference as text, ``turn:81``.
    """
    return f"{turn}{SEPARATOR}{call_id}"[:KEY_CHARACTERS]


def attached(message_ids: Sequence[int]) -> dict[int, list[ShownAttachment]]:
    """Return the files that came with messages, by message."""
    found: dict[int, list[ShownAttachment]] = defaultdict(list)
    for message_id, *columns in sql.fetch(_ATTACHED, [list(message_ids)]):
        kind, name, media_type, size, state, error, file, picture, heard, erased_at = columns
        found[message_id].append(
            ShownAttachment(
                id=file,
                kind=kind,
                name=name,
                media_type=media_type,
                size_bytes=size,
                state=state,
                # The one for models is smaller, and there as soon as somebody looked at it.
                preview=picture or (file if media_type in PICTURES else None),
                heard=None if erased_at else heard,
                error=error,
                trouble=file_words.trouble_of(error),
            )
        )
    return found


def sent(turn_ids: Sequence[int]) -> dict[int, list[SentFile]]:
    """Return the files that turns sent into their conversations, by turn."""
    found: dict[int, list[SentFile]] = defaultdict(list)
    for turn_id, call, file, name, media_type, size, caption, erased_at in sql.fetch(
        _SENT, [list(turn_ids), SEPARATOR, KEY_CHARACTERS]
    ):
        found[turn_id].append(
            SentFile(
                id=file,
                call=call,
                name=name,
                media_type=media_type,
                size_bytes=size,
                preview=file if media_type in PICTURES else None,
                caption="" if erased_at else caption or "",
            )
        )
    return found
