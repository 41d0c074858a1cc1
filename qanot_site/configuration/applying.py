"""Writing what a plan says: all of it in one transaction, or nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents.models import Agent, Team
from agents.services import archive, audit, managed
from agents.services.managed import DOCUMENTS, Managed
from qanot_site.configuration import plan as planning
from qanot_site.configuration.errors import Overtaken
from qanot_site.configuration.plan import Plan, Step
from qanot_site.configuration.reading import ConfigurationFile
from qanot_site.configuration.section import Section
from qanot_site.configuration.sections import SECTIONS

ACTOR = "command:apply"


@transaction.atomic
def plan(
    file: ConfigurationFile, team: Team, *, takes_over: bool = False, archives_missing: bool = False
) -> Plan:
    """Return what applying a file would change; nothing is written.

    Raises:
        ConfigurationError: It cannot be applied.
    """
    return planning.make(file, team, takes_over=takes_over, archives_missing=archives_missing)


@transaction.atomic
def apply(
    file: ConfigurationFile,
    team: Team,
    expected: Plan,
    *,
    takes_over: bool = False,
    archives_missing: bool = False,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Do what the plan says that people have seen. Safe to repeat.

    Args:
        done: Called after each row.

    Raises:
        Overtaken: Somebody changed a row meanwhile, so the plan would be another one.
        ConfigurationError: It cannot be applied.
    """
    # Two that apply at once wait for each other, also where there are no rows yet.
    Team.objects.select_for_update().get(pk=team.pk)
    fresh = planning.make(file, team, takes_over=takes_over, archives_missing=archives_missing)
    if fresh != expected:
        raise Overtaken("Somebody changed something since this plan was made. Apply again.")
    for section in SECTIONS:
        rows = section.rows(team)
        for step in fresh.steps:
            if step.section == section.name:
                _take(step, section, rows, file, team)
                done()


def _take(
    step: Step, section: Section, rows: Mapping[str, Managed], file: ConfigurationFile, team: Team
) -> None:
    row = rows.get(step.key)
    if step.act in ("release", "archive"):
        _let_go(step, rows[step.key], file.name)
        return
    if row is None or step.act != "keep":
        if isinstance(row, Agent):
            # Its documents are written as the new owner's.
            row.managed_by = file.name
            row.save(update_fields=["managed_by"])
        wanted = section.wanted(step.key, file.tables[section.name][step.key])
        row = section.write(team, step.key, row, wanted, file.name)
        _tell(step, row, file.name)
    elif not step.is_marked:
        _tell(step, row, file.name)
    managed.put_mark(row, file=file.name, files=file.files, now=timezone.now())


def _let_go(step: Step, row: Managed, file: str) -> None:
    managed.release(row)
    _tell(step, row, file)
    if step.act == "archive":
        archive.archive(Agent.objects.filter(pk=row.pk), by=ACTOR)


def _tell(step: Step, row: Managed, file: str) -> None:
    changes: dict[str, list[Any]] = {}
    for change in step.changes:
        name = change.part
        if name.startswith(DOCUMENTS):
            # Of a text, the log says how long it is: its words stand in its versions.
            said = audit.changes_between({"text": change.before}, {"text": change.after}, ("text",))
            changes[name] = said.get("text", ["", ""])
        elif isinstance(change.before, list) or isinstance(change.after, list):
            changes[name] = [_listed(change.before), _listed(change.after)]
        else:
            changes |= audit.changes_between({name: change.before}, {name: change.after}, (name,))
    if not step.is_marked or step.act in ("release", "archive"):
        owner = file if step.act not in ("release", "archive") else ""
        before = "" if owner else file
        changes["managed_by"] = [before, owner]
    audit.record(
        team_id=row.team_id,
        actor=ACTOR,
        action="config.applied",
        subject=f"{audit.noun_of(managed.model_of(row))}:{row.pk}",
        reason=file,
        changes=changes,
    )


def _listed(value: object) -> list[str]:
    """Return the items of a list in words: a chain's links by what they ask."""
    items = value if isinstance(value, list) else []
    return [
        f"{item['account']} · {item['model']}" if isinstance(item, dict) else str(item)
        for item in items
    ]
