"""The table of docs/roles.md says what the pages enforce."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.http import HttpRequest
from django.test import RequestFactory

from agents.admin.base import TeamAdmin
from agents.models import Membership
from qanot_site.env import PROJECT
from tests import factories

ROLES = ("owner", "editor", "operator", "member")


def rows() -> Iterator[str]:
    """Yield the table's lines, as the pages answer a user with each role."""
    team = factories.team()
    requests = {}
    for role in ROLES:
        requests[role] = RequestFactory().get("/admin/")
        user = factories.membership(team=team, role=Membership.Role(role)).user
        requests[role].user = user
    pages = [
        (str(model._meta.verbose_name_plural), page)
        for model, page in admin.site._registry.items()
        if isinstance(page, TeamAdmin)
    ]
    for name, page in sorted(pages, key=lambda item: item[0].casefold()):
        cells = [_cell(page, requests[role]) for role in ROLES]
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(page: TeamAdmin, request: HttpRequest) -> str:
    if not page.has_module_permission(request):
        return "–"
    may_edit = (
        page.has_change_permission(request)
        or page.has_add_permission(request)
        or bool(set(page.get_actions(request)) - {"delete_selected"})
    )
    return "edits" if may_edit else "reads"


@pytest.mark.django_db
def test_the_table_says_what_the_pages_enforce() -> None:
    text = (PROJECT / "docs" / "roles.md").read_text()
    table = text.split("## Pages of the administration")[1].split("## ")[0]
    told = [line for line in table.splitlines() if line.startswith("| ")]
    assert told[1:] == list(rows())
