"""The folder of a local installation."""

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from qanot_site.home import Home, HomeInUse, HomeUnusable, Servers

SERVERS = Servers("postgresql://app@host/x", "postgresql://owner@host/x", "redis://host")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


def test_addresses_are_only_known_while_a_supervisor_runs(home: Home) -> None:
    with home.locked():
        home.publish(SERVERS)
        assert home.servers() == SERVERS

    # The file is still there, as after a kill.
    assert home.servers() is None


def test_a_home_has_one_supervisor(home: Home) -> None:
    with home.locked(), pytest.raises(HomeInUse), home.locked():
        pass


def test_addresses_and_key_are_for_their_user_alone(home: Home) -> None:
    home.publish(SERVERS)
    home.secret_key()

    files = (home.run / "servers.json", home.folder / "secret_key")
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_damaged_address_file_is_no_address(home: Home) -> None:
    with home.locked():
        (home.run / "servers.json").write_text(json.dumps({"something": "else"}))
        assert home.servers() is None


def test_processes_that_start_together_share_one_key(home: Home) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        keys = pool.map(_key_of, [home.folder] * 8)

    assert len(set(keys)) == 1


def _key_of(folder: Path) -> str:
    return Home(folder).secret_key()


def test_without_a_home_the_key_is_not_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "none")

    assert home.secret_key() != home.secret_key()
    assert not home.folder.exists()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(HomeUnusable, match="Not a directory"):
        Home(tmp_path / "file" / "home").create()


def test_nobody_else_can_list_a_home(home: Home) -> None:
    mode = stat.S_IMODE(home.folder.stat().st_mode)

    assert mode == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_new_key_goes_before_the_old_until_it_is_forgotten(home: Home) -> None:
    first = home.secret_key()
    assert home.old_secret_keys() == []

    home.renew_secret_key()
    second = home.secret_key()
    home.renew_secret_key()

    assert len({first, second, home.secret_key()}) == 3
    assert home.old_secret_keys() == [second, first]
    assert stat.S_IMODE((home.folder / "secret_key").stat().st_mode) == 0o600
    newest = home.secret_key()
    home.forget_old_secret_keys()
    assert (home.secret_key(), home.old_secret_keys()) == (newest, [])


def test_a_home_without_a_key_gets_no_new_one(tmp_path: Path) -> None:
    with pytest.raises(HomeUnusable, match="no secret key"):
        Home(tmp_path / "none").renew_secret_key()


def test_a_supervisor_that_started_before_the_newest_key_is_told_apart(home: Home) -> None:
    home.secret_key()
    with home.locked():
        home.publish(SERVERS)
        assert not home.runs_on_an_older_key()

        later_ns = (home.run / "servers.json").stat().st_mtime_ns + 1_000
        home.renew_secret_key()
        os.utime(home.folder / "secret_key", ns=(later_ns, later_ns))
        assert home.runs_on_an_older_key()

    assert not home.runs_on_an_older_key()
