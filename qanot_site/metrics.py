"""`/metrics` for Prometheus: what PostgreSQL says when asked, and what this process counts."""

import hmac
import time
from collections.abc import Iterable, Iterator
from typing import Final

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from agents.models import ProviderAccount
from qanot_site import beat_life
from sessions import dashboards
from sessions.channels.telegram import figures

# Beyond so many agents a label for each would cost the reader more than it tells.
MOST_AGENTS: Final = 1_000
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_registry = CollectorRegistry()
_requests = Counter(
    "qanot_http_requests",
    "Requests that this web process answered.",
    ["method", "status"],
    registry=_registry,
)
_seconds = Histogram(
    "qanot_http_first_byte_seconds",
    "Time to the first byte of an answer of this web process.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    registry=_registry,
)


def count_request(method: str, status: int, began: float) -> None:
    """Count an answer; labels are few, whatever strangers send.

    Args:
        began: By ``time.monotonic``.
    """
    _requests.labels(method if method in _METHODS else "other", f"{status // 100}xx").inc()
    _seconds.observe(time.monotonic() - began)


@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Return all figures to who has the token; without a token in the settings there is no page.

    An address proves nothing: behind a proxy on the same machine everybody comes from loopback.
    """
    token = settings.QANOT_METRICS_TOKEN
    if not token:
        raise Http404
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        refused = HttpResponse("A token is needed.\n", status=401, content_type="text/plain")
        refused.headers["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    return HttpResponse(generate_latest(_registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Deployment(Collector):
    """What is true for all processes, asked of PostgreSQL at each scrape."""

    def describe(self) -> Iterable[Metric]:
        """Return nothing: registering must not ask the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the figures; without a database only that it is away."""
        try:
            found = [*_turns(), *_processes(), *_accounts(), *_bots(), *_spending()]
        except DatabaseError:
            yield _gauge("qanot_database_up", "Whether the database answered this scrape.", 0)
            return
        yield _gauge("qanot_database_up", "Whether the database answered this scrape.", 1)
        yield from found


def _turns() -> Iterator[Metric]:
    load = dashboards.load(None)
    turns = GaugeMetricFamily("qanot_turns", "Turns that owe an answer.", labels=["state"])
    turns.add_metric(["queued"], load.queued)
    turns.add_metric(["running"], load.running)
    yield turns
    age_s = (timezone.now() - load.oldest_at).total_seconds() if load.oldest_at else 0
    yield _gauge("qanot_queue_age_seconds", "Since when the longest waiting turn waits.", age_s)
    errors = dashboards.errors(None)
    failed = GaugeMetricFamily(
        "qanot_errors_last_hour", "What went wrong within the last hour.", labels=["kind"]
    )
    failed.add_metric(["turn"], errors.failed)
    failed.add_metric(["delivery"], errors.undelivered)
    failed.add_metric(["model_call"], errors.broken_calls)
    yield failed


def _processes() -> Iterator[Metric]:
    living = len(dashboards.living_workers())
    yield _gauge("qanot_workers", "Worker processes that live.", living)
    beat = beat_life.holder()
    yield _gauge("qanot_beat_up", "Whether a beat holds the lock.", beat is not None)
    if beat is not None and beat.ticked_at is not None:
        age_s = (timezone.now() - beat.ticked_at).total_seconds()
        yield _gauge("qanot_beat_tick_age_seconds", "Since the beat's last tick.", max(age_s, 0))


def _accounts() -> Iterator[Metric]:
    now = timezone.now()
    states = GaugeMetricFamily(
        "qanot_provider_state",
        "1 for the state in which a provider account is: ready, cooling, off.",
        labels=["account", "state"],
    )
    rows = ProviderAccount.objects.order_by("pk").values_list("pk", "switched_off_at", "cool_until")
    for pk, switched_off_at, cool_until in rows:
        is_cooling = cool_until is not None and cool_until > now
        is_in = "off" if switched_off_at else "cooling" if is_cooling else "ready"
        for state in ("ready", "cooling", "off"):
            states.add_metric([str(pk), state], state == is_in)
    yield states


def _bots() -> Iterator[Metric]:
    found = figures.bots()
    states = GaugeMetricFamily(
        "qanot_bots", "Bots that are switched on, by how they are.", labels=["state"]
    )
    states.add_metric(["heard"], found.heard)
    states.add_metric(["troubled"], found.troubled)
    states.add_metric(["unheard"], found.unheard)
    yield states
    yield _gauge(
        "qanot_bot_updates_last_hour", "Updates that bots received within the hour.", found.updates
    )
    sends = GaugeMetricFamily(
        "qanot_bot_sends_last_hour", "What bots sent within the hour.", labels=["state"]
    )
    for state, count in found.sends.items():
        sends.add_metric([state], count)
    yield sends
    yield _gauge(
        "qanot_bot_sends_held_back", "Sends that wait since Telegram answered 429.", found.held_back
    )


def _spending() -> Iterator[Metric]:
    spent = GaugeMetricFamily(
        "qanot_spent_today_usd", "What an agent spent in its own day.", labels=["agent"]
    )
    caps = GaugeMetricFamily("qanot_daily_cap_usd", "What it may spend.", labels=["agent"])
    # By number: names are the team's.
    for agent in dashboards.spending(None, limit=MOST_AGENTS):
        spent.add_metric([str(agent.agent)], float(agent.usd))
        if agent.cap_usd is not None:
            caps.add_metric([str(agent.agent)], float(agent.cap_usd))
    yield spent
    yield caps


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=value)


_registry.register(_Deployment())
ProcessCollector(registry=_registry)
PlatformCollector(registry=_registry)
GCCollector(registry=_registry)
