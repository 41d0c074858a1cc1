"""What the doctor finds about the deployment; each check alone, late or broken."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import DatabaseError, connection, connections
from django.utils import timezone
from pytest_django import Settings

from qanot_site.beat_life import LOCK_ID
from qanot_site.findings import bots, database, machine, processes, registry
from qanot_site.findings.registry import Finding, find_all
from qanot_site.home import Home
from sessions.channels.telegram.standing import Trouble
from sessions.models import Turn, WorkerProcess
from sessions.turns import leases
from sessions.turns.processes import DEAD_KEPT, forget_dead
from tests import factories

pytestmark = pytest.mark.django_db


def codes(found: Iterable[Finding]) -> list[str]:
    return [finding.code for finding in found]


@pytest.fixture
def locks() -> Iterator[psycopg.Connection]:
    with psycopg.connect(django_settings.DATABASE_URL, autocommit=True) as other:
        yield other


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Home:
    made = settings.HOME = Home(tmp_path)
    made.backups.mkdir()
    return made


def alone(monkeypatch: pytest.MonkeyPatch, run: registry.Check, *, needs_database: bool) -> None:
    item = registry._Registered(run, "deployment", needs_database)
    monkeypatch.setattr(registry, "_checks", [item])
    monkeypatch.setattr(registry, "LIMIT_S", 0.2)


# --- the registry ------------------------------------------------------------------------------


def test_check_that_breaks_is_a_finding_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks() -> list[Finding]:
        raise ValueError("postgresql://app:hunter2@host/db")

    def fine() -> list[Finding]:
        return [Finding("x.fine", "note", "s", "t", "f")]

    items = [registry._Registered(run, "deployment", True) for run in (breaks, fine)]
    items.append(registry._Registered(breaks, "deployment", False))
    monkeypatch.setattr(registry, "_checks", items)
    found = find_all()
    assert codes(found) == ["check.failed", "check.failed", "x.fine"]
    assert "ValueError" in found[0].text
    assert "hunter2" not in repr(found)


def test_statement_that_hangs_is_given_up_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow() -> list[Finding]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(20)")
        return []

    alone(monkeypatch, slow, needs_database=True)
    began = time.monotonic()
    assert codes(find_all()) == ["check.failed"]
    assert time.monotonic() - began < 10
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_disk_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow() -> list[Finding]:
        time.sleep(1)
        return []

    alone(monkeypatch, slow, needs_database=False)
    assert codes(find_all()) == ["check.slow"]


def test_without_a_database_one_finding_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> list[Finding]:
        raise AssertionError("asked the database")

    def refuse(*_: object) -> None:
        raise DatabaseError("app:hunter2")

    alone(monkeypatch, never, needs_database=True)
    monkeypatch.setattr(connections["default"], "cursor", refuse)
    found = find_all()
    assert codes(found) == ["database.unreachable"]
    assert "hunter2" not in repr(found)


# --- the database ------------------------------------------------------------------------------


def test_this_database_is_as_it_should_be() -> None:
    for run in (database.grants, database.pgvector, database.clocks, database.migrations):
        assert codes(run()) == [], run


def test_clock_that_is_apart_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 5)
    (finding,) = database.clocks()
    assert finding.code == "clocks.apart"
    assert "5.0 seconds" in finding.text


# --- processes ---------------------------------------------------------------------------------


def test_redis_that_is_away(settings: Settings) -> None:
    settings.REDIS_URL = "redis://:hunter2@127.0.0.1:1/0"
    (finding,) = processes.redis_answers()
    assert finding.code == "redis.unreachable"
    assert "hunter2" not in repr(finding)


def test_workers_and_beat_are_alive_by_their_locks(locks: psycopg.Connection) -> None:
    worker = WorkerProcess.objects.create(name="x")
    locks.execute("SELECT pg_advisory_lock(%s, %s)", [leases.WORKER_LOCKS, worker.pk])
    locks.execute("SELECT pg_advisory_lock(%s)", [LOCK_ID])
    assert codes(processes.workers()) == []
    assert codes(processes.beat()) == []
    factories.turn(state=Turn.State.QUEUED, accepted_at=timezone.now() - timedelta(minutes=5))
    assert codes(processes.workers()) == ["turns.waiting"]


def test_nobody_alive_is_told() -> None:
    assert codes(processes.workers()) == ["workers.none"]
    assert codes(processes.beat()) == ["beat.none"]


def test_rows_of_workers_that_died_long_ago_go_and_living_ones_stay(
    locks: psycopg.Connection,
) -> None:
    old, living, new = (WorkerProcess.objects.create(name=name) for name in "abc")
    long_ago = timezone.now() - DEAD_KEPT - timedelta(hours=1)
    WorkerProcess.objects.exclude(pk=new.pk).update(started_at=long_ago)
    locks.execute("SELECT pg_advisory_lock(%s, %s)", [leases.WORKER_LOCKS, living.pk])
    assert forget_dead() == 1
    kept = set(WorkerProcess.objects.values_list("pk", flat=True))
    assert kept == {living.pk, new.pk}
    assert old.pk not in kept


# --- the machine -------------------------------------------------------------------------------


def test_disk_without_room(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = SimpleNamespace(total=100 * 2**30, free=2**29)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage)
    (finding,) = machine.disk()
    assert (finding.code, finding.text) == ("disk.low", "Only 512 MB of 102,400 MB are free.")
    usage.free = 50 * 2**30
    assert codes(machine.disk()) == []


def test_disk_of_a_database_that_lies_elsewhere(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root's servers cannot reach a closed home: their data lies below /var/lib/qanot."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        (home.folder / "servers.place").write_text(elsewhere)
        free = {elsewhere: 2**20}
        monkeypatch.setattr(
            shutil,
            "disk_usage",
            lambda folder: SimpleNamespace(total=2**40, free=free.get(str(folder), 2**39)),
        )
        (finding,) = machine.disk()
    assert (finding.code, finding.subject) == ("disk.low", elsewhere)


def test_backups_that_are_missing_old_or_fresh(home: Home) -> None:
    assert codes(machine.backups()) == ["backups.none"]
    backup = home.backups / "qanot.tar"
    backup.write_text("")
    assert codes(machine.backups()) == []
    days_ago = time.time() - 9 * 86_400
    os.utime(backup, (days_ago, days_ago))
    (finding,) = machine.backups()
    assert finding.code == "backups.old"
    assert "9 days" in finding.text


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"DEBUG": True, "QANOT_PUBLIC_URL": "https://a.example"}, "settings.debug"),
        ({"QANOT_PUBLIC_URL": "http://a.example"}, "settings.no_https"),
        (
            {"QANOT_PUBLIC_URL": "https://a.example", "ALLOWED_HOSTS": ["*"]},
            "settings.any_host",
        ),
        ({"QANOT_LEASE_S": 5.0, "QANOT_HEARTBEAT_S": 3.0}, "settings.heartbeat"),
        ({"QANOT_METRICS_TOKEN": "abc"}, "settings.metrics_token"),
    ],
)
def test_settings_that_are_wrong_together(
    settings: Settings, values: dict[str, object], code: str
) -> None:
    assert codes(machine.settings_that_do_not_fit()) == []
    for name, value in values.items():
        setattr(settings, name, value)
    found = list(machine.settings_that_do_not_fit())
    assert codes(found) == [code]
    assert "abc" not in found[0].text


def test_every_finding_tells_its_fix() -> None:
    for finding in find_all("deployment"):
        assert finding.fix
        assert finding.subject


# --- bots ----------------------------------------------------------------------------------------


def test_bots_that_hear_nothing_are_told_of_with_what_helps() -> None:
    long_ago = timezone.now() - timedelta(days=2)
    revoked = factories.telegram_account(last_error_code=Trouble.TOKEN_REVOKED)
    factories.telegram_account(
        last_error_code=Trouble.UPDATE_BROKEN, last_error_at=timezone.now() - timedelta(days=2)
    )
    factories.telegram_account(last_error_code=Trouble.OTHER_POLLER, archived_at=long_ago)
    factories.telegram_account(last_error_code="of_somebody_else")
    (found,) = bots.troubled_bots()
    assert (found.code, found.subject) == ("bots.token_revoked", str(revoked))
    assert "@BotFather" in found.fix


def test_bots_that_nobody_asks_for_are_counted() -> None:
    now = timezone.now()
    tended = factories.telegram_account(leased_until=now + timedelta(seconds=5))
    assert codes(bots.pollers()) == []
    type(tended).objects.filter(pk=tended.pk).update(leased_until=now - timedelta(minutes=1))
    # One that is new gets its time.
    factories.telegram_account()
    (found,) = bots.pollers()
    assert found.code == "pollers.none"
    assert " 1 " in found.text


def test_messages_are_brought_to_https_addresses_only(settings: Settings) -> None:
    factories.telegram_account(receives="webhook")
    settings.QANOT_PUBLIC_URL = "http://bots.example.org"
    assert codes(bots.bots_without_https()) == ["bots.no_https"]
    settings.QANOT_PUBLIC_URL = "https://bots.example.org"
    assert codes(bots.bots_without_https()) == []
