"""`up`, for real: started, killed, stopped."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from qanot_site.embedded.place import temporary_home
from qanot_site.embedded.processes import free_port
from tests.fakes.telegram import TOKEN, FakeTelegram
from tests.qanot_site.running import (
    PROJECT,
    Running,
    clean_environment,
    is_gone,
    running,
    wait_until,
)

READY = "Ctrl-C stops everything."


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with temporary_home() as made:
        yield made.folder


@pytest.fixture(scope="module")
def platform(home: Path) -> Iterator[Running]:
    """One platform for the tests that leave it running."""
    with running(home) as started:
        started.wait_for(READY)
        yield started


def test_steps_in_order_then_the_addresses(platform: Running) -> None:
    steps = [
        "Starting PostgreSQL",
        "Starting Valkey",
        "Preparing the database",
        "Starting workers and beat",
        f"http://127.0.0.1:{platform.port}/login/",
        f"http://127.0.0.1:{platform.port}/admin/",
        "manage.py changepassword owner",
        READY,
    ]

    places = [platform.shown.find(step) for step in steps]

    assert -1 not in places, platform.shown
    assert places == sorted(places)


def test_everything_is_ready(platform: Running) -> None:
    response = httpx.get(f"http://127.0.0.1:{platform.port}/readyz")

    assert response.json() == {
        "ready": True,
        "database": "ok",
        "redis": "ok",
        "migrations": "ok",
    }
    assert "starting again" not in platform.shown
    assert len(platform.children()) == 6, platform.shown


def test_another_command_finds_the_running_servers(platform: Running) -> None:
    program = "from agents.models import User; print(User.objects.get().get_username())"
    found = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "shell", "-v0", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment() | {"QANOT_HOME": str(platform.home)},
    )

    assert found.stdout.strip() == "owner", found.stderr


def test_a_bot_is_heard_within_seconds_of_its_row(platform: Running) -> None:
    waiting = platform.child("qanot_site.poller")
    program = (
        "from agents.models import Agent;"
        "from sessions.channels.telegram.tokens import seal_token;"
        "from sessions.models import ChannelAccount;"
        "a = Agent.objects.get();"
        "ChannelAccount.objects.create(team=a.team, agent=a, channel='telegram', name='Bot',"
        " sealed_token=seal_token({token!r}), base_url={url!r}, may_reach_private=True)"
    )
    with FakeTelegram() as telegram:
        made = subprocess.run(
            [
                *(sys.executable, PROJECT / "manage.py", "shell", "-v0", "-c"),
                program.format(token=TOKEN, url=telegram.base_url),
            ],
            capture_output=True,
            text=True,
            check=False,
            env=clean_environment() | {"QANOT_HOME": str(platform.home)},
        )
        assert made.returncode == 0, made.stderr
        telegram.wait_until(lambda: bool(telegram.called("getUpdates")), timeout_s=60)

    # It became the poller where it waited, without a restart.
    assert "manage.py poller" in platform.children()[waiting]


def test_a_second_start_with_this_home_is_refused(platform: Running) -> None:
    with running(platform.home, output="second") as second:
        assert second.process.wait(15) == 1

    assert "already runs with the home" in second.shown


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with running(tmp_path / "home", "--port", str(port)) as refused:
            assert refused.process.wait(15) == 1

    assert refused.shown.splitlines() == [
        f"127.0.0.1:{port} cannot be used (Address already in use): "
        "choose another --port or --host."
    ]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("worker 1", "qanot_site.worker_process"),
        ("beat", "qanot_site.beat_process"),
        ("poller", "poller"),
        ("web", "qanot_site.web"),
        ("Valkey", "valkey-server"),
        ("PostgreSQL", "bin/postgres"),
    ],
)
def test_a_dead_child_is_started_again(platform: Running, name: str, part: str) -> None:
    dead = platform.child(part)

    os.kill(dead, signal.SIGKILL)

    platform.wait_for(f"{name} was killed (SIGKILL); starting again in")
    wait_until(lambda: any(part in a for p, a in platform.children().items() if p != dead))
    wait_until(lambda: _is_ready(platform), what=lambda: platform.shown)


def _is_ready(platform: Running) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{platform.port}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


def test_killed_it_leaves_nothing_behind_and_the_next_start_works(platform: Running) -> None:
    children = list(platform.children())
    assert len(children) == 6

    platform.process.kill()
    platform.process.wait()

    # At once, while the old servers may still be shutting down.
    with running(platform.home) as following:
        following.wait_for(READY)
        wait_until(lambda: all(is_gone(pid) for pid in children))
        assert _is_ready(following)

        began = time.monotonic()
        children = list(following.children())
        following.process.send_signal(signal.SIGINT)
        assert following.process.wait(10) == 0

    assert time.monotonic() - began < 3
    assert all(is_gone(pid) for pid in children)


def test_a_stop_while_starting_leaves_nothing_behind(tmp_path: Path) -> None:
    with temporary_home() as home, running(home.folder) as starting:
        starting.wait_for("Preparing the database")
        children = list(starting.children())
        starting.process.terminate()
        assert starting.process.wait(10) == 0

    assert children
    assert all(is_gone(pid) for pid in children)


def test_an_unreachable_database_is_one_sentence(tmp_path: Path) -> None:
    refused = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "up", "--home", tmp_path / "h"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment()
        | {
            "DATABASE_URL": "postgresql://app:hunter2@127.0.0.1:1/none",
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "QANOT_PORT": str(free_port()),
        },
    )

    assert refused.returncode == 1
    assert "check DATABASE_URL" in refused.stderr
    assert "hunter2" not in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("variable", "value"), [("QANOT_COLOUR", "blue"), ("QANOT_LEASE_S", "soon")]
)
def test_a_bad_setting_stops_the_start_with_its_name(
    tmp_path: Path, variable: str, value: str
) -> None:
    refused = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "up", "--home", tmp_path / "h"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment() | {variable: value},
    )

    assert refused.returncode == 1
    assert refused.stderr.startswith(variable)
    assert len(refused.stderr.splitlines()) == 1
