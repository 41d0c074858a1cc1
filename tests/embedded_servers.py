"""An early pytest plugin: own servers in a temporary home, before Django reads its settings.

The controlling process starts PostgreSQL and migrates one database as the owner; every process
that runs tests gets a copy of it and a Valkey of its own. Tests connect as the application's role.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from qanot_site.embedded.place import settle, temporary_home
from qanot_site.embedded.postgres import APPLICATION, DATABASE, OWNER, SUPERUSER, Postgres
from qanot_site.embedded.valkey import Valkey
from qanot_site.env import variable_names
from qanot_site.home import Home

PROJECT = Path(__file__).resolve().parent.parent
# How the controlling process tells its workers where the server is.
_SUPERUSER_URL = "TESTS_SUPERUSER_URL"
_servers = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Run before pytest-django loads the settings."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        _forget_configuration()
        home = _servers.enter_context(temporary_home())
        os.environ["QANOT_HOME"] = str(home.folder)
        _start_postgres(home)
    else:
        home = Home(os.environ["QANOT_HOME"])
    _copy_database(f"test_{worker or 'main'}")
    _start_valkey(home)
    return (yield)


def pytest_unconfigure() -> None:
    """Stop what this process started; were it killed, the kernel would."""
    _servers.close()


def _forget_configuration() -> None:
    """A person's environment and `.env` do not reach the tests: an empty value hides them."""
    for name in variable_names():
        os.environ[name] = ""


def _start_postgres(home: Home) -> None:
    postgres = Postgres(home, settle(home), max_connections=150, is_durable=False)
    postgres.prepare()
    postgres.spawn()
    _servers.callback(postgres.stop)
    postgres.wait()
    os.environ[_SUPERUSER_URL] = postgres.url(SUPERUSER)
    _point_to(postgres.url(APPLICATION), postgres.url(OWNER))
    migrated = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "prepare", "--schema-only"],
        capture_output=True,
        text=True,
        check=False,
    )
    if migrated.returncode:
        raise pytest.UsageError(f"The test database cannot be made: {migrated.stderr}")


def _copy_database(name: str) -> None:
    with psycopg.connect(
        _with_database(os.environ[_SUPERUSER_URL], SUPERUSER), autocommit=True
    ) as connection:
        connection.execute(
            sql.SQL("create database {} template {} owner {}").format(
                *map(sql.Identifier, (name, DATABASE, OWNER))
            )
        )
    _point_to(
        _with_database(os.environ["DATABASE_URL"], name),
        _with_database(os.environ["DATABASE_OWNER_URL"], name),
    )


def _with_database(url: str, name: str) -> str:
    return f"{url.rpartition('/')[0]}/{name}"


def _point_to(application_url: str, owner_url: str) -> None:
    os.environ.update({"DATABASE_URL": application_url, "DATABASE_OWNER_URL": owner_url})


def _start_valkey(home: Home) -> None:
    valkey = Valkey(home, settle(home))
    valkey.spawn()
    _servers.callback(valkey.stop)
    valkey.wait()
    os.environ["REDIS_URL"] = valkey.url
