"""Persona documents: every change of a text is a version."""

from django.db import transaction

from agents.models import AgentDocument, AgentDocumentVersion, User


@transaction.atomic
def save(
    document: AgentDocument, *, text: str, author: User | None, reason: str
) -> AgentDocumentVersion | None:
    """Give a document a new text, keeping what was written as a version.

    The document's row is locked, so that two savers get two numbers; a document that is not
    stored yet is stored first. The given object carries the new text and number afterwards.

    Args:
        author: Who wrote it; None for the platform.

    Returns:
        The new version, or None where the text was the same already.
    """
    if document._state.adding:
        document.text = ""
        document.save()
    locked = AgentDocument.objects.select_for_update().get(pk=document.pk)
    document.text, document.version_number = locked.text, locked.version_number
    if text == locked.text:
        return None
    document.text = text
    document.version_number += 1
    document.save(update_fields=["text", "version_number", "updated_at"])
    return AgentDocumentVersion.objects.create(
        document=document,
        number=document.version_number,
        text=text,
        author=author,
        reason=reason,
    )
