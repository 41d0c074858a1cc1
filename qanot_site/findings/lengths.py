"""Documents of which prompts show only head and tail."""

from collections.abc import Iterator

from django.db.models.functions import Length
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.core.prompt import DOCUMENT_CHARACTERS
from agents.models import AgentDocument
from agents.services import measuring
from agents.services.measuring import Measure
from memory import lengths
from memory.models import MemoryDocument, Scope
from qanot_site.findings.registry import Finding, check, figures

# A placeholder may be replaced by a longer text, such as a long name.
_ROOM_FOR_VALUES = 1_000


@check
def persona_documents() -> Iterator[Finding]:
    """Yield persona documents that are cut."""
    now = timezone.now()
    documents = (
        AgentDocument.objects.annotate(size=Length("text"))
        .filter(
            archived_at=None,
            agent__archived_at=None,
            size__gt=DOCUMENT_CHARACTERS - _ROOM_FOR_VALUES,
        )
        .select_related("agent")
        .order_by("agent_id", "name", "id")
    )
    for document in documents:
        measure = measuring.measure(document.agent, document.text, now=now)
        if measure.removed:
            yield Finding(
                code="documents.too_long",
                level="warning",
                subject=_subject(document),
                text=_words(measure),
                fix=_("Shorten it, or move a part of it into another document of the agent."),
            )


def _words(measure: Measure) -> str:
    return _(
        "This document has %(characters)s characters. A prompt shows at most %(most)s: "
        "%(removed)s are left out of the middle."
    ) % figures(characters=measure.characters, most=DOCUMENT_CHARACTERS, removed=measure.removed)


def _subject(document: AgentDocument) -> str:
    if document.person_id is None:
        return _("%(name)s of %(agent)s") % {"name": document.name, "agent": document.agent}
    return _("%(name)s of %(agent)s for person %(person)s") % {
        "name": document.name,
        "agent": document.agent,
        "person": document.person_id,
    }


@check
def memory_documents() -> Iterator[Finding]:
    """Yield MEMORY.md documents that are cut."""
    for found in lengths.too_long():
        yield Finding(
            code="memory.too_long",
            level="warning",
            subject=_owner(found.document),
            text=lengths.words(found.length),
            fix=_("Have the agent or an editor take out what is no longer true."),
        )


def _owner(document: MemoryDocument) -> str:
    values = {
        "name": document.name,
        "agent": document.agent,
        "team": document.team,
        "person": document.person_id,
        "chat": document.chat_id,
    }
    if document.scope == Scope.PERSON:
        return _("%(name)s of %(agent)s about person %(person)s") % values
    if document.scope == Scope.CHAT:
        return _("%(name)s of %(agent)s about group %(chat)s") % values
    if document.scope == Scope.AGENT:
        return _("%(name)s of %(agent)s, for everybody") % values
    return _("%(name)s of the team %(team)s") % values
