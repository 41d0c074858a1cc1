"""Statements written by hand, for the few that every turn runs.

Building a joined query with the ORM takes a millisecond, most of it compiling; the same statement
as text takes a twentieth of that, since PostgreSQL keeps its plan. Everything else uses the ORM.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models

M = TypeVar("M", bound=models.Model)

# Any: a value of whichever type a column has, as the driver gives or takes it.
Row = tuple[Any, ...]


def fetch(statement: str, values: Sequence[Any]) -> list[Row]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Row] = cursor.fetchall()
    return rows


def execute(statement: str, values: Sequence[Any]) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        touched: int = cursor.rowcount
    return touched


class Columns(Generic[M]):
    """A model's columns in a hand-written SELECT, and the instance that a row gives.

    JSON columns are left out, as only the ORM decodes them; they load when they are used.

    Args:
        alias: The table's name in the statement.
    """

    def __init__(self, model: type[M], alias: str) -> None:
        self._model = model
        fields = [
            field
            for field in model._meta.concrete_fields
            if not isinstance(field, models.JSONField)
        ]
        self._names = [field.attname for field in fields]
        self.text = ", ".join(f'{alias}."{field.column}"' for field in fields)

    def take(self, row: Row) -> tuple[M | None, Row]:
        """Return the instance that a row begins with, and the rest of the row.

        The instance is None where an outer join found nothing.
        """
        own, rest = row[: len(self._names)], row[len(self._names) :]
        if own[0] is None:
            return None, rest
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, own), rest
