"""The audit log: who did what, written where it is done and in its transaction."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.db import models
from pydantic import BaseModel, JsonValue

from agents.models import AuditEvent, User

PLATFORM: Final = "platform"
# A row tells what changed; who needs a long text whole finds it in its versions.
MOST_CHARACTERS: Final = 200
# How the log calls rows whose model has a longer name.
NOUNS: Final = {
    "provideraccount": "account",
    "agentdocument": "document",
    "documentproposal": "proposal",
    "apitoken": "token",
}
# Columns and form fields whose value is never told, only whether there is one.
SECRETS: Final = frozenset(
    {"sealed_key", "sealed_token", "new_key", "digest", "password", "session_key"}
)
# Columns that hold what people said or agents remember: only how long it is.
TEXTS: Final = frozenset({"text", "question", "answer", "prompt", "payload"})

Changes = Mapping[str, list[JsonValue]]


class StoredChanges(BaseModel):
    """What an audit row keeps: each field's value before and after."""

    v: int = 1
    fields: dict[str, tuple[JsonValue, JsonValue]]


def record(
    *,
    team_id: int | None,
    actor: User | str,
    action: str,
    subject: str,
    reason: str = "",
    changes: Changes | None = None,
) -> AuditEvent:
    """Write one act into the log, in the caller's transaction.

    Args:
        team_id: Whose owners may read it; None for acts on the whole deployment.
        actor: Who did it: a user, or what stands for somebody else, ``person:4``, ``turn:81``,
            ``command:apply``, or ``PLATFORM``.
        action: What was done, dotted, in lower case: ``document.saved``.
        subject: To what, ``agent:3``.
        changes: What ``changes_between`` returned; nothing secret and nobody's private text.
    """
    kept = StoredChanges(fields=dict(changes)).model_dump() if changes else None
    return AuditEvent.objects.create(
        team_id=team_id,
        actor=actor_of(actor)[:64],
        action=action,
        subject=subject[:100],
        reason=reason[:300],
        changes=kept,
    )


def actor_of(actor: User | str) -> str:
    """Return how the log names somebody who acts: ``user:3``."""
    return f"user:{actor.pk}" if isinstance(actor, User) else actor


def subject_of(row: models.Model) -> str:
    """Return how the log names a row: ``agent:3``, ``account:1``."""
    return f"{noun_of(row)}:{row.pk}"


def noun_of(row: models.Model | type[models.Model]) -> str:
    """Return how the log calls rows of this kind."""
    name = str(row._meta.model_name)
    return NOUNS.get(name, name)


def changes_between(
    before: Mapping[str, object] | models.Model | None,
    after: Mapping[str, object] | models.Model | None,
    fields: Iterable[str],
) -> dict[str, list[JsonValue]]:
    """Return those of the fields whose values differ, as ``{name: [before, after]}``.

    A secret is told as “set” and “replaced”, a document's text by its length.

    Args:
        before: A row, or its values by name (see ``values_of``); None where it did not exist.
        after: The same later; None where it no longer exists.
    """
    changes: dict[str, list[JsonValue]] = {}
    for name in fields:
        old, new = _value(before, name), _value(after, name)
        if old == new:
            continue
        if name in SECRETS:
            changes[name] = [_secret(old), "replaced" if old and new else _secret(new)]
        elif name in TEXTS:
            changes[name] = [_length(old), _length(new)]
        else:
            changes[name] = [_shown(old), _shown(new)]
    return changes


def values_of(row: models.Model, fields: Iterable[str]) -> dict[str, object]:
    """Return a row's values by name, to compare them with later ones.

    Where rows are read from the database for it, a foreign key gives its related row.
    """
    return {name: _value(row, name) for name in fields}


def _value(row: Mapping[str, object] | models.Model | None, name: str) -> object:
    if row is None:
        return None
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name)


def _secret(value: object) -> str:
    return "set" if value else ""


def _length(value: object) -> str:
    return f"{len(value)} characters" if isinstance(value, str) else ""


def _shown(value: object) -> JsonValue:
    """Return a value as JSON that people can read."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, models.Model):
        return _cut(f"{value} ({subject_of(value)})")
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset | models.QuerySet):
        return [_shown(item) for item in value]
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
