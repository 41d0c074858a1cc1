"""Noted facts as passages; those that hold no longer are hidden with the row that says so."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from memory.index import writing
from memory.index.writing import APART, Text
from memory.models import Origin, Passage, WalEntry

_FILES: Final = ("MEMORY.md", "SESSION-STATE.md")


def source_of(entry_id: int) -> str:
    """Return a fact as the source of its passage: ``fact:12``."""
    return f"fact:{entry_id}"


def add(entries: Iterable[WalEntry]) -> None:
    """Let facts be found, in the transaction that notes them.

    Wishes to forget are no facts, nor is what came from outside until somebody accepted it.
    """
    for entry in entries:
        is_trusted = entry.origin != Origin.UNTRUSTED or entry.accepted_at is not None
        if entry.category == WalEntry.Category.FORGET or not is_trusted:
            continue
        text = Text(
            entry.text,
            entry.created_at,
            Origin(entry.origin),
            entry.author_id,
            file=_FILES[0] if entry.is_durable else _FILES[1],
        )
        writing.add(
            [text],
            home=home_of(entry),
            kind=Passage.Kind.FACT,
            source=source_of(entry.pk),
            thread=f"facts of {entry.thread}",
            step=APART,
        )


def hide(entries: Iterable[WalEntry]) -> None:
    """Let facts never be found again, in the transaction that closes or takes them back."""
    by_home: dict[tuple[tuple[str, object], ...], list[str]] = defaultdict(list)
    for entry in entries:
        by_home[tuple(home_of(entry).items())].append(source_of(entry.pk))
    for home, sources in by_home.items():
        writing.hide(sources, home=dict(home))


def home_of(entry: WalEntry) -> Mapping[str, object]:
    """Return the columns of a fact's scope."""
    return {
        "team_id": entry.team_id,
        "scope": entry.scope,
        "agent_id": entry.agent_id,
        "person_id": entry.person_id,
        "chat_id": entry.chat_id,
    }
