"""What a section of the file has to know about its kind of row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agents.models import Team
from agents.services.managed import Managed, Parts
from qanot_site.configuration.tables import Table

# The way to it inside a table, and what is wrong there.
Finding = tuple[tuple[str | int, ...], str]


@dataclass(frozen=True, slots=True)
class Known:
    """What a table may name beside itself.

    Args:
        accounts: Names of the team's accounts, with those that the file adds.
        hearing: Those of them whose kind can turn speech into text.
        agents: Slugs of the team's living agents, likewise.
    """

    accounts: frozenset[str]
    hearing: frozenset[str]
    agents: frozenset[str]


class Section(Protocol):
    """One kind of table, ``[agents.helper]``, and the rows that it stands for.

    Attributes:
        name: Of the tables.
        noun: How the plan calls one.
        key: The type of what names one.
        table: The model of one. A section is asked with tables and rows of its own kind only.
    """

    @property
    def name(self) -> str: ...
    @property
    def noun(self) -> str: ...
    @property
    def key(self) -> Any: ...  # a type for pydantic
    @property
    def table(self) -> type[Table]: ...

    def rows(self, team: Team) -> Mapping[str, Managed]:
        """Return the team's rows by what names them, locked where a transaction is open."""

    def wanted(self, key: str, table: Any) -> Parts:
        """Return what a table says, with what it leaves unsaid."""

    def parts(self, row: Any, wanted: Parts) -> Parts:
        """Return what a row says of that; of a row that is put away, also that."""

    def check(self, table: Any, row: Any | None, known: Known) -> Iterator[Finding]:
        """Yield why a table cannot be applied to the team's rows."""

    def write(self, team: Team, key: str, row: Any | None, wanted: Parts, file: str) -> Managed:
        """Store what is wanted, in the caller's transaction; the row is None for a new one."""

    def dump(self, row: Any) -> Iterator[str]:
        """Yield the lines of a row's table."""
