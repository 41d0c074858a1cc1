"""A turn as its page shows it: steps along the time, what calls used, the prompt's parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone

from agents.models import UsageRecord
from memory import recall, words
from sessions import dashboards, notices
from sessions.admin.text import elapsed
from sessions.models import Turn, TurnStep

# The bars' picture is so wide; a bar is never too thin to be seen.
WIDTH = 1000
THINNEST = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One step with where in the turn it lay.

    Args:
        offset: Where its bar begins, of ``WIDTH``.
        length: How long its bar is.
        took: Empty while it is not finished.
    """

    number: int
    kind: str
    kind_words: str
    name: str
    attempt: int
    began: str
    took: str
    is_error: bool
    offset: int
    length: int
    address: str


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the prompt, as the manifest has it."""

    name: str
    version: str
    characters: int | None
    tokens: int | None
    cut: int | bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """One thing that was recalled, with what spoke for it.

    Args:
        text: None where it is not this reader's to read, or was forgotten since.
    """

    place: str
    kind: str
    at: datetime | None
    score: float
    why: Sequence[tuple[str, float]]
    text: str | None


@dataclass(frozen=True, slots=True)
class Course:
    """Everything about one turn that its page shows above the rows."""

    lines: Sequence[Line]
    calls: Sequence[UsageRecord]
    cost_usd: Decimal | None
    has_unpriced: bool
    parts: Sequence[Part]
    tools: Sequence[str]
    notice: str
    took: str
    again: int | None
    recalled: Sequence[Recalled]
    recall_notes: Sequence[str]
    recall_ms: float


def course_of(turn: Turn, *, may_read: bool) -> Course:
    """Return a turn's course; needs its session loaded.

    Args:
        may_read: Whether the reader may be shown the conversation's words.
    """
    began, end = turn.accepted_at, turn.committed_at or timezone.now()
    calls = list(
        UsageRecord.objects.filter(origin=turn.ref, team_id=turn.session.team_id).order_by("id")
    )
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    manifest = turn.manifest if isinstance(turn.manifest, dict) else {}
    stored = recall.stored_in(manifest)
    return Course(
        lines=[_line(step, began, end) for step in _steps(turn)],
        calls=calls,
        cost_usd=sum(costs, Decimal(0)) if costs else None,
        has_unpriced=len(costs) < len(calls),
        parts=list(_parts(manifest)),
        tools=[str(name) for name in manifest.get("tools") or ()],
        notice=_notice(turn),
        took=elapsed(began, end),
        again=dashboards.asked_again_as(turn),
        recalled=_recalled(stored.items, turn, may_read=may_read),
        recall_notes=[words.of_note(note) for note in stored.notes],
        recall_ms=stored.ms,
    )


def _recalled(items: Sequence[recall.Item], turn: Turn, *, may_read: bool) -> list[Recalled]:
    texts = [shown.text for shown in recall.with_words(items, turn.viewer)] if may_read else []
    return [
        Recalled(
            place=f"{item.file}:{item.line}" if item.file and item.line else item.file,
            kind=item.kind,
            at=item.at,
            score=item.score,
            why=sorted(item.why.items(), key=lambda part: -abs(part[1])),
            text=texts[number] if may_read else None,
        )
        for number, item in enumerate(items)
    ]


def _steps(turn: Turn) -> Iterator[TurnStep]:
    yield from turn.steps.defer("error").order_by("number")


def _line(step: TurnStep, began: datetime, end: datetime) -> Line:
    whole = max((end - began).total_seconds(), 0.001)
    finished = step.finished_at or end
    at = min(max((step.started_at - began).total_seconds() / whole, 0.0), 1.0)
    share = min(max((finished - step.started_at).total_seconds() / whole, 0.0), 1.0)
    length = max(round(share * WIDTH), THINNEST)
    return Line(
        number=step.number,
        kind=step.kind,
        kind_words=step.get_kind_display(),
        name=step.name,
        attempt=step.attempt,
        began=elapsed(began, step.started_at),
        took=elapsed(step.started_at, step.finished_at) if step.finished_at else "",
        is_error=step.is_error,
        offset=min(round(at * WIDTH), WIDTH - length),
        length=length,
        address=reverse("admin:bot_sessions_turnstep_change", args=[step.pk]),
    )


def _parts(manifest: Mapping[str, Any]) -> Iterator[Part]:  # a JSON column
    for part in manifest.get("parts") or ():
        if not isinstance(part, dict):
            continue
        yield Part(
            name=str(part.get("part") or part.get("name") or "–"),
            version=str(part.get("version") or ""),
            characters=part.get("characters"),
            tokens=part.get("tokens"),
            cut=part.get("cut") or 0,
        )


def _notice(turn: Turn) -> str:
    """Return the notice's words without its values, which may quote the conversation."""
    if not isinstance(turn.notice, dict):
        return ""
    return notices.text_of({"v": 1, "code": str(turn.notice.get("code", ""))})
