"""What runs, waits and failed just now: read by the operator's board and by metrics.

Everything is asked of PostgreSQL when it is looked at; no process counts for itself.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db import models
from django.utils import timezone

from agents import sql
from agents.services.caps import CEILING
from sessions.models import InboundMessage, Outgoing, Turn, TurnStep, WorkerProcess
from sessions.turns import processes

# None stands for every team.
Teams = Collection[int] | None

SHOWN: Final = 30
LATEST_FAILURES: Final = 10
# Beyond it a number of failures says nothing more.
MOST_COUNTED: Final = 1_000
# A turn that failed within the hour was accepted within the day, or is told of by its session.
_LONGEST_TURN: Final = timedelta(hours=24)
RECENTLY: Final = timedelta(hours=1)

_SPENT = """
    SELECT a.id, a.name, a.daily_cap_usd, coalesce((
        SELECT sum(coalesce(u.cost_usd,
            ((u.input_tokens + u.cache_read_tokens + u.cache_write_tokens)::numeric * %s
                + u.output_tokens * %s) / 1000000))
        FROM agents_usagerecord u
        WHERE u.agent_id = a.id AND u.created_at
            >= date_trunc('day', now() AT TIME ZONE a.time_zone) AT TIME ZONE a.time_zone
    ), 0)
    FROM agents_agent a
    WHERE a.archived_at IS NULL AND (%s::bigint[] IS NULL OR a.team_id = ANY(%s::bigint[]))
    ORDER BY 4 DESC, a.id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Running:
    """One turn that a worker has, or had when its process died.

    Args:
        person: By their name; empty in a group.
        worker: The number of the worker; None where nobody works on it.
    """

    pk: int
    agent: str
    person: str
    accepted_at: datetime
    claimed_at: datetime | None
    attempt: int
    step: int
    step_kind: str
    step_name: str
    worker: int | None
    is_stopping: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """One turn that no worker has taken yet."""

    pk: int
    agent: str
    person: str
    accepted_at: datetime


@dataclass(frozen=True, slots=True)
class Failure:
    """One turn that failed, or one answer that could not be delivered."""

    turn: int
    agent: str
    at: datetime
    code: str
    is_delivery: bool = False


@dataclass(frozen=True, slots=True)
class Errors:
    """What went wrong within the last hour; of the failures only the latest."""

    failed: int
    undelivered: int
    broken_calls: int
    latest: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to do.

    Args:
        oldest_at: Since when the longest waiting turn waits.
        by_worker: Turns that run by the number of the worker that has them, living or not.
    """

    queued: int
    oldest_at: datetime | None
    running: int
    by_worker: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Spent:
    """What an agent spent in its own zone's day; an unknown price counts at the ceiling."""

    agent: int
    name: str
    usd: Decimal
    cap_usd: Decimal | None

    @property
    def percent(self) -> int | None:
        """Return the share of the cap that is used; None without one."""
        if self.cap_usd is None:
            return None
        return 100 if not self.cap_usd else min(round(100 * self.usd / self.cap_usd), 100)


def running(teams: Teams, living: Collection[int]) -> list[Running]:
    """Return the turns that run, the longest running first.

    Args:
        living: What ``living_workers`` returned.
    """
    newest = TurnStep.objects.filter(turn=models.OuterRef("pk")).order_by("-number")
    turns = (
        _of(teams, Turn.objects.filter(state=Turn.State.RUNNING))
        .select_related("session__agent", "session__person")
        .defer("manifest", "notice")
        .annotate(
            step=models.Subquery(newest.values("number")[:1]),
            step_kind=models.Subquery(newest.values("kind")[:1]),
            step_name=models.Subquery(newest.values("name")[:1]),
        )
        .order_by("claimed_at", "pk")[:SHOWN]
    )
    return [_running(turn, living) for turn in turns]


def _running(turn: Any, living: Collection[int]) -> Running:  # with what was annotated
    worker = turn.session.leased_by
    return Running(
        pk=turn.pk,
        agent=turn.session.agent.name,
        person=_person(turn),
        accepted_at=turn.accepted_at,
        claimed_at=turn.claimed_at,
        attempt=turn.attempt,
        step=turn.step or 0,
        step_kind=turn.step_kind or "",
        step_name=turn.step_name or "",
        worker=worker if worker in living else None,
        is_stopping=turn.stop_requested_at is not None,
    )


