"""What is said while no model is set up: honest, and useful as far as it can be."""

from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from agents.core.protocols import SystemPart
from agents.models import Membership
from agents.providers import offline_part
from agents.services import access
from memory import files
from memory.index.work import catch_up
from memory.models import WalEntry
from memory.policy import searched_days
from memory.sameness import fold
from memory.search import Found, search
from memory.superseding import HOLDS
from sessions.models import Turn

SHOWN_FINDINGS = 5
# Words have to do where the meaning of what was said is not known by then.
DEADLINE_S = 0.030


def part(turn: Turn, asked: str, *, now: datetime) -> SystemPart:
    """Return the system part that the offline provider reads out, in the person's language."""
    with translation.override(_language(turn)):
        return offline_part("\n\n".join(_paragraphs(turn, asked, now)))


def _language(turn: Turn) -> str:
    """Return what the person speaks, as far as they or their browser said; else the agent's."""
    person = turn.session.person
    user = person.user if person is not None else None
    spoken = (person.language if person else "") or (user.language if user else "")
    return spoken or turn.session.agent.language


def _paragraphs(turn: Turn, asked: str, now: datetime) -> list[str]:
    paragraphs = [
        _("**No model is set up yet**, so this is not an answer to what you wrote."),
        _how_to_add(turn) if _may_add(turn) else _("Ask an owner of the team to add one."),
    ]
    if noted := _noted(turn):
        paragraphs.append(_("I noted:") + "\n\n" + _as_list(noted))
    if found := _found(turn, asked, now):
        paragraphs.append(_("In memory I find:") + "\n\n" + _as_list(found))
    return paragraphs


def _how_to_add(turn: Turn) -> str:
    if not settings.QANOT_PUBLIC_URL:
        # Answers link to whole addresses only (sessions/rendering.py).
        return _(
            "Connect one under Admin → Provider accounts: paste a key, or use a model that runs on "
            "your own machine."
        )
    page = reverse("admin:agents_provideraccount_connect")
    address = f"{settings.QANOT_PUBLIC_URL}{page}?agent={turn.session.agent_id}"
    return _(
        "[Connect a model]({address}): paste a key, or use a model that runs on your own machine."
    ).format(address=address)


def _may_add(turn: Turn) -> bool:
    person = turn.session.person
    user = person.user if person is not None else None
    if user is None:
        return False
    memberships = Membership.objects.filter(user=user, team_id=turn.session.team_id)
    return user.is_superuser or memberships.filter(role__in=access.EDITORS).exists()


def _noted(turn: Turn) -> list[str]:
    """Return what was noted of the turn's messages; a sentence with two reasons once."""
    sources = [message.ref for message in turn.messages.all()]
    texts = (
        WalEntry.objects.visible_to(turn.viewer)
        .filter(HOLDS, source__in=sources)
        .order_by("id")
        .values_list("text", flat=True)
    )
    return list(dict.fromkeys(texts))


def _found(turn: Turn, asked: str, now: datetime) -> list[str]:
    agent = turn.session.agent
    if not agent.keeps_memory:
        return []
    # What was noted a moment ago may be just what is asked for.
    catch_up(turn.viewer)
    found = search(
        turn.viewer,
        asked,
        now=now,
        limit=2 * SHOWN_FINDINGS,
        notes_days=searched_days(agent),
        deadline_s=DEADLINE_S,
    ).found
    # What was replaced since is no answer, and neither is the question, asked before.
    question = fold(asked)
    holding = [hit for hit in found if not hit.newer and fold(hit.content) != question]
    # What stands in MEMORY.md or a note says the same without the log's stamps.
    lasting = [hit for hit in holding if hit.file != files.SESSION_STATE] or holding
    shown = lasting[:SHOWN_FINDINGS]
    return [f"{hit.content.removeprefix('- ')} — {_place(hit)}" for hit in shown]


def _place(hit: Found) -> str:
    return f"{hit.file}:{hit.line}" if hit.line else hit.file


def _as_list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
