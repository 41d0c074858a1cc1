"""A backup that is restored is the same rows, the same files, and a platform that answers."""

import io
import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from psycopg import sql
from pytest_django import Settings

from agents.services import secrets
from qanot_site.backups import archive, before_migrating, contents, programs, restoring
from qanot_site.backups.errors import BackupError, InUse, NoPrograms, NotABackup, NotEmpty
from qanot_site.backups.progress import Silent
from qanot_site.embedded.place import temporary_home
from qanot_site.embedded.postgres import DATABASE, OWNER
from sessions.models import TranscriptEntry
from sessions.turns.leases import WORKER_LOCKS
from tests import factories
from tests.qanot_site.running import PROJECT, clean_environment
from tests.sessions.conftest import (
    Scene,
    ended,
    fake,
    quick,
    scene,
    start_worker,
    wait_until,
    worker,
)

__all__ = ["fake", "quick", "scene", "start_worker", "worker"]

pytestmark = pytest.mark.django_db(transaction=True)


class Database:
    """A database beside the tests' own."""

    def __init__(self, *, template: str) -> None:
        self.name = f"restored_{uuid4().hex[:12]}"
        self._superuser_url = os.environ["TESTS_SUPERUSER_URL"]
        self._run("create database {} template {} owner {}", self.name, template, OWNER)
        self.url = self._with_name(settings.DATABASE_URL)
        self.owner_url = self._with_name(settings.DATABASE_OWNER_URL)

    def _with_name(self, url: str) -> str:
        return f"{url.rpartition('/')[0]}/{self.name}"

    def drop(self) -> None:
        """Drop it, whoever is connected."""
        self._run("drop database {} with (force)", self.name)

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(self._superuser_url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture
def empty() -> Iterator[Database]:
    """A database in which there is nothing but the extensions, as a server is set up."""
    made = Database(template="template1")
    yield made
    made.drop()


@pytest.fixture
def migrated() -> Iterator[Database]:
    """A database with all tables and no rows of people's."""
    made = Database(template=DATABASE)
    yield made
    made.drop()


@pytest.fixture
def home() -> Iterator[Path]:
    """Another home."""
    with temporary_home() as made:
        yield made.folder


def _manage(
    *arguments: str | Path, database: Database, home: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command of another installation."""
    return subprocess.run(
        [sys.executable, PROJECT / "manage.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(database, home) | variables,
    )


def _environment(database: Database, home: Path) -> dict[str, str]:
    return clean_environment() | {
        "DATABASE_URL": database.url,
        "DATABASE_OWNER_URL": database.owner_url,
        "REDIS_URL": settings.REDIS_URL,
        "QANOT_HOME": str(home),
    }


def _backup(to: Path, *options: str) -> str:
    said = io.StringIO()
    call_command("backup", str(to), *options, stdout=said)
    return said.getvalue()


def _figures(url: str) -> dict[str, contents.TableFigures]:
    with contents.connect(url) as connection:
        return {name: contents.figures(connection, name) for name in contents.tables(connection)}


# --- the rehearsal -----------------------------------------------------------------------------


def test_restored_platform_has_all_rows_and_files_and_answers(
    scene: Scene,
    start_worker: Callable[[], object],
    empty: Database,
    home: Path,
    tmp_path: Path,
) -> None:
    scene.account.key_reference = ""
    scene.account.sealed_key = secrets.seal("sk-fake")
    scene.account.save()
    scene.fake.play("It closes at six.")
    turn = scene.say("Remember that the warehouse closes at six on Fridays.").turn
    start_worker()
    wait_until(lambda: ended(turn))
    kept = factories.file(team=scene.agent.team)
    before = _figures(settings.DATABASE_OWNER_URL)

    said = _backup(tmp_path / "all.backup", "--with-secret-key")
    restored = _manage(
        *("restore", tmp_path / "all.backup", "--with-secret-key"), database=empty, home=home
    )

    assert restored.returncode == 0, restored.stderr
    assert "counts and hashes are those of" in restored.stdout
    assert "another one" not in restored.stdout
    assert "rows in" in said
    assert _figures(empty.owner_url) == before
    assert before["bot_sessions_transcriptentry"].rows == 2
    restored_file = home / "files" / kept.content.name
    assert restored_file.read_bytes() == b"hi"
    assert stat.S_IMODE(restored_file.stat().st_mode) == 0o600
    assert _answers(scene, empty, home) == "answered"


def _answers(scene: Scene, database: Database, home: Path) -> str:
    """Let the restored platform answer, with the key that was sealed before."""
    scene.fake.play("Still at six.")
    done = subprocess.run(
        [sys.executable, "-m", "tests.qanot_site.one_turn", "When does it close?"],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=_environment(database, home) | {"QANOT_SWEEP_S": "0.1"},
    )
    assert done.returncode == 0, done.stderr
    request = scene.fake.requests[-1]
    assert scene.fake.keys[-1].endswith("sk-fake")
    assert "warehouse closes at six" in str(request.body)
    return done.stdout.splitlines()[-1]


def test_restored_database_still_refuses_changes_to_past_rows(
    empty: Database, home: Path, tmp_path: Path
) -> None:
    factories.usage_record()
    _backup(tmp_path / "b")

    restored = _manage("restore", tmp_path / "b", database=empty, home=home)

    assert restored.returncode == 0, restored.stderr
    with psycopg.connect(empty.url, autocommit=True) as application:
        for statement in (
            "update agents_usagerecord set job = 'x'",
            "delete from agents_usagerecord",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                application.execute(statement)
        assert application.execute("select count(*) from agents_usagerecord").fetchone() == (1,)
        application.execute("update agents_team set name = name")


def test_sequences_go_on_behind_the_restored_rows(
    empty: Database, home: Path, tmp_path: Path
) -> None:
    last = factories.usage_record().pk
    _backup(tmp_path / "b")
    assert _manage("restore", tmp_path / "b", database=empty, home=home).returncode == 0

    with psycopg.connect(empty.url) as application:
        (following,) = application.execute(
            "select nextval(pg_get_serial_sequence('agents_usagerecord', 'id'))"
        ).fetchone() or (0,)

    assert following > last


# --- the archive -------------------------------------------------------------------------------


def test_archive_is_private_and_whole(tmp_path: Path) -> None:
    factories.team()
    _backup(tmp_path / "b")

    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    with tarfile.open(tmp_path / "b") as tar:
        assert set(tar.getnames()) >= {"database.dump", "manifest.json"}
        assert "secret_key" not in tar.getnames()


def test_secret_key_is_in_it_only_where_asked_for(tmp_path: Path) -> None:
    said = _backup(tmp_path / "without")
    _backup(tmp_path / "with", "--with-secret-key")

    assert "The secret key is not in it" in said
    assert settings.SECRET_KEY.encode() not in (tmp_path / "without").read_bytes()
    with archive.opened(tmp_path / "with") as reader:
        assert reader.secret_key() == settings.SECRET_KEY


def test_existing_file_is_not_replaced_by_chance(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("precious")

    with pytest.raises(CommandError, match="exists"):
        _backup(tmp_path / "b")
    _backup(tmp_path / "b", "--overwrite")

    assert tarfile.is_tarfile(tmp_path / "b")


def test_failed_backup_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_found", lambda: iter(()))

    with pytest.raises(CommandError, match="apt install postgresql-client-18"):
        _backup(tmp_path / "b")

    assert list(tmp_path.iterdir()) == []


def test_secret_key_that_differs_is_told(empty: Database, home: Path, tmp_path: Path) -> None:
    _backup(tmp_path / "b")

    restored = _manage(
        *("restore", tmp_path / "b"), database=empty, home=home, QANOT_SECRET_KEY="another" * 10
    )

    assert restored.returncode == 0, restored.stderr
    assert "The secret key here is another one" in restored.stdout


@pytest.mark.parametrize("member", ["database.dump", "files/note.txt"])
def test_damaged_archive_is_refused_before_anything_is_touched(
    migrated: Database, tmp_path: Path, member: str, settings: Settings
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.MEDIA_ROOT.mkdir()
    default_storage.save("note.txt", io.BytesIO(b"hi"))
    _backup(tmp_path / "b")
    _damage(tmp_path / "b", member)
    before = _figures(migrated.owner_url)

    with pytest.raises(NotABackup, match=f"damaged: {member}"):
        restoring.restore(
            tmp_path / "b",
            url=migrated.owner_url,
            files=tmp_path / "elsewhere",
            overwrite=False,
            reporter=Silent(),
        )

    assert _figures(migrated.owner_url) == before


def _damage(path: Path, member: str) -> None:
    with tarfile.open(path) as tar:
        offset = tar.getmember(member).offset_data
    with path.open("r+b") as stream:
        stream.seek(offset)
        first = stream.read(1)
        stream.seek(offset)
        stream.write(bytes([first[0] ^ 0xFF]))


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_archive_cannot_write_outside_the_folder_of_files(tmp_path: Path, name: str) -> None:
    _backup(tmp_path / "b")
    with archive.opened(tmp_path / "b") as reader:
        digest = archive.Digest(size_bytes=0, sha256="0" * 64)
        manifest = reader.manifest.model_copy(update={"files": {name: digest}})
    with archive.written(tmp_path / "evil") as writer:
        writer.add_text(archive.MANIFEST, manifest.model_dump_json())

    with (
        pytest.raises(NotABackup, match="outside the home"),
        archive.opened(tmp_path / "evil"),
    ):
        pass


def test_something_else_is_no_backup(migrated: Database, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("Dear diary")

    with pytest.raises(NotABackup, match="not a backup"):
        _restore(tmp_path / "b", migrated)


def _restore(source: Path, to: Database, *, overwrite: bool = False) -> None:
    restoring.restore(source, url=to.owner_url, files=None, overwrite=overwrite, reporter=Silent())


# --- what a restore refuses --------------------------------------------------------------------


def test_full_database_is_overwritten_only_where_that_is_said(
    migrated: Database, tmp_path: Path
) -> None:
    factories.team(name="From the backup")
    _backup(tmp_path / "b")
    with psycopg.connect(migrated.owner_url) as connection:
        _put_team(connection, "Precious")
        connection.execute("create table of_a_later_version (id int)")

    with pytest.raises(NotEmpty, match="rows in agents_team"):
        _restore(tmp_path / "b", migrated)
    with psycopg.connect(migrated.owner_url) as connection:
        assert connection.execute("select name from agents_team").fetchall() == [("Precious",)]

    _restore(tmp_path / "b", migrated, overwrite=True)
    with psycopg.connect(migrated.owner_url) as connection:
        names = connection.execute("select name from agents_team").fetchall()
        assert names == [("From the backup",)]
    assert "of_a_later_version" not in _figures(migrated.owner_url)


def _put_team(connection: psycopg.Connection, name: str) -> None:
    """Add a row to a database that is not Django's."""
    connection.execute(
        "insert into agents_team (public_id, name, slug, time_zone, created_at) "
        "values (gen_random_uuid(), %(name)s::text, lower(%(name)s::text), 'UTC', now())",
        {"name": name},
    )


def test_restore_that_fails_leaves_the_database_as_it_was(
    migrated: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _backup(tmp_path / "b")
    before = _figures(migrated.owner_url)
    monkeypatch.setattr(restoring, "_DROP", f"{restoring._DROP}\nselect 1/0;")

    with pytest.raises(BackupError, match=r"is as it was: .*division by zero"):
        _restore(tmp_path / "b", migrated, overwrite=True)

    assert _figures(migrated.owner_url) == before


def test_platform_that_runs_is_not_pulled_from_under_itself(
    migrated: Database, tmp_path: Path
) -> None:
    _backup(tmp_path / "b")

    with psycopg.connect(migrated.url, application_name="qanot") as running:
        running.execute("select 1")
        with pytest.raises(InUse, match="1 connections"):
            _restore(tmp_path / "b", migrated, overwrite=True)


def test_worker_is_seen_by_its_lock_whatever_its_connection_is_called(
    migrated: Database, tmp_path: Path
) -> None:
    _backup(tmp_path / "b")

    with psycopg.connect(migrated.url, autocommit=True) as running:
        running.execute("select pg_advisory_lock(%s, 3)", [WORKER_LOCKS])
        with pytest.raises(InUse):
            _restore(tmp_path / "b", migrated, overwrite=True)


def test_backup_of_a_newer_version_is_refused(migrated: Database, tmp_path: Path) -> None:
    _backup(tmp_path / "b")
    with archive.opened(tmp_path / "b") as reader:
        newer = [*reader.manifest.migrations, ("agents", "0999_of_tomorrow")]
        manifest = reader.manifest.model_copy(update={"migrations": newer})
    with archive.written(tmp_path / "newer") as writer:
        writer.add_text(archive.MANIFEST, manifest.model_dump_json())

    with pytest.raises(NotABackup, match=r"newer Qanot \(it has agents.0999_of_tomorrow\)"):
        _restore(tmp_path / "newer", migrated)


def test_rows_that_are_not_those_of_the_backup_are_told(migrated: Database, tmp_path: Path) -> None:
    factories.team(name="As it was")
    before = _figures(settings.DATABASE_OWNER_URL)
    with psycopg.connect(settings.DATABASE_URL) as connection:
        connection.execute("update agents_team set name = 'As it is'")
    after = _figures(settings.DATABASE_OWNER_URL)

    assert before["agents_team"].rows == after["agents_team"].rows
    assert before["agents_team"].digest != after["agents_team"].digest
    assert {**before, "agents_team": after["agents_team"]} == after


# --- before a migration ------------------------------------------------------------------------


def _dump(folder: Path, migration: str = "agents.0009_next", **given: str) -> tuple[str, ...]:
    policy = given.get("policy", "auto")
    assert policy in ("auto", "off", "require")
    return before_migrating.dump(
        url=settings.DATABASE_OWNER_URL,
        folder=folder,
        migration=migration,
        policy=policy,  # type: ignore[arg-type]  # one of the three
        reporter=Silent(),
    )


def test_database_with_rows_is_dumped_and_can_be_brought_back(
    migrated: Database, tmp_path: Path
) -> None:
    factories.team(name="Before")

    (notice,) = _dump(tmp_path / "backups")

    (made,) = (tmp_path / "backups").iterdir()
    assert made.name.startswith("before-agents.0009_next-")
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert f"restore {made} --overwrite" in notice
    _restore(made, migrated)
    assert _figures(migrated.owner_url) == _figures(settings.DATABASE_OWNER_URL)


def test_database_without_rows_is_not_dumped(migrated: Database, tmp_path: Path) -> None:
    with contents.connect(migrated.owner_url) as connection:
        assert list(contents.tables_with_rows(connection)) == []
    said = before_migrating.dump(
        url=migrated.owner_url,
        folder=tmp_path / "backups",
        migration="agents.0009_next",
        policy="require",
        reporter=Silent(),
    )

    assert said == ()
    assert not (tmp_path / "backups").exists()


def test_last_five_dumps_are_kept(tmp_path: Path) -> None:
    factories.team()
    for number in range(7):
        _dump(tmp_path, f"agents.000{9 - number}_some")

    kept = sorted(path.name[:18] for path in tmp_path.iterdir())

    assert kept == [f"before-agents.000{number}" for number in (3, 4, 5, 6, 7)]


def test_without_pg_dump_auto_warns_and_require_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.team()
    monkeypatch.setattr(programs, "_found", lambda: iter(()))

    (warning,) = _dump(tmp_path)

    assert "without a dump" in warning
    assert _dump(tmp_path, policy="off") == ()
    with pytest.raises(NoPrograms):
        _dump(tmp_path, policy="require")
    assert list(tmp_path.iterdir()) == []


def test_prepare_dumps_before_it_applies_what_is_pending(migrated: Database, home: Path) -> None:
    with psycopg.connect(migrated.owner_url) as connection:
        _put_team(connection, "Precious")
        _take_back_last_migration(connection)

    first = _manage("prepare", "--schema-only", "--json", database=migrated, home=home)
    second = _manage("prepare", "--schema-only", database=migrated, home=home)

    assert first.returncode == 0, first.stderr
    (made,) = (home / "backups").iterdir()
    busy, result = map(json.loads, first.stdout.splitlines())
    assert busy == {"busy_with": "Dumping the database before it is migrated …"}
    assert str(made) in result["notices"][0]
    assert "backups" not in second.stdout


def _take_back_last_migration(connection: psycopg.Connection) -> None:
    """Make a migration pending again that has nothing to do."""
    connection.execute(
        "delete from django_migrations where app = 'contenttypes' or app = 'sessions'"
    )
    connection.execute("drop table django_session")
    connection.execute(
        "insert into django_migrations (app, name, applied) values "
        "('contenttypes', '0001_initial', now()), "
        "('contenttypes', '0002_remove_content_type_name', now())"
    )


def test_oldest_fitting_programs_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [programs.Programs(Path(f"/{major}"), major) for major in (18, 15, 16)]
    monkeypatch.setattr(programs, "_found", lambda: iter(versions))

    assert programs.fitting(15).major == 15
    assert programs.fitting(17).major == 18
    with pytest.raises(NoPrograms, match="the newest here is 18"):
        programs.fitting(19)


def test_transcript_is_part_of_what_is_compared() -> None:
    assert TranscriptEntry._meta.db_table in _figures(settings.DATABASE_OWNER_URL)
