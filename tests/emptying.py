"""Empties the tables after a test with real transactions.

Django truncates every table, which takes PostgreSQL a tenth of a second for our seventy, deadlocks
with whoever still writes, and has the content types and permissions made anew. Most tests fill a
dozen tables: those are asked for and deleted from.
"""

import os
from functools import cache

import psycopg
from django.db import connection
from django.test import TransactionTestCase
from psycopg import sql

# Filled by migrating, changed by no test.
KEPT = ("auth_permission", "django_content_type", "django_migrations")


def use() -> None:
    """Let pytest-django's tests end this way."""
    TransactionTestCase._fixture_teardown = lambda case: empty()  # type: ignore[attr-defined]


def empty() -> None:
    """Delete all rows of the tests' database, references and rights notwithstanding."""
    server = _server()
    found = server.execute(_filled(), prepare=True).fetchall()
    if found:
        delete = sql.SQL("delete from {}")
        server.execute(sql.SQL(";").join(delete.format(sql.Identifier(name)) for (name,) in found))


def close() -> None:
    """End the connection, if there is one."""
    if _server.cache_info().currsize:
        _server().close()


@cache
def _server() -> psycopg.Connection:
    """Return a superuser's connection to this process's database, without triggers."""
    url = os.environ["TESTS_SUPERUSER_URL"].rpartition("/")[0]
    server = psycopg.connect(f"{url}/{connection.settings_dict['NAME']}", autocommit=True)
    server.execute("set session_replication_role = replica")
    return server


@cache
def _filled() -> sql.Composed:
    """Return the statement that names the tables with rows."""
    tables = _server().execute(
        "select relname from pg_class where relkind = 'r' "
        "and relnamespace = 'public'::regnamespace and relname <> all(%s)",
        [list(KEPT)],
    )
    is_filled = sql.SQL("select {} where exists (select from {})")
    return sql.SQL(" union all ").join(
        is_filled.format(sql.Literal(name), sql.Identifier(name)) for (name,) in tables
    )
