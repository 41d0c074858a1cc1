"""A plan as people read it before they agree."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agents.services import diffs
from agents.services.managed import DOCUMENTS
from qanot_site.configuration.plan import Change, Plan, Step

SIGNS: Final = {"add": "+", "change": "~", "keep": "=", "release": "!", "archive": "!"}
MOST_LINES: Final = 40
MOST_CHARACTERS: Final = 160


def lines_of(plan: Plan) -> Iterator[str]:
    """Yield a plan's lines; the first sign of each tells what it is about."""
    for step in plan.steps:
        yield f"{SIGNS[step.act]} {step.noun} {_plain(step.key)}{_note(step, plan.file)}"
        for change in step.changes:
            yield from _change(step, change)


def summary(plan: Plan) -> str:
    """Return the plan in one line."""
    counts = {act: sum(step.act == act for step in plan.steps) for act in SIGNS}
    gone = counts["release"] + counts["archive"]
    return (
        f"{counts['add']} to add, {counts['change']} to change, {counts['keep']} the same, "
        f"{gone} no longer in the file."
    )


def _note(step: Step, file: str) -> str:
    if step.act == "release":
        return ": no longer in the file; it stays as it is, to be changed in the admin again"
    if step.act == "archive":
        return ": no longer in the file; it is archived"
    if step.act == "keep":
        return ": the same" if step.is_marked else f": the same; kept in {file} from now on"
    return ""


def _change(step: Step, change: Change) -> Iterator[str]:
    if change.part.startswith(DOCUMENTS):
        yield from _document(change)
    elif change.part == "chain":
        yield from _chain(change.before or [], change.after or [])
    elif change.part == "tools":
        yield f"    tools: {_tools(change.before or [], change.after or [])}"
    elif step.act == "add":
        yield f"    {change.part}: {_value(change.after)}"
    else:
        yield f"    {change.part}: {_value(change.before)} → {_value(change.after)}"


def _document(change: Change) -> Iterator[str]:
    name = change.part.removeprefix(DOCUMENTS)
    before, after = str(change.before or ""), str(change.after or "")
    if change.after is None:
        yield f"    {name}: no longer in the file; put away, its versions stay"
        return
    if change.before is None:
        count = len(after.splitlines())
        yield f"    {name}: {count} line{'' if count == 1 else 's'}, {len(after):,} characters"
        return
    diff = diffs.compare(before, after)
    yield f"    {name}: {diff.added} added, {diff.removed} removed"
    changed = [line for block in diff.blocks for line in block.lines if line.kind != "same"]
    for line in changed[:MOST_LINES]:
        sign = "+" if line.kind == "added" else "-"
        yield f"      {sign} {_plain(''.join(piece.text for piece in line.pieces))}"
    if len(changed) > MOST_LINES:
        yield f"      … and {len(changed) - MOST_LINES} more lines"


def _chain(before: Any, after: Any) -> Iterator[str]:  # lists of links, as parts have them
    yield "    chain:"
    for place in range(max(len(before), len(after))):
        old = _link(before[place]) if place < len(before) else ""
        new = _link(after[place]) if place < len(after) else ""
        if old == new:
            yield f"      {place + 1}. {new}"
        else:
            yield from (f"      - {place + 1}. {old}" for _ in range(bool(old)))
            yield from (f"      + {place + 1}. {new}" for _ in range(bool(new)))


def _link(link: Mapping[str, Any]) -> str:
    options = (
        f"{name} {_value(value)}"
        for name, value in link.items()
        if name not in ("account", "model") and value not in (None, "")
    )
    return f"{_plain(link['account'])} · {_plain(link['model'])} ({', '.join(options)})"


def _tools(before: Any, after: Any) -> str:  # lists of names
    added = [f"+ {name}" for name in after if name not in before]
    return ", ".join([*added, *(f"- {_plain(name)}" for name in before if name not in after)])


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == "":
        return "none"
    if isinstance(value, Decimal):
        return format(value, "f")
    return _plain(str(value))


def _plain(text: str) -> str:
    """Return a text in one line that steers no terminal, and does not fill it."""
    shown = "".join(c if c.isprintable() or c == "\t" else "�" for c in text)
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[: MOST_CHARACTERS - 1]}…"
