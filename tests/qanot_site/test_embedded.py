"""The embedded servers, for real: their own homes, killed and started again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from qanot_site.embedded import place as places
from qanot_site.embedded.place import Place, settle, temporary_home
from qanot_site.embedded.postgres import APPLICATION, OWNER, SUPERUSER, Postgres
from qanot_site.embedded.processes import EmbeddedError, ServerUser, server_user, spawn
from qanot_site.embedded.valkey import Valkey
from qanot_site.home import Home


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with temporary_home() as made:
        yield made


@pytest.fixture(scope="module")
def place(home: Home) -> Place:
    return settle(home)


@pytest.fixture(scope="module")
def postgres(home: Home, place: Place) -> Iterator[Postgres]:
    server = Postgres(home, place)
    server.prepare()
    server.spawn()
    server.wait()
    yield server
    server.stop()


def test_the_place_stays_the_same(home: Home, place: Place) -> None:
    assert settle(home) == place


def test_both_roles_get_in_and_own_what_they_should(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url(APPLICATION)) as application:
        row = application.execute(
            "select rolsuper or rolcreatedb or rolcreaterole, "
            "pg_get_userbyid(datdba) from pg_roles, pg_database "
            "where rolname = current_user and datname = current_database()"
        ).fetchone()
    with psycopg.connect(postgres.url(OWNER)) as owner:
        extensions = {name for (name,) in owner.execute("select extname from pg_extension")}

    assert row == (False, OWNER)
    assert {"vector", "pg_trgm", "unaccent"} <= extensions


def test_a_wrong_password_is_refused(postgres: Postgres) -> None:
    url = postgres.url(APPLICATION)
    password = url.split(":")[2].split("@")[0]

    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url.replace(password, "guess"))


def test_passwords_are_not_on_the_command_line(postgres: Postgres) -> None:
    assert postgres.process is not None
    shown = Path(f"/proc/{postgres.process.pid}/cmdline").read_text()

    assert postgres.url(SUPERUSER).split(":")[2].split("@")[0] not in shown


def test_what_people_write_is_not_in_the_server_log(home: Home, postgres: Postgres) -> None:
    with psycopg.connect(postgres.url(OWNER)) as owner:
        owner.execute("create table once (word text unique)")
        owner.execute("insert into once values ('a private word')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            owner.execute("insert into once values ('a private word')")

    assert "private word" not in (home.logs / "postgres.log").read_text()


def test_a_killed_server_comes_back_with_its_rows_at_the_same_address(
    postgres: Postgres,
) -> None:
    with psycopg.connect(postgres.url(OWNER)) as owner:
        owner.execute("create table kept as select 7 as n")
    assert postgres.process is not None
    postgres.process.kill()
    postgres.process.wait()

    postgres.spawn()
    postgres.wait()

    with psycopg.connect(postgres.url(OWNER)) as owner:
        assert owner.execute("select n from kept").fetchone() == (7,)


def test_a_server_left_by_a_killed_start_is_ended_first(
    home: Home, place: Place, postgres: Postgres
) -> None:
    left = postgres.process
    assert left is not None
    following = Postgres(home, place)

    following.prepare()

    assert left.wait(10) is not None
    following.spawn()
    following.wait()
    following.stop()
    postgres.spawn()
    postgres.wait()


def test_a_pid_file_with_a_strangers_number_is_no_obstacle(
    home: Home, place: Place, postgres: Postgres
) -> None:
    postgres.stop()
    stranger = subprocess.Popen(["sleep", "60"])
    pid_file = place.postgres / "data" / "postmaster.pid"
    pid_file.write_text(f"{stranger.pid}\n{pid_file.parent}\n")
    following = Postgres(home, place)

    following.prepare()
    following.spawn()
    following.wait()

    following.stop()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()
    postgres.spawn()
    postgres.wait()


def test_an_interrupted_creation_is_started_over() -> None:
    with temporary_home() as home:
        place = settle(home)
        (place.postgres / "data.new").mkdir()
        (place.postgres / "data.new" / "half").touch()
        server = Postgres(home, place)

        server.prepare()

        assert not server.is_new()


def test_data_without_its_passwords_is_told(home: Home, place: Place, postgres: Postgres) -> None:
    passwords = home.folder / "postgres.passwords"
    kept = passwords.read_text()
    passwords.unlink()

    with pytest.raises(EmbeddedError, match=r"postgres\.passwords is missing"):
        Postgres(home, place).prepare()

    passwords.write_text(kept)


def test_valkey_wants_its_password_and_comes_back(home: Home, place: Place) -> None:
    server = Valkey(home, place)
    server.spawn()
    server.wait()
    client = redis.Redis.from_url(server.url)
    assert client.ping()
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=server.port).ping()

    assert server.process is not None
    server.process.kill()
    server.process.wait()
    server.spawn()
    server.wait()

    assert client.ping()
    client.close()
    server.stop()
    assert server.process.returncode is not None


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    number = tmp_path / "child"
    program = (
        "import sys, time\n"
        "from qanot_site.embedded.processes import spawn\n"
        f"open({str(number)!r}, 'w').write(str(spawn(['sleep', '60']).pid))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()
    child = int(number.read_text())

    parent.kill()
    parent.wait()
    parent.stdout.close()

    assert _ends(child)


def _ends(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_childs_terminal_signals_do_not_reach_it() -> None:
    child = spawn(["sleep", "60"])

    assert os.getsid(child.pid) == child.pid

    child.send_signal(signal.SIGKILL)
    child.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_below_a_closed_folder_root_uses_its_own_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    home, other = Home(closed / "one"), Home(closed / "two")
    shared = Path("/var/lib") / f"qanot-test-{os.getpid()}"
    monkeypatch.setattr(places, "SHARED", shared)
    try:
        for made in (home, other):
            made.create()
        first, second = settle(home), settle(other)

        assert first.postgres.parent.parent == shared
        assert first.postgres != second.postgres
        assert settle(home) == first
        assert first.user is not None
        assert first.postgres.stat().st_uid == first.user.uid
        assert first.postgres.parent.stat().st_uid == 0
        program = first.postgres_programs / "postgres"
        assert not program.stat().st_mode & 0o022
        assert program.stat().st_uid == 0
    finally:
        subprocess.run(["rm", "-rf", shared], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_data_keeps_its_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)

    assert server_user(tmp_path) == ServerUser(12345, 12345)
