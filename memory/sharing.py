"""Sharing one fact with more people than it was told to: an explicit act, written down."""

from datetime import datetime
from typing import Final, Literal

from django.db import transaction

from agents.models import Person, User
from agents.services import audit
from memory import documents, hooks, superseding
from memory.errors import NotShareable
from memory.index import facts
from memory.models import Origin, Scope, WalEntry
from memory.sameness import Said, fingerprint

Audience = Literal["agent", "team"]
_WIDER: Final = {Scope.PERSON: 0, Scope.CHAT: 0, Scope.AGENT: 1, Scope.TEAM: 2}


@transaction.atomic
def share(entry: WalEntry, *, to: Audience, by: User | Person, at: datetime) -> WalEntry:
    """Let everybody who talks with the agent, or the whole team, be told a fact.

    The fact itself stays where it is; what is shared is a row of its own that names it, and ends
    when the fact is corrected, forgotten or no longer shared.

    Args:
        by: Who shares it; the caller has checked that they may.

    Raises:
        NotShareable: The fact holds no longer, came from outside, or is shared that far already.
    """
    locked = WalEntry.objects.select_for_update(of=("self",)).get(pk=entry.pk)
    _check(locked, to)
    home = _home(locked, to)
    shared = WalEntry.objects.create(
        **home,
        category=locked.category,
        text=locked.text,
        value=locked.value,
        is_negated=locked.is_negated,
        language=locked.language,
        fingerprint=fingerprint(
            Said(locked.category, locked.text, locked.value, locked.is_negated),
            author_id=locked.author_id,
        ),
        is_durable=True,
        author_id=locked.author_id,
        origin=locked.origin,
        source=f"fact:{locked.pk}",
        thread=locked.thread,
        created_at=at,
        last_said_at=at,
        shared_from=locked,
    )
    documents.append_facts([shared.text], home=home, source=_actor(by), at=at)
    facts.add([shared])
    hooks.written(shared.text, shared.source)
    _record(locked, f"fact.shared_with_{to}", by)
    return shared


@transaction.atomic
def unshare(shared: WalEntry, *, by: User | Person, at: datetime) -> bool:
    """Share a fact no longer; False where it is not shared, or not any more.

    Args:
        shared: The row that ``share`` made.
    """
    locked = WalEntry.objects.select_for_update(of=("self",)).get(pk=shared.pk)
    if locked.shared_from_id is None or locked.retracted_at is not None:
        return False
    superseding.take_back([locked], source=_actor(by), at=at)
    _record(locked, "fact.unshared", by)
    return True


def _check(entry: WalEntry, to: Audience) -> None:
    if entry.retracted_at is not None or entry.superseded_at is not None:
        raise NotShareable("it holds no longer")
    if entry.category == WalEntry.Category.FORGET:
        raise NotShareable("a wish to forget is no fact")
    if entry.origin == Origin.UNTRUSTED and entry.accepted_at is None:
        raise NotShareable("it came from outside")
    if _WIDER[Scope(entry.scope)] >= _WIDER[Scope(to)]:
        raise NotShareable("it is known that far already")
    if WalEntry.objects.filter(superseding.HOLDS, shared_from=entry, scope=to).exists():
        raise NotShareable("it is shared already")


def _home(entry: WalEntry, to: Audience) -> documents.Home:
    if to == "agent":
        return {"team_id": entry.team_id, "agent_id": entry.agent_id, "scope": Scope.AGENT}
    return {"team_id": entry.team_id, "scope": Scope.TEAM}


def _actor(by: User | Person) -> str:
    return f"person:{by.pk}" if isinstance(by, Person) else audit.actor_of(by)


def _record(entry: WalEntry, action: str, by: User | Person) -> None:
    audit.record(
        team_id=entry.team_id,
        actor=_actor(by),
        action=action,
        subject=f"fact:{entry.pk}",
        reason=f"agent:{entry.agent_id}" if entry.agent_id else "",
    )
