"""PostgreSQL: its roles, extensions, clock and migrations."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _

from agents import sql
from qanot_site import roles
from qanot_site.findings.registry import Finding, check

MOST_APART_S: Final = 2.0

_MISSING = """
    SELECT t.name, p.privilege
    FROM unnest(%s::text[]) t(name) CROSS JOIN unnest(%s::text[]) p(privilege)
    WHERE has_table_privilege(current_user, quote_ident(t.name), p.privilege) <> %s
"""


@check(about="deployment")
def owner_and_application() -> Iterator[Finding]:
    """Yield a database that cannot protect past rows, as one role does everything."""
    kept = [model._meta.db_table for model in roles.append_only_models()]
    ((owns,),) = sql.fetch(
        "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE tablename = ANY(%s)"
        " AND pg_has_role(current_user, tableowner, 'MEMBER'))",
        [kept],
    )
    if owns:
        yield Finding(
            code="database.one_role",
            level="warning",
            subject=_("The database's roles"),
            text=_("The application owns its tables, so the database cannot protect past rows."),
            fix=_("Give DATABASE_OWNER_URL a role of its own: docs/connections.md."),
        )
        return
    changeable = sql.fetch(_MISSING, [kept, ["UPDATE", "DELETE"], False])
    if changeable:
        yield Finding(
            code="database.not_append_only",
            level="warning",
            subject=_("The database's roles"),
            text=_("The application may change rows of the past in: %(tables)s.")
            % {"tables": ", ".join(sorted({table for table, _privilege in changeable}))},
            fix=_("Run: python manage.py prepare"),
        )


@check(about="deployment")
def grants() -> Iterator[Finding]:
    """Yield tables that the application cannot use."""
    names = connection.introspection.table_names()
    closed = sql.fetch(_MISSING, [names, ["SELECT", "INSERT"], True])
    if closed:
        yield Finding(
            code="database.grants",
            level="warning",
            subject=_("The database's roles"),
            text=_("The application cannot use the tables: %(tables)s.")
            % {"tables": ", ".join(sorted({table for table, _privilege in closed}))},
            fix=_("Run: python manage.py prepare"),
        )


@check(about="deployment")
def pgvector() -> Iterator[Finding]:
    """Yield a database without the vector type."""
    if not sql.fetch("SELECT 1 FROM pg_extension WHERE extname = 'vector'", []):
        yield Finding(
            code="database.no_pgvector",
            level="warning",
            subject=_("The database"),
            text=_("The extension “vector” is not installed in it."),
            fix=_("Install pgvector for this PostgreSQL, then run: python manage.py prepare"),
        )


@check(about="deployment")
def clocks() -> Iterator[Finding]:
    """Yield a process whose clock and the database's are apart."""
    before = time.time()
    ((theirs,),) = sql.fetch("SELECT extract(epoch FROM clock_timestamp())", [])
    after = time.time()
    apart_s = max(before - float(theirs), float(theirs) - after, 0.0)
    if apart_s > MOST_APART_S:
        yield Finding(
            code="clocks.apart",
            level="warning",
            subject=_("The clocks"),
            text=_("This machine says %(ours)s, the database %(seconds)s seconds apart from it.")
            % {
                "ours": datetime.fromtimestamp(after, UTC).strftime("%H:%M:%S UTC"),
                "seconds": f"{apart_s:.1f}",
            },
            fix=_("Let both machines keep time (NTP, chrony, systemd-timesyncd)."),
        )


@check(about="deployment")
def migrations() -> Iterator[Finding]:
    """Yield migrations that were not applied."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        yield Finding(
            code="database.migrations",
            level="warning",
            subject=_("The database"),
            text=_("Migrations wait to be applied, the first is %(name)s.")
            % {"name": f"{plan[0][0].app_label}.{plan[0][0].name}"},
            fix=_("Run: python manage.py prepare"),
        )


@check(about="deployment")
def connection_target() -> Iterator[Finding]:
    """Yield a database that the role may not connect to often enough."""
    ((most, used),) = sql.fetch(
        "SELECT current_setting('max_connections')::int, count(*) FROM pg_stat_activity", []
    )
    if used > most * 0.9:
        yield Finding(
            code="database.connections",
            level="warning",
            subject=_("The database"),
            text=_("%(used)s of its %(most)s connections are in use.")
            % {"used": used, "most": most},
            fix=_("Raise max_connections, or run fewer processes: docs/connections.md."),
        )
