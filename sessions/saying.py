"""What people say where they read the transcript: a message, one with files, or a command."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction

from sessions import commands, inbox, uploads
from sessions.commands import live
from sessions.errors import FilesGone
from sessions.inbox import Accepted, Inbound
from sessions.models import ChatSession


def say(
    inbound: Inbound,
    *,
    session: ChatSession,
    files: Sequence[UUID] = (),
    language: str | None = None,
) -> Accepted:
    """Store what a person says, once, and do it at once where it is a command.

    Args:
        files: What they uploaded for it; with files nothing is a command.
        language: Of a command's reply; None takes the person's own.

    Raises:
        EmptyMessage: There is nothing but white space, and no file.
        MessageTooLong: There is more than a message may hold.
        KeyReused: The same external id came with another body or to another conversation.
        FilesGone: The files are not the person's to send, or were sent already.
    """
    if files:
        return _say_with_files(inbound, session, files)
    command = commands.find(inbound.text, channel=session.account.channel)
    if command is None:
        return inbox.accept(inbound, session=session)
    return live.accept(inbound, command, session=session, language=language)


@transaction.atomic
def _say_with_files(inbound: Inbound, session: ChatSession, files: Sequence[UUID]) -> Accepted:
    if inbound.person is None:
        raise FilesGone("nobody uploaded them")
    locked = uploads.lock(files, person=inbound.person)
    attachments = tuple(uploads.attachment_of(file) for file in locked)
    accepted = inbox.accept(replace(inbound, attachments=attachments), session=session)
    if accepted.is_new:
        uploads.claim(locked, accepted.message, person=inbound.person)
    return accepted
