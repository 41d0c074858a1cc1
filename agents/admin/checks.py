"""System checks: no page of our rows without its way to a team."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.core import checks
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models.constants import LOOKUP_SEP

from agents.admin.base import NarrowedByTeam, SuperuserAdmin, TeamAdmin
from agents.models import Team

OUR_APPS = frozenset({"agents", "memory", "bot_sessions"})


@checks.register("admin")
def check_team_paths(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Check every registered page and its inlines."""
    found: list[checks.CheckMessage] = []
    for model, page in admin.site._registry.items():
        if isinstance(page, TeamAdmin):
            found += check_path(page, model)
            found += [
                problem for inline in page.inlines for problem in check_inline(inline, inline.model)
            ]
        elif model._meta.app_label in OUR_APPS and not isinstance(page, SuperuserAdmin):
            found.append(
                checks.Error(
                    f"The page of {model._meta.label} is not narrowed by team.",
                    hint="Derive it from agents.admin.base.TeamAdmin.",
                    obj=type(page),
                    id="agents.E003",
                )
            )
    return found


def check_inline(inline: type[Any], model: type[models.Model]) -> list[checks.CheckMessage]:
    """Check one inline of a narrowed page."""
    if issubclass(inline, NarrowedByTeam):
        return check_path(inline, model)
    return [
        checks.Error(
            f"The inline {inline.__name__} is not narrowed by team.",
            hint="Derive it from agents.admin.base.TeamInline.",
            obj=inline,
            id="agents.E003",
        )
    ]


def check_path(
    page: NarrowedByTeam | type[NarrowedByTeam], model: type[models.Model]
) -> list[checks.CheckMessage]:
    """Check that a page has a path and that it ends at a team."""
    if not page.team_path:
        return [
            checks.Error(
                f"The page of {model._meta.label} does not say how its team is reached.",
                hint='Set team_path, for example "agent__team".',
                obj=page,
                id="agents.E001",
            )
        ]
    if not _leads_to_team(model, page.team_path):
        return [
            checks.Error(
                f'The path "{page.team_path}" of {model._meta.label} does not end at a team.',
                hint="It must end at a foreign key to Team, or at a plain column team_id.",
                obj=page,
                id="agents.E002",
            )
        ]
    return []


def _leads_to_team(model: type[models.Model], path: str) -> bool:
    *hops, last = path.split(LOOKUP_SEP)
    here: Any = model
    try:
        for hop in hops:
            here = here._meta.get_field(hop).related_model
        if last == "pk":
            return here is Team
        field = here._meta.get_field(last)
    except (FieldDoesNotExist, AttributeError):
        return False
    return field.related_model is Team or field.name == "team_id"
