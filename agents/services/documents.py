"""Persona documents: every change of a text is a version."""

from django.db import transaction
from django.utils.translation import gettext

from agents.models import AgentDocument, AgentDocumentVersion, BootstrapRitual, User
from agents.services import audit, managed

RITUAL = "BOOTSTRAP.md"


@transaction.atomic
def save(
    document: AgentDocument,
    *,
    text: str,
    author: User | None,
    reason: str,
    through: str = "",
    file: str = "",
) -> AgentDocumentVersion | None:
    """Give a document a new text, keeping what was written as a version.

    The document's row is locked, so that two savers get two numbers; a document that is not
    stored yet is stored first. The given object carries the new text and number afterwards.

    Args:
        author: Who wrote it; None for the platform. What people write is told in the audit log,
            without its words.
        through: By which way they wrote it, for the log, where that is not the admin.
        file: By which file it is changed, for agents that one owns.

    Returns:
        The new version, or None where the text was the same already.

    Raises:
        ManagedByFile: A file owns the agent, and with it the documents that are no person's.
    """
    if document.person_id is None:
        managed.refuse_edit(document.agent, file=file)
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
    if author is not None:
        _tell(document, locked, author, through)
    return AgentDocumentVersion.objects.create(
        document=document,
        number=document.version_number,
        text=text,
        author=author,
        reason=reason,
    )


def _tell(document: AgentDocument, before: AgentDocument, author: User, through: str) -> None:
    fields = ("version_number", "text")
    audit.record(
        team_id=document.agent.team_id,
        actor=author,
        action="document.saved",
        subject=audit.subject_of(document),
        reason=f"{document.name} · agent:{document.agent_id}{through and f' · {through}'}",
        changes=audit.changes_between(before, document, fields),
    )


def restore(version: AgentDocumentVersion, *, author: User | None) -> AgentDocumentVersion | None:
    """Make an earlier text the current one again, as a new version; the history stays as it is.

    Returns:
        The new version, or None where the document says exactly this already.
    """
    reason = gettext("Restored version %(number)s") % {"number": version.number}
    return save(version.document, text=version.text, author=author, reason=reason)


@transaction.atomic
def use_again(document: AgentDocument, *, by: User | None = None, file: str = "") -> bool:
    """Let prompts show an archived document again; False where it was not archived.

    With BOOTSTRAP.md the first conversation begins anew.

    Args:
        file: By which file, for agents that one owns.

    Raises:
        ManagedByFile: A file owns the agent.
    """
    managed.refuse_edit(document.agent, file=file)
    rows = AgentDocument.objects.filter(pk=document.pk, archived_at__isnull=False)
    if not rows.update(archived_at=None):
        return False
    if by is not None:
        audit.record(
            team_id=document.agent.team_id,
            actor=by,
            action="document.used_again",
            subject=audit.subject_of(document),
            reason=f"{document.name} · agent:{document.agent_id}",
        )
    if document.name == RITUAL:
        BootstrapRitual.objects.filter(agent_id=document.agent_id).delete()
    return True
