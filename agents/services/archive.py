"""Archiving: out of sight, yet there for the records that point at it."""

from django.db.models import QuerySet
from django.utils import timezone

from agents.models.base import ArchivableModel


def archive(rows: "QuerySet[ArchivableModel]") -> int:
    """Archive those rows that are not yet; returns how many that were."""
    return rows.filter(archived_at=None).update(archived_at=timezone.now())


def restore(rows: "QuerySet[ArchivableModel]") -> int:
    """Bring archived rows back; returns how many they were."""
    return rows.exclude(archived_at=None).update(archived_at=None)
