"""What a database holds: its tables with row counts and content hashes, and whether it is used."""

from collections.abc import Iterator
from typing import Final

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict

from qanot_site.beat_life import LOCK_ID as BEAT_LOCK
from sessions.turns.leases import WORKER_LOCKS

# What `qanot_site.settings` calls the platform's own connections.
_PLATFORM: Final = "qanot"
# Migrations fill these by themselves.
_NOT_PEOPLES: Final = frozenset({"django_migrations", "django_content_type", "auth_permission"})

# Ordinary and partitioned tables that no extension brought.
_TABLES: Final = """
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
    ORDER BY 1
"""
# A row's text depends on these; two servers must write it alike.
_PLAIN: Final = (
    "SET datestyle = 'ISO, MDY'; SET timezone = 'UTC'; SET extra_float_digits = 1; "
    "SET bytea_output = 'hex'; SET intervalstyle = 'postgres'; SET search_path = public; "
    # The snapshot is held for as long as pg_dump reads.
    "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0"
)
# Two sums of 64 bits of each row's SHA-256: the order of rows does not matter and nothing has to
# be sorted or kept, so the size of a table does not matter either.
_FIGURES: Final = """
    SELECT count(*),
        coalesce(sum(('x' || substr(h, 1, 16))::bit(64)::bigint::numeric), 0)::text || '/' ||
        coalesce(sum(('x' || substr(h, 17, 16))::bit(64)::bigint::numeric), 0)::text
    FROM (
        SELECT encode(sha256(convert_to(t::text, 'UTF8')), 'hex') AS h FROM {} AS t
    ) AS hashed
"""


class TableFigures(BaseModel):
    """One table: the same figures mean the same rows, in whichever order."""

    model_config = ConfigDict(frozen=True)

    rows: int
    digest: str


def connect(url: str) -> psycopg.Connection:
    """Open a connection of its own, on which rows are written as text in one fixed way."""
    connection = psycopg.connect(url, application_name="qanot backup", connect_timeout=10)
    connection.execute(_PLAIN)
    connection.commit()
    return connection


def server_major(connection: psycopg.Connection) -> int:
    """Return the server's major version."""
    return connection.info.server_version // 10_000


def tables(connection: psycopg.Connection) -> list[str]:
    """Return the tables' names, in order."""
    return [name for (name,) in connection.execute(_TABLES)]


def figures(connection: psycopg.Connection, table: str) -> TableFigures:
    """Count a table's rows and hash their content."""
    row = connection.execute(sql.SQL(_FIGURES).format(sql.Identifier(table))).fetchone()
    if row is None:
        raise AssertionError("an aggregate gives a row")
    return TableFigures(rows=row[0], digest=row[1])


def tables_with_rows(connection: psycopg.Connection) -> Iterator[str]:
    """Yield the tables in which there are rows that no migration made."""
    for table in tables(connection):
        if table not in _NOT_PEOPLES:
            query = sql.SQL("SELECT EXISTS (SELECT 1 FROM {})").format(sql.Identifier(table))
            if connection.execute(query).fetchone() == (True,):
                yield table


def applied_migrations(connection: psycopg.Connection) -> list[tuple[str, str]]:
    """Return app and name of each migration, in order; empty for a database without tables."""
    if "django_migrations" not in tables(connection):
        return []
    query = "SELECT app, name FROM django_migrations ORDER BY id"
    return [(app, name) for app, name in connection.execute(query)]


def users(connection: psycopg.Connection) -> int:
    """Return how many connections of web servers, workers and beats the database has now."""
    query = """
        SELECT count(DISTINCT a.pid) FROM pg_stat_activity a
        LEFT JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.granted
            AND (l.classid = %(workers)s
                 OR (l.classid = %(beat)s::bigint >> 32 AND l.objid = %(beat)s & 4294967295))
        WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
            AND (a.application_name = %(name)s OR l.pid IS NOT NULL)
    """
    values = {"workers": WORKER_LOCKS, "beat": BEAT_LOCK, "name": _PLATFORM}
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
