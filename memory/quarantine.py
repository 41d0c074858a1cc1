"""Texts from outside that wait until somebody lets them count as facts, or drops them."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from agents.models import User
from agents.services import audit
from memory import documents, hooks, superseding
from memory.index import facts
from memory.models import Origin, WalEntry


def waiting() -> QuerySet[WalEntry]:
    """Return what nobody has decided about yet."""
    return WalEntry.objects.filter(
        superseding.HOLDS, origin=Origin.UNTRUSTED, accepted_at__isnull=True
    )


@transaction.atomic
def accept(entry: WalEntry, *, by: User, at: datetime) -> bool:
    """Let a text count as a fact; False where it does not wait any more.

    It stays marked as coming from outside, with who let it in.
    """
    locked = waiting().select_for_update(of=("self",)).filter(pk=entry.pk).first()
    if locked is None:
        return False
    locked.accepted_by, locked.accepted_at, locked.is_durable = by, at, True
    locked.save(update_fields=["accepted_by", "accepted_at", "is_durable"])
    home = documents.home_of(locked)
    documents.append_facts([locked.text], home=home, source=f"user:{by.pk}", at=at)
    facts.add([locked])
    hooks.written(locked.text, locked.source)
    _record(locked, "fact.accepted", by)
    return True


@transaction.atomic
def drop(entry: WalEntry, *, by: User, at: datetime) -> bool:
    """Put a text away for good; False where it does not wait any more."""
    dropped = waiting().filter(pk=entry.pk).update(retracted_at=at)
    if dropped:
        _record(entry, "fact.dropped", by)
    return bool(dropped)


def _record(entry: WalEntry, action: str, by: User) -> None:
    audit.record(
        team_id=entry.team_id,
        actor=by,
        action=action,
        subject=f"fact:{entry.pk}",
        reason=f"agent:{entry.agent_id}" if entry.agent_id else "",
    )
