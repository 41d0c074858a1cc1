"""An agent's part of a workspace: persona documents, a person's USER.md, settings."""

import json
from collections.abc import Callable, Mapping
from typing import Final
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import transaction
from pydantic import JsonValue

from agents.models import Agent, AgentDocument, Person
from agents.services import audit, documents, managed, user_documents

CONFIG: Final = "config.json"
# Each of our columns, with the names that Qanot AI's and OpenClaw's files have for it.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("bot_name", "name"),
    "description": ("description",),
    "language": ("language",),
    "time_zone": ("timezone", "time_zone"),
    "prompt_preset": ("prompt_preset",),
    "max_iterations": ("max_iterations",),
}
_SECRET: Final = ("key", "token", "secret", "password", "credential")

Tell = Callable[[str, str], None]
Report = Callable[[str, int, str], None]


def is_ours(name: str) -> bool:
    """Return whether a workspace's file is a persona document, a USER.md or the settings."""
    return name == CONFIG or is_persona(name) or name == user_documents.NAME


def is_persona(name: str) -> bool:
    """Return whether a name is that of a document which all of an agent's prompts have."""
    validators = AgentDocument._meta.get_field("name").validators
    try:
        for check in validators:
            check(name)
    except ValidationError:
        return False
    return name != user_documents.NAME


@transaction.atomic
def take_in(
    found: Mapping[str, str],
    agent: Agent,
    person: Person | None,
    *,
    by: str,
    tell: Tell,
    report: Report,
) -> None:
    """Give an agent the documents and settings of a workspace, each document as a new version.

    Args:
        found: Texts by file name.
        person: Whose USER.md it is; without one it is left out.
        by: Who imports, as the audit log names them.

    Raises:
        ManagedByFile: A file owns the agent.
    """
    managed.refuse_edit(agent)
    stored = {row.name: row for row in AgentDocument.objects.filter(agent=agent, person=None)}
    for name, text in found.items():
        if is_persona(name):
            document = stored.get(name) or AgentDocument(agent=agent, name=name)
            tell(name, _save(document, text))
        elif name == user_documents.NAME and person is None:
            report(name, 0, "it is about one person: say whose it is with --person")
        elif name == user_documents.NAME:
            tell(name, save_user(agent, person, text))
        elif name == CONFIG:
            _configure(agent, text, by=by, tell=tell, report=report)


def save_user(agent: Agent, person: Person | None, text: str) -> str:
    """Store a person's USER.md; return what became of it, in words."""
    document = AgentDocument.objects.filter(
        agent=agent, person=person, name=user_documents.NAME
    ).first()
    return _save(document or AgentDocument(agent=agent, person=person, name="USER.md"), text)


def dump(agent: Agent, person: Person | None) -> dict[str, str]:
    """Return an agent's documents and settings as files, with the person's USER.md."""
    rows = AgentDocument.objects.filter(agent=agent, archived_at=None, person=None)
    if person is not None:
        rows |= AgentDocument.objects.filter(agent=agent, archived_at=None, person=person)
    shown = {row.name: row.text for row in rows.order_by("name") if row.text}
    values = {names[0]: getattr(agent, column) for column, names in _NAMES.items()}
    return {**shown, CONFIG: json.dumps(values, ensure_ascii=False, indent=2) + "\n"}


def _save(document: AgentDocument, text: str) -> str:
    is_new = document._state.adding
    clean = text.replace("\x00", "")
    if not is_new and document.archived_at is not None and clean:
        AgentDocument.objects.filter(pk=document.pk).update(archived_at=None)
    saved = documents.save(document, text=clean, author=None, reason="Imported from a workspace")
    if saved is None:
        return "there already, the same"
    return f"{'new' if is_new else 'new version'}, {len(clean)} characters"


def _configure(agent: Agent, text: str, *, by: str, tell: Tell, report: Report) -> None:
    try:
        values = json.loads(text)
    except ValueError as exc:
        report(CONFIG, getattr(exc, "lineno", 0), f"no JSON: {getattr(exc, 'msg', exc)}")
        return
    if not isinstance(values, dict):
        report(CONFIG, 1, "no object in { }")
        return
    before = audit.values_of(agent, _NAMES)
    changed = [
        column
        for column, names in _NAMES.items()
        if (name := next((each for each in names if each in values), None))
        and _set(agent, column, name, values[name], report)
    ]
    changes = audit.changes_between(before, agent, changed)
    if changes:
        agent.save(update_fields=list(changes))
        audit.record(
            team_id=agent.team_id,
            actor=by,
            action="agent.changed",
            subject=audit.subject_of(agent),
            reason=CONFIG,
            changes=changes,
        )
    used = {name for names in _NAMES.values() for name in names}
    left = sorted(str(name) for name in values if name not in used)
    secret = [name for name in left if any(mark in name.lower() for mark in _SECRET)]
    told = ", ".join(changes) if changes else "nothing new"
    tell(CONFIG, f"settings: {told}{_left(left, secret)}")


def _left(left: list[str], secret: list[str]) -> str:
    parts = [name for name in left if name not in secret]
    words = f"; left out: {', '.join(parts)[:200]}" if parts else ""
    return (
        f"{words}; keys and tokens are never taken: {', '.join(secret)[:200]}" if secret else words
    )


def _set(agent: Agent, column: str, name: str, value: JsonValue, report: Report) -> bool:
    """Set a column if the value is one of its values."""
    before = getattr(agent, column)
    field = Agent._meta.get_field(column)
    try:
        agent_value = field.clean(value, agent)  # type: ignore[union-attr]  # a column
        if column == "time_zone" and agent_value not in available_timezones():
            raise ValueError(agent_value)
    except (ValidationError, TypeError, ValueError):
        report(CONFIG, 0, f"{name} is left as it is: not a value that it can have")
        return False
    setattr(agent, column, agent_value)
    return bool(agent_value != before)
