"""`bench backup`: a large database is backed up, restored beside it, and compared."""

import time
from pathlib import Path
from typing import Final

import psycopg
from django.db import connection
from psycopg import sql
from rich.table import Table

from agents.models import Agent
from qanot_site.backups import contents, making, restoring
from qanot_site.backups.progress import Reporter
from qanot_site.bench import report, seeding
from qanot_site.bench.deployment import OwnServers
from qanot_site.embedded.postgres import OWNER, SUPERUSER
from sessions.models import Content, TranscriptEntry

EARLIER: Final = 20
_TARGET: Final = "bench_restored"
_PER_STATEMENT: Final = 100_000

# Texts of a seeded conversation again and again, none like another.
_CONTENTS: Final = """
    INSERT INTO {contents} (team_id, text)
    SELECT c.team_id, c.text || ' ' || g.n || ' ' || md5(g.n::text)
    FROM generate_series(%(begin)s::bigint, %(end)s::bigint) AS g (n)
    JOIN (SELECT team_id, text, row_number() OVER (ORDER BY id) - 1 AS place FROM {contents}
          WHERE id <= %(last)s) AS c ON c.place = g.n %% %(count)s::bigint
"""
_ENTRIES: Final = """
    INSERT INTO {entries} ({columns}, content_id)
    SELECT {columns_of_e}, c.id FROM {contents} AS c
    JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place FROM {entries}
          WHERE id <= %(last_entry)s) AS e ON e.place = c.id %% %(entry_count)s::bigint
    WHERE c.id > %(last)s
"""


def measure(folder: Path, servers: OwnServers, *, entries: int) -> tuple[report.Figures, Table]:
    """Measure everything; return the figures and a table.

    Args:
        folder: Where the archive may lie.
        entries: Transcript entries of the database.
    """
    _seed(entries)
    url, archive = servers.postgres.url(OWNER), folder / "bench.backup"
    reporter = Reporter(report.console)
    begun = time.monotonic()
    manifest = making.make(
        archive, url=url, files=None, secret_key="", with_secret_key=False, reporter=reporter
    )
    backed_up_s = time.monotonic() - begun
    target = _empty_database(servers)
    begun = time.monotonic()
    # Compares every table's rows and hashes with the archive's, and raises where one differs.
    restoring.restore(archive, url=target, files=None, overwrite=False, reporter=reporter)
    restored_s = time.monotonic() - begun
    with contents.connect(target) as restored:
        found = {name: contents.figures(restored, name) for name in contents.tables(restored)}
    figures: report.Figures = {
        "entries": found[TranscriptEntry._meta.db_table].rows,
        "rows": manifest.row_count,
        "equal": found == manifest.tables,
        "archive_mb": round(archive.stat().st_size / 1e6, 1),
        "backup_s": round(backed_up_s, 1),
        "restore_s": round(restored_s, 1),
    }
    rows = [(name, value) for name, value in figures.items()]
    return figures, report.table("Backup and restore", ["figure", "value"], rows)


def _seed(entries: int) -> None:
    report.say(f"Seeding {entries:,} transcript entries …")
    agent = Agent.objects.select_related("team").order_by("id")[0]
    seeding.talks(agent, 1, prefix="guest", earlier=EARLIER)
    last, count = Content.objects.latest("id").pk, Content.objects.count()
    last_entry, entry_count = TranscriptEntry.objects.latest("id").pk, 2 * EARLIER
    for begin in range(0, entries - entry_count, _PER_STATEMENT):
        end = min(begin + _PER_STATEMENT, entries - entry_count) - 1
        with connection.cursor() as cursor:
            newest = Content.objects.latest("id").pk
            cursor.execute(
                _CONTENTS.format(contents=Content._meta.db_table),
                {"begin": begin, "end": end, "last": last, "count": count},
            )
            cursor.execute(
                _entries(),
                {"last": newest, "last_entry": last_entry, "entry_count": entry_count},
            )


def _entries() -> str:
    columns = [
        field.column
        for field in TranscriptEntry._meta.concrete_fields
        if field.column not in ("id", "content_id")
    ]
    return _ENTRIES.format(
        entries=TranscriptEntry._meta.db_table,
        contents=Content._meta.db_table,
        columns=", ".join(columns),
        columns_of_e=", ".join(f"e.{column}" for column in columns),
    )


def _empty_database(servers: OwnServers) -> str:
    """Make a second database on the same server; return its address."""
    with psycopg.connect(servers.postgres.url(SUPERUSER), autocommit=True) as superuser:
        superuser.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template1 OWNER {}").format(
                sql.Identifier(_TARGET), sql.Identifier(OWNER)
            )
        )
    return servers.postgres.url(OWNER, _TARGET)
