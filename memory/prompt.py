"""What of memory stands in every prompt: session state and the visible parts of MEMORY.md."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from agents import sql
from agents.core.viewer import Viewer
from memory import files
from memory.models import VISIBLE_SQL, Scope, visible_values
from memory.superseding import HOLDS_SQL, TRUSTED_SQL

STATE_CHARACTERS: Final = 8_000
STATE_AGE: Final = timedelta(days=7)
# No line is shorter than 45 characters, so more than these never fit.
_MOST_LINES = STATE_CHARACTERS // 45

# For the model, and so in English.
_LONG_TERM = "# Your Long-Term Memory"
_HEADINGS: dict[str, str] = {
    Scope.PERSON: "## About this person",
    Scope.CHAT: "## About this group",
    Scope.AGENT: "## Known to this agent, for everybody",
    Scope.TEAM: "## Known to the whole team",
}

# Two searches, each along its own index, in one statement; a single one with OR reads all rows.
_STATE = f"""
    (SELECT created_at, id, category, text FROM memory_walentry
        WHERE {VISIBLE_SQL} AND {TRUSTED_SQL} AND {HOLDS_SQL} AND thread = %s
        ORDER BY created_at DESC, id DESC LIMIT %s)
    UNION ALL
    (SELECT created_at, id, category, text FROM memory_walentry
        WHERE {VISIBLE_SQL} AND {TRUSTED_SQL} AND {HOLDS_SQL}
            AND NOT is_durable AND created_at > %s AND thread <> %s
        ORDER BY created_at DESC, id DESC LIMIT %s)
"""  # noqa: S608 — constants only
_DOCUMENTS = f"""
    SELECT id, version_number, name, scope, text FROM memory_memorydocument
    WHERE {VISIBLE_SQL} AND name = %s
"""  # noqa: S608 — constants only


class _Document(NamedTuple):
    id: int
    version: int
    name: str
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Which version of which document a prompt shows; as text ``5v3``."""

    document_id: int
    version: int
    name: str
    scope: str

    def __str__(self) -> str:
        return f"{self.document_id}v{self.version}"


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Two texts for the prompt, with their headings; each empty where nothing is known."""

    session_state: str
    long_term: str
    references: list[Reference]


def memory_parts(viewer: Viewer, *, thread: str, now: datetime) -> MemoryParts:
    """Return what the viewer's prompt shows of memory, in two queries.

    Session state holds this conversation's entries and what was noted elsewhere in the last seven
    days and is not in MEMORY.md, the newest first, at most 8,000 characters. What came from
    outside is left out: a fetched page is never a fact by itself. So is what was replaced, taken
    back or forgotten.

    Args:
        thread: The conversation's stretch, as text: ``session:3/1``.
    """
    documents = _documents(viewer)
    return MemoryParts(
        session_state=_session_state(viewer, thread=thread, now=now),
        long_term=_part((document.scope, document.text) for document in documents),
        references=[
            Reference(document.id, document.version, document.name, document.scope)
            for document in documents
        ],
    )


def long_term_part(texts: Mapping[str, str]) -> str:
    """Return what a prompt shows of MEMORY.md documents, given by scope."""
    return _part((scope, texts[scope]) for scope in _HEADINGS if _body(texts.get(scope, "")))


def _session_state(viewer: Viewer, *, thread: str, now: datetime) -> str:
    lines = []
    room = STATE_CHARACTERS - len(files.SESSION_STATE_HEADING) - 1
    for line in dict.fromkeys(_state_lines(viewer, thread=thread, now=now)):
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join([files.SESSION_STATE_HEADING, "", *lines]) if lines else ""


def _state_lines(viewer: Viewer, *, thread: str, now: datetime) -> Iterator[str]:
    """Yield the newest first, each fact once."""
    visible = visible_values(viewer)
    values = [*visible, thread, _MOST_LINES, *visible, now - STATE_AGE, thread, _MOST_LINES]
    rows = sql.fetch(_STATE, values)
    said = set()
    for at, _pk, category, text in sorted(rows, reverse=True):
        if (category, text.casefold()) not in said:
            said.add((category, text.casefold()))
            yield files.state_line(category, text, at)


def _documents(viewer: Viewer) -> list[_Document]:
    """Return the visible MEMORY.md documents that say something, the viewer's own first."""
    order = list(_HEADINGS)
    documents = [
        _Document(*row) for row in sql.fetch(_DOCUMENTS, [*visible_values(viewer), files.MEMORY])
    ]
    return sorted(
        (document for document in documents if _body(document.text)),
        key=lambda document: order.index(document.scope),
    )


def _part(texts: Iterable[tuple[str, str]]) -> str:
    sections = [f"{_HEADINGS[scope]}\n\n{_body(text)}" for scope, text in texts]
    return "\n\n".join([_LONG_TERM, *sections]) if sections else ""


def _body(text: str) -> str:
    return text.removeprefix(files.MEMORY_HEADING).strip()
