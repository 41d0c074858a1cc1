"""Log-ins of a team's people: since when and with what, and their end."""

from collections.abc import Collection
from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import display

from agents.admin.auditing import actor
from agents.admin.base import ReadOnlyAdmin
from agents.admin.owners import OwnersAdmin
from agents.models import LoginRecord, User
from agents.services import access, browsers, logins


class OpenFilter(admin.SimpleListFilter):
    """Shows log-ins that hold until all are asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("all", _("all")),)

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("logged in")}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: "QuerySet[LoginRecord]"
    ) -> "QuerySet[LoginRecord]":
        return queryset if self.value() == "all" else queryset.filter(ended_at=None)


@admin.register(LoginRecord)
class LoginRecordAdmin(OwnersAdmin, ReadOnlyAdmin):
    """Where people of the team are logged in. From which address, only they themselves see."""

    team_path = "user__memberships__team"
    is_shared = True
    fields = ("user", "shown_browser", "created_at", "ended_at")
    readonly_fields = fields
    list_display = ("user", "shown_browser", "created_at", "ended_at")
    list_select_related = ("user",)
    list_filter = (OpenFilter,)
    search_fields = ("user__username", "user__first_name", "user__last_name")
    ordering = ("-id",)
    actions = ("end_selected",)

    def narrow(
        self, request: HttpRequest, rows: "models.QuerySet[Any]", roles: Collection[str]
    ) -> "models.QuerySet[Any]":
        """Return log-ins of people of the teams; each once, however many teams they share."""
        teams = access.teams(request, roles)
        if teams is None:
            return rows
        return rows.filter(user__in=User.objects.filter(memberships__team__in=teams))

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        teams = access.teams(request, self.read_roles)
        if obj is None or teams is None:
            return teams is None or bool(teams)
        key = obj.pk if isinstance(obj, models.Model) else obj
        return self.get_queryset(request).filter(pk=key).exists()

    def has_end_permission(self, request: HttpRequest) -> bool:
        """Return whether the user owns any team; whose log-in may be ended is asked of each."""
        return self.has_view_permission(request)

    @display(description=_("browser"))
    def shown_browser(self, row: LoginRecord) -> str:
        """Return the browser and system in short."""
        return browsers.in_short(row.user_agent)

    @admin.action(description=_("Log out there"), permissions=["end"])
    def end_selected(self, request: HttpRequest, queryset: "QuerySet[LoginRecord]") -> None:
        """End the chosen log-ins; those of superusers are left to superusers."""
        by = request.user
        rows = list(self.narrow(request, queryset, access.OWNERS).select_related("user"))
        allowed = [row for row in rows if isinstance(by, User) and logins.may_end(by, row.user)]
        count = logins.end(allowed, by=actor(request))
        messages.success(
            request,
            ngettext("%(n)s log-in ended.", "%(n)s log-ins ended.", count) % {"n": count},
        )
        if len(allowed) < len(rows):
            messages.warning(request, _("Log-ins of superusers are ended by superusers only."))
