"""New texts for memory documents: kept until somebody accepts or refuses them, once."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from agents.models import User
from agents.services import audit
from agents.services.proposals import Decision
from memory import documents
from memory.models import MemoryDocument, MemoryProposal

State = MemoryProposal.State


@transaction.atomic
def propose(document: MemoryDocument, text: str, *, reason: str, source: str) -> MemoryProposal:
    """Keep a new text for a document; proposing again for a source replaces an open one.

    Raises:
        DocumentTooLong: The text is longer than a document may be.
    """
    documents.check_length(text)
    proposal, is_new = MemoryProposal.objects.select_for_update().get_or_create(
        document=document,
        source=source,
        defaults={"base_version": document.version_number, "text": text, "reason": reason},
    )
    if not is_new and proposal.state == State.OPEN:
        proposal.base_version, proposal.text = document.version_number, text
        proposal.reason = reason
        proposal.save(update_fields=["base_version", "text", "reason"])
    return proposal


@transaction.atomic
def accept(proposal: MemoryProposal, *, by: User, seen_version: int | None = None) -> Decision:
    """Make the proposed text the document's newest version, written by who accepted it.

    Args:
        seen_version: Against which version the text was compared; where the document has
            another one by now, nothing happens.
    """
    locked = _locked(proposal)
    if locked.state != State.OPEN:
        return "decided_before"
    document = MemoryDocument.objects.select_for_update().get(pk=locked.document_id)
    expected = locked.base_version if seen_version is None else seen_version
    if document.version_number != expected:
        return "document_changed"
    documents.replace(
        document.pk,
        text=locked.text,
        source=f"proposal:{locked.pk}",
        author=by,
        reason=gettext("Proposal accepted: %(reason)s") % {"reason": locked.reason},
    )
    _decide(locked, State.ACCEPTED, by)
    return "done"


@transaction.atomic
def refuse(proposal: MemoryProposal, *, by: User) -> Decision:
    """Put a proposal away; the document stays as it is."""
    locked = _locked(proposal)
    if locked.state != State.OPEN:
        return "decided_before"
    _decide(locked, State.REFUSED, by)
    return "done"


def _locked(proposal: MemoryProposal) -> MemoryProposal:
    rows = MemoryProposal.objects.select_related("document")
    return rows.select_for_update(of=("self",)).get(pk=proposal.pk)


def _decide(proposal: MemoryProposal, state: MemoryProposal.State, by: User) -> None:
    proposal.state, proposal.decided_by, proposal.decided_at = state, by, timezone.now()
    proposal.save(update_fields=["state", "decided_by", "decided_at"])
    audit.record(
        team_id=proposal.document.team_id,
        actor=by,
        action=f"memory_proposal.{state.value}",
        subject=f"memory_proposal:{proposal.pk}",
        reason=f"document:{proposal.document_id}",
    )