def waiting(teams: Teams) -> list[Waiting]:
    """Return the turns that wait, the longest waiting first."""
    turns = (
        _of(teams, Turn.objects.filter(state=Turn.State.QUEUED))
        .select_related("session__agent", "session__person")
        .defer("manifest", "notice")
        .order_by("accepted_at", "pk")[:SHOWN]
    )
    return [
        Waiting(turn.pk, turn.session.agent.name, _person(turn), turn.accepted_at) for turn in turns
    ]


def load(teams: Teams) -> Load:
    """Return how many turns wait and run."""
    rows = (
        _of(teams, Turn.objects.unfinished())
        .order_by()
        .values_list("state", "session__leased_by")
        .annotate(n=models.Count("pk"), oldest=models.Min("accepted_at"))
    )
    queued, by_worker, oldest = 0, dict[int, int](), list[datetime]()
    orphans = 0
    for state, worker, number, since in rows:
        if state == Turn.State.QUEUED:
            queued += number
            oldest.append(since)
        elif worker is None:
            orphans += number
        else:
            by_worker[worker] = number
    running_now = sum(by_worker.values()) + orphans
    return Load(queued, min(oldest, default=None), running_now, by_worker)


def errors(teams: Teams) -> Errors:
    """Return what failed within the last hour."""
    now = timezone.now()
    since = now - RECENTLY
    # By their public ids, which begin with the time: there is no index on the times.
    recent = Turn.objects.filter(public_id__gte=first_id_of(now - _LONGEST_TURN))
    failed = _of(teams, recent.filter(state=Turn.State.FAILED, committed_at__gte=since))
    sends = Outgoing.objects.filter(
        public_id__gte=first_id_of(now - _LONGEST_TURN),
        state__in=(Outgoing.State.FAILED, Outgoing.State.UNKNOWN),
        tried_at__gte=since,
    )
    sends = _of(teams, sends)
    broken = _of(
        teams,
        TurnStep.objects.filter(
            turn__public_id__gte=first_id_of(now - _LONGEST_TURN), started_at__gte=since
        ).exclude(error=""),
        path="turn__session__team",
    )
    turns, undelivered = _failed_turns(failed), _failed_sends(sends)
    latest = sorted([*turns, *undelivered], key=lambda failure: failure.at, reverse=True)
    return Errors(
        failed=len(turns),
        undelivered=len(undelivered),
        broken_calls=broken.count(),
        latest=tuple(latest[:LATEST_FAILURES]),
    )


def _failed_turns(failed: "models.QuerySet[Turn]") -> list[Failure]:
    rows = failed.order_by("-pk").values_list(
        "pk", "session__agent__name", "committed_at", "notice__code"
    )
    return [
        Failure(pk, name, at, code or "")
        for pk, name, at, code in rows[:MOST_COUNTED]
        if at is not None
    ]


def _failed_sends(sends: "models.QuerySet[Outgoing]") -> list[Failure]:
    rows = sends.order_by("-pk").values_list("turn_id", "session__agent__name", "tried_at", "state")
    return [
        Failure(turn, name, at, state, is_delivery=True)
        for turn, name, at, state in rows[:MOST_COUNTED]
        if at is not None
    ]


def workers(living: Collection[int]) -> list[WorkerProcess]:
    """Return the rows of the workers that live."""
    return list(WorkerProcess.objects.filter(pk__in=living).order_by("pk"))


def living_workers() -> frozenset[int]:
    """Return the numbers of the workers whose processes hold their locks."""
    return processes.living()


def spending(teams: Teams, *, limit: int = SHOWN) -> list[Spent]:
    """Return what agents spent today, those that spent most first."""
    ids = None if teams is None else sorted(teams)
    values = [CEILING.input_usd_mtok, CEILING.output_usd_mtok, ids, ids, limit]
    return [
        Spent(agent=pk, name=name, usd=Decimal(usd), cap_usd=cap)
        for pk, name, cap, usd in sql.fetch(_SPENT, values)
    ]


def first_id_of(at: datetime) -> uuid.UUID:
    """Return the lowest UUIDv7 of a moment: public ids from it on were given later."""
    return uuid.UUID(int=(int(at.timestamp() * 1000) << 80) | (0x7 << 76) | (0b10 << 62))


def asked_again_as(turn: Turn) -> int | None:
    """Return the turn that an operator's retry made of a turn."""
    sender = f"retry:{turn.pk}"
    account = turn.session.account_id
    again = InboundMessage.objects.filter(account=account, sender=sender)
    return again.values_list("turn", flat=True).first()


def _of(teams: Teams, rows: Any, *, path: str = "session__team") -> Any:  # querysets of any model
    return rows if teams is None else rows.filter(**{f"{path}__in": teams})


def _person(turn: Turn) -> str:
    person = turn.session.person
    return person.display_name if person is not None else ""
