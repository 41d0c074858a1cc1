"""The operator's board: what runs, waits, failed and costs right now, on one page."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from agents.models import ProviderAccount
from agents.services import access
from qanot_site import beat_life
from qanot_site.beat_life import BeatLife
from sessions import dashboards, notices
from sessions.dashboards import Errors, Failure, Load, Running, Spent, Teams, Waiting

REFRESH_S = 2.5


@dataclass(frozen=True, slots=True)
class Worker:
    """One living worker; its name tells the host, which only superusers see."""

    pk: int
    name: str
    started_at: datetime
    running: int


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider account stands.

    Args:
        state: ``ready``, ``cooling`` or ``off``.
        error: The code of the last error, as it stands in the ledger of errors.
    """

    pk: int
    name: str
    state: str
    cool_until: datetime | None
    error: str
    error_at: datetime | None


@dataclass(frozen=True, slots=True)
class Board:
    """Everything that the board shows to one viewer; no moment that passes by itself."""

    load: Load
    running: tuple[Running, ...]
    waiting: tuple[Waiting, ...]
    workers: tuple[Worker, ...]
    beat: BeatLife | None
    providers: tuple[Provider, ...]
    errors: Errors
    spending: tuple[Spent, ...]

    @property
    def spent_usd(self) -> Decimal:
        """Return what the shown agents spent together."""
        return sum((agent.usd for agent in self.spending), Decimal(0))

    @property
    def not_shown(self) -> tuple[int, int]:
        """Return how many running and waiting turns have no line of their own."""
        return self.load.running - len(self.running), self.load.queued - len(self.waiting)

    @property
    def refused(self) -> int:
        """Return how many accounts cannot be asked now."""
        return sum(provider.state != "ready" for provider in self.providers)


@require_safe
@cache_control(private=True, no_cache=True)
def page(request: HttpRequest) -> HttpResponse:
    """Show the board."""
    board = _board(request)
    context = {
        **admin.site.each_context(request),
        "title": gettext("Board"),
        "refresh_ms": round(REFRESH_S * 1000),
        **_live(board, request),
    }
    return render(request, "admin/operator/board.html", context)


@require_safe
@cache_control(private=True, no_cache=True)
def live(request: HttpRequest) -> HttpResponse:
    """Return the board's changing part; 304 where the page has it already."""
    board = _board(request)
    tag = _tag(board)
    if request.headers.get("If-None-Match") == tag:
        unchanged = HttpResponseNotModified()
        unchanged.headers["ETag"] = tag
        return unchanged
    answer = render(request, "admin/operator/board_live.html", _live(board, request))
    answer.headers["ETag"] = tag
    return answer


def _live(board: Board, request: HttpRequest) -> Mapping[str, object]:
    return {
        "board": board,
        "tag": _tag(board),
        "failures": [(failure, _words(failure)) for failure in board.errors.latest],
        "error_count": board.errors.failed + board.errors.undelivered,
        "is_superuser": access.is_superuser(request),
        "now": timezone.now(),
    }


def _tag(board: Board) -> str:
    """Return the board's ETag; lengths of time are not in it, as the page counts them itself."""
    seen = f"{get_language()}\n{board!r}"
    return f'"{hashlib.sha256(seen.encode()).hexdigest()[:32]}"'


def _board(request: HttpRequest) -> Board:
    teams = access.teams(request, access.READERS)
    living = dashboards.living_workers()
    load = dashboards.load(teams)
    with_names = access.is_superuser(request)
    return Board(
        load=load,
        running=tuple(dashboards.running(teams, living)),
        waiting=tuple(dashboards.waiting(teams)),
        workers=tuple(
            Worker(
                pk=row.pk,
                name=row.name if with_names else "",
                started_at=row.started_at,
                running=load.by_worker.get(row.pk, 0),
            )
            for row in dashboards.workers(living)
        ),
        beat=beat_life.holder(),
        providers=tuple(_providers(teams)),
        errors=dashboards.errors(teams),
        spending=tuple(dashboards.spending(teams)),
    )


def _providers(teams: Teams) -> list[Provider]:
    rows = ProviderAccount.objects.all()
    if teams is not None:
        rows = rows.filter(team__in=teams)
    now = timezone.now()
    # Those that cannot be asked first.
    order = (models.F("switched_off_at").asc(nulls_last=True), "-failures", "name", "pk")
    return [_provider(row, now) for row in rows.order_by(*order)[: dashboards.SHOWN]]


def _provider(row: ProviderAccount, now: datetime) -> Provider:
    is_cooling = row.cool_until is not None and row.cool_until > now
    state = "off" if row.switched_off_at else "cooling" if is_cooling else "ready"
    return Provider(
        pk=row.pk,
        name=row.name,
        state=state,
        cool_until=row.cool_until if is_cooling else None,
        error=row.last_error_code,
        error_at=row.last_error_at,
    )


def _words(failure: Failure) -> str:
    """Return why something failed; a notice's values may quote the conversation, so none is used.

    A code without values leaves gaps, which read well enough for an operator.
    """
    if failure.is_delivery:
        return gettext("The answer could not be delivered for certain.")
    return notices.text_of({"v": 1, "code": failure.code or "crashed"})
