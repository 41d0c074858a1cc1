"""What the application's role may do in the database."""

from collections.abc import Iterable

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql


def grant_application_role(owner: BaseDatabaseWrapper, *, role: str) -> bool:
    """Let the application read and write rows, and only add to append-only tables.

    Args:
        owner: A connection of the role that owns the tables.
        role: The application's role.

    Returns:
        False when both are the same role: then the database protects nothing.
    """
    if owner.settings_dict.get("USER") == role:
        return False
    kept = sorted(model._meta.db_table for model in append_only_models())
    tables = [name for name in owner.introspection.table_names() if name not in kept]
    with owner.cursor() as cursor:
        for statement, names in (
            ("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {role}", tables),
            ("GRANT SELECT, INSERT ON {tables} TO {role}", kept),
            # A table may have become append-only since the last time.
            ("REVOKE UPDATE, DELETE ON {tables} FROM {role}", kept),
        ):
            if names:
                cursor.execute(_on_tables(statement, names, role))
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {role}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
        ):
            cursor.execute(sql.SQL(statement).format(role=sql.Identifier(role)))
    return True


def append_only_models() -> list[type[models.Model]]:
    """Models whose rows the application may add and never change."""
    return [model for model in apps.get_models() if getattr(model, "append_only", False)]


def _on_tables(statement: str, names: Iterable[str], role: str) -> sql.Composed:
    return sql.SQL(statement).format(
        tables=sql.SQL(", ").join(sql.Identifier(name) for name in names),
        role=sql.Identifier(role),
    )
