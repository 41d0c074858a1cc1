"""Who writes terms and who removes them hold rows in one order, and so never wait in a circle."""

import threading

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from memory.index import postings, writing
from memory.index.writing import Text
from memory.models import MemoryScope, MemoryThread, Passage
from tests.memory.index.conftest import NOON, Corner

_WAITS = """
    SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()
        AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))
"""


@pytest.mark.django_db(transaction=True)
def test_threads_are_touched_only_by_who_holds_their_scope(corner: Corner) -> None:
    corner.say("The gate is green")
    writing.add(
        [Text("The door is blue", NOON)],
        home=corner.home,
        kind=Passage.Kind.EXCHANGE,
        source="turn:later",
        thread="session:1/1",
    )
    indexed: list[int] = []

    def index() -> None:
        try:
            indexed.append(postings.index_waiting())
        finally:
            connection.close()

    beside = threading.Thread(target=index)
    with transaction.atomic(), connection.cursor() as cursor:
        MemoryScope.objects.select_for_update(no_key=True).get()
        beside.start()
        while not _is_waited_for(cursor):
            assert beside.is_alive()
        cursor.execute("SET LOCAL lock_timeout = '1s'")
        assert MemoryThread.objects.update(words=1) == 1
    beside.join()
    assert indexed == [1]
    assert corner.exact("door")


def _is_waited_for(cursor: CursorWrapper) -> bool:
    cursor.execute(_WAITS)
    return bool(cursor.fetchone()[0])
