"""Redis, beat and the workers."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import redis
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from qanot_site import beat_life
from qanot_site.findings.registry import Finding, check, figures
from sessions import dashboards
from sessions.models import WorkerProcess

# The sweep of any worker finds work within seconds.
LONGEST_WAIT: Final = timedelta(minutes=1)
# The beat looks at its plan at least so often.
LONGEST_TICK: Final = timedelta(minutes=1)
# As many rows of dead workers as many restarts leave within the days that they are kept.
MOST_DEAD: Final = 1_000


@check(about="deployment", needs_database=False)
def redis_answers() -> Iterator[Finding]:
    """Yield a Redis that does not answer."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)
    try:
        client.ping()
    except redis.RedisError as error:
        yield Finding(
            code="redis.unreachable",
            level="warning",
            subject=_("Redis"),
            text=_(
                "It does not answer (%(error)s): answers come seconds late and not word by word."
            )
            % {"error": type(error).__name__},
            fix=_("Start Redis or Valkey, and compare REDIS_URL with where it listens."),
        )
    finally:
        client.close()


@check(about="deployment")
def workers() -> Iterator[Finding]:
    """Yield that nobody answers, and work that waits although somebody could."""
    living = dashboards.living_workers()
    if not living:
        yield Finding(
            code="workers.none",
            level="warning",
            subject=_("The workers"),
            text=_("None is alive, so nobody is answered."),
            fix=_("Start the platform with: python3 manage.py up — or the unit qanot-worker@1."),
        )
    oldest = dashboards.load(None).oldest_at
    if living and oldest is not None and timezone.now() - oldest > LONGEST_WAIT:
        yield Finding(
            code="turns.waiting",
            level="warning",
            subject=_("The queue"),
            text=_("A message waits for %(seconds)s seconds although workers are alive.")
            % figures(seconds=int((timezone.now() - oldest).total_seconds())),
            fix=_("Look at Board → Waiting; raise QANOT_STREAMS, or start more workers."),
        )
    dead = WorkerProcess.objects.exclude(pk__in=living).count()
    if dead > MOST_DEAD:
        yield Finding(
            code="workers.restart",
            level="note",
            subject=_("The workers"),
            text=_("%(dead)s workers ended within the last days.") % figures(dead=dead),
            fix=_("Look into the log for why they end so often."),
        )


@check(about="deployment")
def beat() -> Iterator[Finding]:
    """Yield that no beat holds the lock, or that the one which does stands still."""
    life = beat_life.holder()
    if life is None:
        yield Finding(
            code="beat.none",
            level="warning",
            subject=_("The beat"),
            text=_("Nobody holds its lock, so planned work does not start."),
            fix=_("Start the platform with: python3 manage.py up — or the unit qanot-beat."),
        )
    elif life.ticked_at is not None and timezone.now() - life.ticked_at > LONGEST_TICK:
        yield Finding(
            code="beat.silent",
            level="warning",
            subject=_("The beat"),
            text=_("It holds its lock, but has not ticked for %(seconds)s seconds.")
            % figures(seconds=int((timezone.now() - life.ticked_at).total_seconds())),
            fix=_("Restart the beat: another one takes the lock when it lets go."),
        )
