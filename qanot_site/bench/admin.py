"""`bench admin`: how long the admin's pages take over a team of many years."""

import time
from collections.abc import Iterator
from typing import Any, Final

from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from rich.table import Table

from agents.admin.base import TeamAdmin
from agents.models import Agent, User
from qanot_site.bench import crowd, report

REQUESTS: Final = 15


def measure() -> tuple[report.Figures, Table]:
    """Load the rows, ask for every page, and return the figures with a table."""
    owner = crowd.load()
    root = User.objects.create_superuser("bench-root")
    pages: dict[str, report.Figures] = {}
    found = list(_pages())
    # The test client says so to every server: it stands for a browser on this machine.
    with (
        override_settings(ALLOWED_HOSTS=["testserver"], SECURE_SSL_REDIRECT=False),
        report.bar("Asking for pages", len(found)) as count,
    ):
        for name, address, is_teams in found:
            client = Client()
            client.force_login(owner if is_teams else root)
            pages[name] = _ask(client, address)
            count(f"{name}: {pages[name]['p95_ms']} ms, {pages[name]['queries']} queries")
    heads = ["page", "p95 ms", "queries"]
    rows = [(name, each["p95_ms"], each["queries"]) for name, each in sorted(pages.items())]
    title = f"{crowd.SESSIONS:,} conversations, {crowd.ENTRIES:,} entries"
    return {"pages": pages}, report.table(title, heads, rows)


def _ask(client: Client, address: str) -> report.Figures:
    answer = client.get(address)
    if answer.status_code != 200:
        return {"p95_ms": None, "queries": None, "status": answer.status_code}
    counted = _Counter()
    with connection.execute_wrapper(counted):
        client.get(address)
    times = []
    for _number in range(REQUESTS):
        begun = time.perf_counter()
        client.get(address)
        times.append((time.perf_counter() - begun) * 1_000)
    return {"p95_ms": report.spread(times)["p95"], "queries": counted.queries}


class _Counter:
    """Counts statements. Django's own log is emptied by each request that begins."""

    def __init__(self) -> None:
        self.queries = 0

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        self.queries += 1
        return execute(*arguments)


def _pages() -> Iterator[tuple[str, str, bool]]:
    """Yield each page's name and address, and whether a team's owner opens it."""
    yield "index", reverse("admin:index"), True
    yield "board", reverse("admin:board"), True
    agent = Agent.objects.latest("id")
    for name in ("persona", "preview"):
        yield f"agent.{name}", reverse(f"admin:agents_agent_{name}", args=[agent.pk]), True
    for model, page in admin.site._registry.items():
        meta = model._meta
        is_teams = isinstance(page, TeamAdmin)
        base = f"admin:{meta.app_label}_{meta.model_name}"
        yield f"{meta.model_name}.list", reverse(f"{base}_changelist"), is_teams
        row = _middle(model)
        if row is not None:
            address = reverse(f"{base}_change", args=[row])
            yield f"{meta.model_name}.change", address, is_teams


def _middle(model: type[models.Model]) -> object:
    """Return the key of an ordinary row: neither the first nor the newest."""
    rows = model._default_manager.order_by("pk")
    last = rows.values_list("pk", flat=True).last()
    if last is None:
        return None
    half = last // 2 if isinstance(last, int) else last
    return rows.filter(pk__gte=half).values_list("pk", flat=True).first()
