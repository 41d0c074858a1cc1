"""`/healthz`: the process answers. `/readyz`: it can do its work."""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse


def healthz(request: HttpRequest) -> HttpResponse:
    """Alive; no input or output, so that a busy database does not restart a healthy process."""
    return HttpResponse("ok", content_type="text/plain")


def readyz(request: HttpRequest) -> JsonResponse:
    """Database, Redis and migrations; 503 while one of them is missing."""
    checks: dict[str, Callable[[], bool]] = {
        "database": _database_answers,
        "redis": _redis_answers,
        "migrations": _migrations_are_applied,
    }
    found = {name: "ok" if check() else "unavailable" for name, check in checks.items()}
    ready = set(found.values()) == {"ok"}
    return JsonResponse({"ready": ready, **found}, status=200 if ready else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError:
        return False
    return True


def _redis_answers() -> bool:
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=0.5, socket_timeout=0.5
    )
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _migrations_are_applied() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return False
