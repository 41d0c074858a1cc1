"""What an agent would like to change about itself: a person decides, once."""

from typing import Final, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from agents.models import AgentDocument, DocumentProposal, User
from agents.services import audit, documents

# A document beyond this would be cut to a third by every prompt; a proposal is read by people.
MOST_CHARACTERS: Final = 60_000
REASON_CHARACTERS: Final = 300
# It belongs to one person, who would have to read and accept it; tools write it directly.
PRIVATE: Final = "USER.md"

State = DocumentProposal.State
Decision = Literal["done", "decided_before", "document_changed"]


@transaction.atomic
def propose(
    *,
    agent_id: int,
    name: str,
    text: str,
    reason: str,
    source: str,
    person_id: int | None = None,
) -> DocumentProposal:
    """Keep a new text for a document until somebody of the team decides.

    Proposing again in the same turn replaces the open proposal's text, so a repeated tool call
    leaves one row. Once it was decided, it is returned as it is.

    Args:
        reason: In one line, cut after 300 characters.
        source: Whose idea it was, ``turn:81``.
        person_id: With whom the agent was talking.

    Raises:
        ValueError: There is no such document, it belongs to a person, or the text is empty or
            too long.
    """
    text = _storable(text)
    _check(name, text)
    proposal, is_new = DocumentProposal.objects.select_for_update().get_or_create(
        agent_id=agent_id, name=name, source=source, defaults={"person_id": person_id}
    )
    if is_new or proposal.state == State.OPEN:
        proposal.base_version = current_version(agent_id, name)
        proposal.text = text
        proposal.reason = " ".join(_storable(reason).split())[:REASON_CHARACTERS]
        proposal.save(update_fields=["base_version", "text", "reason"])
    return proposal


@transaction.atomic
def accept(proposal: DocumentProposal, *, user: User, seen_version: int | None = None) -> Decision:
    """Make the proposed text the document's newest version, written by who accepted it.

    Args:
        seen_version: Against which version the text was compared; where the document has
            another one by now, nothing happens.
    """
    locked = _locked(proposal)
    if locked.state != State.OPEN:
        return "decided_before"
    document, _is_new = AgentDocument.objects.select_for_update().get_or_create(
        agent_id=locked.agent_id, name=locked.name, person=None
    )
    if seen_version is not None and document.version_number != seen_version:
        return "document_changed"
    reason = gettext("Proposal accepted: %(reason)s") % {"reason": locked.reason or locked.source}
    documents.save(document, text=locked.text, author=user, reason=reason[:REASON_CHARACTERS])
    _decide(locked, State.ACCEPTED, user)
    return "done"


@transaction.atomic
def refuse(proposal: DocumentProposal, *, user: User) -> Decision:
    """Put a proposal away; the document stays as it is."""
    locked = _locked(proposal)
    if locked.state != State.OPEN:
        return "decided_before"
    _decide(locked, State.REFUSED, user)
    return "done"


def current_version(agent_id: int, name: str) -> int:
    """Return the number of a shared document's newest version; 0 where there is none."""
    rows = AgentDocument.objects.filter(agent_id=agent_id, name=name, person=None)
    return rows.values_list("version_number", flat=True).first() or 0


def _check(name: str, text: str) -> None:
    if name == PRIVATE:
        raise ValueError(f"{name} belongs to a person and is not proposed")
    try:
        # The pattern's end would let one line break pass.
        AgentDocument._meta.get_field("name").run_validators(name.replace("\n", " "))
    except ValidationError as exc:
        raise ValueError(f"there is no document called {name[:64]!r}") from exc
    if not text.strip():
        raise ValueError("the proposed text is empty")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the proposed text has more than {MOST_CHARACTERS} characters")


def _storable(text: str) -> str:
    # A model's words may hold what PostgreSQL's text does not.
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _locked(proposal: DocumentProposal) -> DocumentProposal:
    return DocumentProposal.objects.select_for_update().get(pk=proposal.pk)


def _decide(proposal: DocumentProposal, state: DocumentProposal.State, user: User) -> None:
    proposal.state = state
    proposal.decided_by = user
    proposal.decided_at = timezone.now()
    proposal.save(update_fields=["state", "decided_by", "decided_at"])
    audit.record(
        team_id=proposal.agent.team_id,
        actor=user,
        action=f"proposal.{state.value}",
        subject=audit.subject_of(proposal),
        reason=f"{proposal.name} · agent:{proposal.agent_id}",
    )
