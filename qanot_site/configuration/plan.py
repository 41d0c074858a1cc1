"""What applying a file would change, found out before anything is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agents.models import Agent, ProviderAccount, Team
from agents.services.managed import Managed, Parts
from qanot_site.configuration.accounts import Accounts
from qanot_site.configuration.errors import FileRefused, Mistake, OwnedByOther
from qanot_site.configuration.reading import ConfigurationFile
from qanot_site.configuration.section import Known, Section
from qanot_site.configuration.sections import SECTIONS
from qanot_site.configuration.tables import AccountTable

_EMPTY: Final[tuple[object, ...]] = ("", False, [], None)
_TOLD_EMPTY: Final = ("daily_cap_usd",)

Act = Literal["add", "change", "keep", "release", "archive"]


@dataclass(frozen=True, slots=True)
class Change:
    """One part that would say something else; None where it was not, or will not be."""

    part: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one row.

    Args:
        is_marked: The file owns it already.
    """

    section: str
    noun: str
    key: str
    act: Act
    changes: tuple[Change, ...] = ()
    is_marked: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """All that happens to a team's rows."""

    team: str
    file: str
    steps: tuple[Step, ...]

    @property
    def differs(self) -> bool:
        """Return whether the rows say something else than the file."""
        return any(step.act != "keep" for step in self.steps)

    @property
    def has_work(self) -> bool:
        """Return whether applying would write anything that people notice."""
        return any(step.act != "keep" or not step.is_marked for step in self.steps)


def make(file: ConfigurationFile, team: Team, *, takes_over: bool, archives_missing: bool) -> Plan:
    """Compare a file with a team's rows; call it in a transaction, as it locks them.

    Args:
        takes_over: Rows of other files change hands.
        archives_missing: Agents that the file no longer names are archived, not only released.

    Raises:
        FileRefused: The team's rows refuse what it says.
        OwnedByOther: Another file owns what it names.
    """
    steps: list[Step] = []
    mistakes: list[Mistake] = []
    foreign: list[str] = []
    known = _known(file, team)
    for section in SECTIONS:
        rows, tables = section.rows(team), file.tables[section.name]
        for key, table in tables.items():
            row = rows.get(key)
            for path, text in section.check(table, row, known):
                mistakes.append(Mistake(file.lines.of((section.name, key, *path)), text))
            if row is not None and row.managed_by not in ("", file.name):
                foreign.append(f"{section.noun} “{key}” ({row.managed_by})")
            steps.append(_step(section, file.name, key, row, section.wanted(key, table)))
        steps.extend(_missing(section, rows, tables, file.name, archives_missing))
    if mistakes:
        raise FileRefused(file.name, mistakes)
    if foreign and not takes_over:
        raise OwnedByOther(
            f"Other files own {', '.join(foreign)}. Take them out there first, or say --take-over."
        )
    return Plan(str(team), file.name, tuple(steps))


def _known(file: ConfigurationFile, team: Team) -> Known:
    kinds: dict[str, object] = dict(
        ProviderAccount.objects.filter(team=team).values_list("name", "kind")
    )
    tables = file.tables["accounts"]
    kinds |= {
        name: Accounts().wanted(name, table)["kind"]
        for name, table in tables.items()
        if isinstance(table, AccountTable)
    }
    agents = Agent.objects.filter(team=team, archived_at=None).values_list("slug", flat=True)
    return Known(
        accounts=frozenset(kinds),
        hearing=frozenset(
            name for name, kind in kinds.items() if kind == ProviderAccount.Kind.OPENAI
        ),
        agents=frozenset({*agents, *file.tables["agents"]}),
    )


def _step(section: Section, file: str, key: str, row: Managed | None, wanted: Parts) -> Step:
    if row is None:
        return Step(section.name, section.noun, key, "add", tuple(_changes({}, wanted)), False)
    changes = tuple(_changes(section.parts(row, wanted), wanted))
    act: Act = "change" if changes else "keep"
    is_marked = row.managed_by == file
    return Step(section.name, section.noun, key, act, changes, is_marked)


def _changes(before: Parts, after: Parts) -> Iterator[Change]:
    for part in (*after, *(name for name in before if name not in after)):
        old, new = before.get(part), after.get(part)
        # Of a new row, what is empty is no news, except where that means “as much as you like”.
        is_news = bool(before) or part in _TOLD_EMPTY or new not in _EMPTY
        if is_news and (part not in before or old != new):
            yield Change(part, old, new)


def _missing(
    section: Section,
    rows: Mapping[str, Managed],
    tables: Mapping[str, object],
    file: str,
    archives: bool,
) -> Iterator[Step]:
    act: Act = "archive" if archives and section.name == "agents" else "release"
    for key, row in rows.items():
        if row.managed_by == file and key not in tables:
            yield Step(section.name, section.noun, key, act)
