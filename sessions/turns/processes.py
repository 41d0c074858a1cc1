"""Which worker processes live, by their locks, and the rows of those that do not."""

from datetime import timedelta
from typing import Final

import structlog
from django.utils import timezone

from agents import sql
from sessions.models import WorkerProcess
from sessions.turns import leases

_log = structlog.get_logger(__name__)

DEAD_KEPT: Final = timedelta(days=7)

_LIVING = """
    SELECT l.objid::bigint FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid = %s
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def living() -> frozenset[int]:
    """Return the numbers of the workers whose processes hold their locks."""
    return frozenset(pk for (pk,) in sql.fetch(_LIVING, [leases.WORKER_LOCKS]))


def forget_dead() -> int:
    """Delete the rows of workers that started days ago and live no more; return how many.

    A number is never given twice, so an old lease that names one of them stays nobody's.
    """
    dead = WorkerProcess.objects.filter(started_at__lt=timezone.now() - DEAD_KEPT)
    forgotten, _ = dead.exclude(pk__in=living()).delete()
    if forgotten:
        _log.info("workers.forgotten", workers=forgotten)
    return forgotten
