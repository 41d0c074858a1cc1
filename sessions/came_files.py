"""The files that came in a conversation, as its tools name them: by number or by name."""

from typing import Final

from agents.core.tooling import ToolRefused
from agents.models import File
from sessions.models import Attachment

LISTED: Final = 50


def of_session(session_id: int) -> list[File]:
    """Return the files of a conversation's messages, the oldest of the newest ones first."""
    newest = (
        Attachment.objects.filter(message__session_id=session_id, file__isnull=False)
        .select_related("file")
        .order_by("-id")[:LISTED]
    )
    return [attachment.file for attachment in newest if attachment.file is not None][::-1]


def find(came: list[File], wanted: str) -> File:
    """Return the file of a number in the list or of a name, the newest of that name.

    Raises:
        ToolRefused: There is none.
    """
    if wanted.isdecimal() and 1 <= int(wanted) <= len(came):
        return came[int(wanted) - 1]
    named = [file for file in came if file.name.casefold() == wanted.casefold()]
    if not named:
        raise ToolRefused(f"No file of that name came here.\n{listed(came)}")
    return named[-1]


def listed(came: list[File]) -> str:
    """Return the files with their numbers, for the model."""
    if not came:
        return "No file came in this conversation."
    lines = [
        f"{number}. {file.name} ({file.media_type}, {file.size_bytes} bytes)"
        for number, file in enumerate(came, start=1)
    ]
    return "\n".join(lines)
