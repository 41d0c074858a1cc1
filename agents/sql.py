"""Statements written by hand, for the few that every turn runs.

Building a joined query with the ORM takes a millisecond, most of it compiling; the same statement
as text takes a twentieth of that, since PostgreSQL keeps its plan. Everything else uses the ORM.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models

M = TypeVar("M", bound=models.Model)

# Any: a value of whichever type a column has, as the driver gives or takes it.
Row = tuple[Any, ...]


def fetch(
    statement: str,
    values: Sequence[Any] | Mapping[str, Any],
    *,
    prepare: bool = True,
    binary: bool = False,
) -> list[Row]:
    """Run a statement and return its rows.

    Args:
        prepare: False where the best plan depends on the values: PostgreSQL plans it each time.
        binary: Let values come as bytes, which for many numbers and times takes half as long.
    """
    with connection.cursor() as cursor:
        if prepare and not binary:
            cursor.execute(statement, values)
        else:
            # Django's own cursor has no such arguments; the driver's beneath it does.
            cursor.cursor.execute(
                statement, values, prepare=None if prepare else False, binary=binary
            )
        rows: list[Row] = cursor.fetchall()
    return rows


def execute(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> int:
    """Run a statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        touched: int = cursor.rowcount
    return touched


def array(numbers: Iterable[int]) -> str:
    """Return numbers as the text of an array, for ``%s::bigint[]``.

    The driver takes ten times as long over a list.
    """
    return f"{{{','.join(map(str, numbers))}}}"


def insert(instance: M) -> M:
    """Store a new instance, as ``save`` does, by a statement that is built once a model.

    For models whose key the database gives; there are no signals.
    """
    statement, fields = _insertion(type(instance))
    values = [
        field.get_db_prep_save(field.pre_save(instance, add=True), connection=connection)
        for field in fields
    ]
    ((instance.pk,),) = fetch(statement, values)
    instance._state.adding = False
    instance._state.db = DEFAULT_DB_ALIAS
    return instance


@cache
def _insertion(model: type[models.Model]) -> tuple[str, list[models.Field[Any, Any]]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join("%s" for _ in fields)
    table, key = model._meta.db_table, model._meta.pk.column
    # Names come from the models, values are bound.
    statement = f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "{key}"'  # noqa: S608
    return statement, fields


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
