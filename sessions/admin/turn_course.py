"""A turn as its page shows it: steps along the time, what calls used, the prompt's parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone

from agents.models import UsageRecord
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


def course_of(turn: Turn) -> Course:
    """Return a turn's course; needs its session loaded."""
    began, end = turn.accepted_at, turn.committed_at or timezone.now()
    calls = list(
        UsageRecord.objects.filter(origin=turn.ref, team_id=turn.session.team_id).order_by("id")
    )
    costs = [call.cost_usd for call in calls if call.cost_usd is not None]
    manifest = turn.manifest if isinstance(turn.manifest, dict) else {}
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
    )


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
