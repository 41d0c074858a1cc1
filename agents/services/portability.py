"""Everything about one person, in every table: to hand it over, or to erase it.

Each app registers its tables in its module ``portability``; a test fails for a model of ours that
nobody registered. Erasing goes from the highest app to the lowest, as foreign keys point down.
What is left of somebody is a row without a name, to which records of the past may point.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.db.models.lookups import In
from django.utils.module_loading import autodiscover_modules

from agents.models import Identity, Person, User
from agents.services import audit
from agents.services.people import as_merged

_log = structlog.get_logger(__name__)

_REF: Final = r"^([a-z]+:[0-9]+)[ /].*$"
# Shorter words of theirs are everybody's: "yes", "thank you", "good morning".
QUOTED_CHARACTERS: Final = 16
ERASED_SUBJECTS: Final = 10_000
# Never handed over: they open doors, or are only made of what is handed over anyhow.
SECRET_COLUMNS: Final = frozenset({"digest", "body_digest", "fingerprint", "lease_token", "sha256"})

Rows = models.QuerySet[Any]


@dataclass(slots=True)
class Subject:
    """Whose data it is, and by which marks it is known.

    Args:
        person_ids: The person, and everybody who was merged into them.
        refs: What they said and caused, as sources name it: ``message:12``, ``turn:81``.
        names: Under which channels know them.
        texts: Their own words, to be found where others quote them.
        actor: Who exports or erases, as the audit log names them.
        rows: While they are erased, the keys of their rows as there were before.
    """

    team_id: int
    person_id: int
    person_ids: tuple[int, ...]
    actor: str
    refs: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    rows: dict[type[models.Model], list[int]] = field(default_factory=dict)
    _ids: dict[str, list[int]] = field(default_factory=dict)

    def quote(self, words: str) -> None:
        """Note words of theirs, as they stand in texts and in stored replies."""
        if len(words.strip()) >= QUOTED_CHARACTERS:
            self.texts |= {words.strip(), json.dumps(words.strip(), ensure_ascii=False)[1:-1]}

    def is_quoted_in(self, text: str) -> bool:
        """Return whether a text of somebody else repeats words of theirs."""
        return any(words in text for words in self.texts)

    def ids(self, rows: str) -> list[int]:
        """Return keys that an app noted before anything was erased."""
        return self._ids.get(rows, [])

    @property
    def noted(self) -> Collection[str]:
        """Return under which names keys were noted."""
        return self._ids

    def note_ids(self, rows: str, keys: Iterable[int]) -> None:
        """Keep keys of rows under a name of the app's own."""
        self._ids[rows] = sorted(set(keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One model's part in a person's data.

    Args:
        rows: Which rows are the person's.
        blanks: Columns that are emptied, with what takes their place; the row stays. None: rows
            are deleted.
        keeps: Text columns of rows that stay, which say nothing of the person.
        erase: What is done instead, for rows that need more; returns how many it touched.
        is_exported: False for what is only made of other rows.
        expands: Adds what a row points at, by name.
    """

    model: type[models.Model]
    rows: Callable[[Subject], Rows]
    blanks: Mapping[str, object] | None = None
    keeps: tuple[str, ...] = ()
    erase: Callable[[Subject], int] | None = None
    is_exported: bool = True
    expands: Callable[[Any], Mapping[str, object]] | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows of a table were the person's."""

    model: type[models.Model]
    rows: int
    stays: bool

    @property
    def label(self) -> str:
        """Return how people call the rows."""
        return str(self.model._meta.verbose_name_plural)


@dataclass(frozen=True, slots=True)
class Report:
    """What was done, table by table, the highest app first; tables without rows are left out."""

    person_id: int
    counts: tuple[Count, ...]
    files: int

    @property
    def total(self) -> int:
        """Return how many rows there were."""
        return sum(count.rows for count in self.counts)


# What somebody is known by has to be seen before the rows that tell it are emptied.
Seer = Callable[[Subject], None]
Files = Callable[[Subject], Iterable[tuple[str, bytes]]]
_tables: dict[str, list[Table]] = {}
_nothing: dict[type[models.Model], str] = {}
_seers: list[Seer] = []
_files: list[Files] = []


def register(app: str, *tables: Table) -> None:
    """Name an app's tables that hold something of people, in the order in which they are erased."""
    _tables[app] = list(tables)


def register_nothing(reasons: Mapping[type[models.Model], str]) -> None:
    """Name models that hold nothing of the people whom agents talk with, and why."""
    _nothing.update(reasons)


def register_seer(seer: Seer) -> None:
    """Let an app note what a person is known by, the notes of the apps above it at hand."""
    if seer not in _seers:
        _seers.append(seer)


def register_files(files: Files) -> None:
    """Let an app add files to what is handed over."""
    if files not in _files:
        _files.append(files)


def load() -> None:
    """Let every app register."""
    autodiscover_modules("portability")


def caused(subject: Subject, column: str = "source") -> models.Q:
    """Return the condition that a row comes from what a person said or caused.

    A source may go on behind the reference: ``turn:81 call_1``, ``message:12/edit:…``.
    """
    if not subject.refs:
        return models.Q(pk__in=())
    ref = models.Func(
        models.F(column),
        models.Value(_REF),
        models.Value(r"\1"),
        function="regexp_replace",
        output_field=models.TextField(),
    )
    return models.Q(In(ref, sorted(subject.refs)))


def tables() -> list[Table]:
    """Return all tables, the highest app's first."""
    load()
    return [table for app in reversed(_tables.values()) for table in app]


def without_people() -> Mapping[type[models.Model], str]:
    """Return the models that hold nothing of people, each with the reason."""
    load()
    return _nothing


def subject_of(person: Person, *, by: User | str) -> Subject:
    """Return what a person is known by, whoever was merged into them included."""
    load()
    kept = as_merged(person)
    ids = [kept.pk, *Person.objects.filter(merged_into=kept).values_list("pk", flat=True)]
    subject = Subject(kept.team_id, kept.pk, tuple(ids), audit.actor_of(by))
    known = Identity.objects.filter(person_id__in=ids).values_list("external_id", flat=True)
    subject.names |= set(known)
    for seer in reversed(_seers):
        seer(subject)
    return subject


def counts(subject: Subject) -> tuple[Count, ...]:
    """Return how many rows of each table are the person's; derived ones are left out."""
    found = ((table, table.rows(subject).count()) for table in tables() if table.is_exported)
    return tuple(
        Count(table.model, rows, table.erase is not None or table.blanks is not None)
        for table, rows in found
        if rows
    )


def parts(subject: Subject) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yield a person's rows, table by table, as plain values under the table's name."""
    for table in tables():
        if table.is_exported:
            rows = [_plain(row, table) for row in table.rows(subject).order_by("pk")]
            if rows:
                yield table.model._meta.label_lower, rows


def files(subject: Subject) -> Iterator[tuple[str, bytes]]:
    """Yield what is handed over as files, each under its name."""
    for one in _files:
        yield from one(subject)


@transaction.atomic
def erase(person: Person, *, by: User | str, reason: str = "", is_trial: bool = False) -> Report:
    """Erase a person from every table, and write into the audit log that it was done.

    Their rows are deleted, or emptied where records of the past point at them; in groups their
    own words are blanked and those of others stay. Files leave the storage after the commit.
    Called again it finds what came since.

    Args:
        is_trial: Everything is done and taken back: the report is exact and nothing has changed.
    """
    subject = subject_of(person, by=by)
    subject.rows = _keys(subject)
    counts = []
    for table in tables():
        rows = _erase(table, subject)
        if rows:
            stays = table.erase is not None or table.blanks is not None
            counts.append(Count(table.model, rows, stays))
    _forget_history(subject.rows)
    audit.record(
        team_id=subject.team_id,
        actor=subject.actor,
        action="person.erased",
        subject=f"person:{subject.person_id}",
        reason=reason or f"{sum(count.rows for count in counts)} rows",
    )
    report = Report(subject.person_id, tuple(counts), len(subject.ids("files")))
    if is_trial:
        transaction.set_rollback(True)
    else:
        _log.info("person.erased", person=subject.person_id, rows=report.total)
    return report


def _erase(table: Table, subject: Subject) -> int:
    if table.erase is not None:
        return table.erase(subject)
    if table.blanks is None:
        _, by_model = table.rows(subject).delete()
        return by_model.get(table.model._meta.label, 0)
    rows = table.rows(subject)
    return rows.update(**table.blanks) if table.blanks else rows.count()


def _keys(subject: Subject) -> dict[type[models.Model], list[int]]:
    """Return the keys of rows that histories may speak of; not of millions of derived ones."""
    return {
        table.model: list(table.rows(subject).values_list("pk", flat=True)[:ERASED_SUBJECTS])
        for table in tables()
        if table.is_exported
    }


def _forget_history(found: Mapping[type[models.Model], Sequence[int]]) -> None:
    """Take names out of the admin's own history of rows."""
    for model, keys in found.items():
        kind = ContentType.objects.get_for_model(model)
        LogEntry.objects.filter(content_type=kind, object_id__in=[str(key) for key in keys]).update(
            object_repr="", change_message=""
        )


def _plain(row: Any, table: Table) -> dict[str, object]:
    values: dict[str, object] = {
        column.attname: _value(column.value_from_object(row))
        for column in row._meta.concrete_fields
        if column.name not in SECRET_COLUMNS
    }
    return values | dict(table.expands(row) if table.expands else {})


def _value(value: object) -> object:
    """Return a column's value as JSON takes it."""
    if value is None or isinstance(value, bool | int | float | str | list | dict):
        return value
    try:
        return DjangoJSONEncoder().default(value)
    except TypeError:
        return str(value)
