"""Only one beat rings at a time."""

import threading

import psycopg
import pytest
from django.conf import settings

from qanot_site.beat import BeatLock


@pytest.mark.django_db(transaction=True)
def test_a_second_beat_waits_until_the_first_is_gone() -> None:
    first, second = BeatLock(settings.DATABASE_URL), BeatLock(settings.DATABASE_URL)
    first.acquire()
    waiting = threading.Thread(target=second.acquire)

    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()

    first.release()
    waiting.join(10)
    assert not waiting.is_alive()
    assert second.is_held()
    second.release()


@pytest.mark.django_db(transaction=True)
def test_a_lost_connection_is_a_lost_lock() -> None:
    lock = BeatLock(settings.DATABASE_URL)
    lock.acquire()
    assert lock.is_held()

    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid) from pg_locks "
            "where locktype = 'advisory' and pid <> pg_backend_pid()"
        )

    assert not lock.is_held()
    lock.acquire()
    assert lock.is_held()
    lock.release()
