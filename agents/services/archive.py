"""Archiving: out of sight, yet there for the records that point at it."""

from django.db import models, transaction
from django.utils import timezone

from agents.models import Team, User
from agents.models.base import ArchivableModel
from agents.services import audit


@transaction.atomic
def archive(rows: "models.QuerySet[ArchivableModel]", *, by: User | str = audit.PLATFORM) -> int:
    """Archive those rows that are not yet; returns how many that were."""
    found = list(rows.filter(archived_at=None).select_for_update(of=("self",)))
    _all(rows, found).update(archived_at=timezone.now())
    _tell(found, by, "archived")
    return len(found)


@transaction.atomic
def restore(rows: "models.QuerySet[ArchivableModel]", *, by: User | str = audit.PLATFORM) -> int:
    """Bring archived rows back; returns how many they were."""
    found = list(rows.exclude(archived_at=None).select_for_update(of=("self",)))
    _all(rows, found).update(archived_at=None)
    _tell(found, by, "restored")
    return len(found)


def _all(
    rows: "models.QuerySet[ArchivableModel]", found: list[ArchivableModel]
) -> "models.QuerySet[ArchivableModel]":
    # Without what the query joins and annotates: an update takes neither.
    return rows.model._base_manager.filter(pk__in=[row.pk for row in found])


def _tell(found: list[ArchivableModel], by: User | str, what: str) -> None:
    for row in found:
        team_id = row.pk if isinstance(row, Team) else getattr(row, "team_id", None)
        audit.record(
            team_id=team_id,
            actor=by,
            action=f"{audit.noun_of(row)}.{what}",
            subject=audit.subject_of(row),
            reason=str(row),
        )
