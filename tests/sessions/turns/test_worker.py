"""A worker process: known to PostgreSQL for as long as it lives."""

import pytest
from django.db import connection

from agents import sql
from sessions.models import WorkerProcess
from sessions.turns import leases
from sessions.turns.worker import Worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_lock_is_held_over_a_connection_with_all_that_the_database_url_says(
    worker: Worker,
) -> None:
    holder = """
        SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %s AND l.objid = %s
            AND a.datname = current_database()
    """
    found = sql.fetch(holder, [leases.WORKER_LOCKS, WorkerProcess.objects.get().pk])
    assert found == [(connection.settings_dict["OPTIONS"]["application_name"],)]
