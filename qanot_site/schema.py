"""The schema as the owner's role: extensions, migrations, rights."""

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from qanot_site import roles
from qanot_site.backups import before_migrating
from qanot_site.backups.errors import BackupError
from qanot_site.backups.progress import Reporter

EXTENSIONS = ("vector", "pg_trgm", "unaccent")
MINIMUM_VERSION = 15
# Several machines may start at once: one migrates, the others wait. "qanot up" as a number.
_LOCK_ID = 0x71616E6F75


class SchemaError(Exception):
    """This database cannot carry the platform; the text says what to do."""


def bring_up_to_date(reporter: Reporter | None = None) -> list[str]:
    """Migrate and grant, one process at a time.

    Args:
        reporter: Told of the dump that is made before a database with rows is migrated.

    Returns:
        Sentences that the person who starts the platform should read.

    Raises:
        SchemaError: PostgreSQL is too old or lacks an extension, or the dump failed.
    """
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", [_LOCK_ID])
    try:
        _check_version(owner)
        _ensure_extensions(owner)
        notices = _migrate(owner, reporter or Reporter())
        role = settings.DATABASES["default"].get("USER", "")
        is_protected = roles.grant_application_role(owner, role=role)
    finally:
        # The server lets the lock go with the connection.
        owner.close()
    if is_protected:
        return notices
    return [
        *notices,
        "The application owns its tables, so the database cannot protect past rows: "
        "give DATABASE_OWNER_URL another role (docs/connections.md).",
    ]


def _check_version(owner: BaseDatabaseWrapper) -> None:
    with owner.cursor() as cursor:
        cursor.execute("show server_version_num")
        version = int(cursor.fetchone()[0]) // 10_000
    if version < MINIMUM_VERSION:
        raise SchemaError(
            f"PostgreSQL {version} is too old: use {MINIMUM_VERSION} or newer, "
            "or unset DATABASE_URL to use the embedded one."
        )


def _ensure_extensions(owner: BaseDatabaseWrapper) -> None:
    with owner.cursor() as cursor:
        cursor.execute("select extname from pg_extension")
        missing = set(EXTENSIONS) - {row[0] for row in cursor.fetchall()}
        if not missing:
            return
        cursor.execute("select name from pg_available_extensions")
        absent = missing - {row[0] for row in cursor.fetchall()}
        if "vector" in absent:
            raise SchemaError(
                "This PostgreSQL has no pgvector: install it (Debian: apt install "
                "postgresql-17-pgvector), or unset DATABASE_URL to use the embedded one."
            )
        if absent:
            raise SchemaError(
                f"This PostgreSQL has no {min(absent)}: install its contrib extensions "
                "(Debian: apt install postgresql-contrib)."
            )
        cursor.execute("select rolsuper from pg_roles where rolname = current_user")
        is_superuser = cursor.fetchone()[0]
        cursor.execute(
            "select name from pg_available_extension_versions where trusted and superuser"
        )
        trusted = {row[0] for row in cursor.fetchall()}
        for name in sorted(missing):
            if not is_superuser and name not in trusted:
                raise SchemaError(
                    f"Only a superuser can create the extension {name} here; "
                    f"in this database run once: CREATE EXTENSION {name};"
                )
            cursor.execute(f"create extension if not exists {name}")


def _migrate(owner: BaseDatabaseWrapper, reporter: Reporter) -> list[str]:
    executor = MigrationExecutor(owner)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return []
    first, _ = plan[0]
    try:
        notices = before_migrating.dump(
            url=settings.DATABASE_OWNER_URL,
            folder=settings.HOME.backups,
            migration=f"{first.app_label}.{first.name}",
            policy=settings.QANOT_DUMP_BEFORE_MIGRATE,
            reporter=reporter,
        )
    except BackupError as error:
        raise SchemaError(
            f"The database cannot be dumped before it is migrated: {error} "
            "QANOT_DUMP_BEFORE_MIGRATE=off goes on without a dump."
        ) from error
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    return list(notices)
