"""Accounts at model providers, and how each stands right now."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from agents.admin.base import TeamAdmin
from agents.models import ProviderAccount
from agents.services import access, accounts


@admin.register(ProviderAccount)
class ProviderAccountAdmin(TeamAdmin):
    """The team's accounts.

    Only a superuser says where an account's requests go and which variable holds its key:
    whoever could set both would have any secret of this deployment sent to their own address.
    """

    team_path = "team"
    fixed_fields = ("kind",)
    fieldsets = (
        (None, {"fields": ("team", "name", "kind", "base_url", "key_reference")}),
        (
            _("State"),
            {
                "fields": (
                    "state",
                    "failures",
                    "cool_until",
                    "switched_off_at",
                    "last_error_code",
                    "last_error",
                    "last_error_at",
                )
            },
        ),
    )
    readonly_fields = (
        "state",
        "failures",
        "cool_until",
        "switched_off_at",
        "last_error_code",
        "last_error",
        "last_error_at",
    )
    list_display = (
        "name",
        "team",
        "kind",
        "state_label",
        "failures",
        "last_error_code",
        "last_error_at",
    )
    list_select_related = ("team",)
    list_filter = ("team", "kind")
    search_fields = ("name",)
    # Also what Django 6 will assume of an address without a scheme.
    formfield_overrides: ClassVar = {models.URLField: {"assume_scheme": "https"}}
    actions = ("clear_selected", "switch_off_selected")
    actions_submit_line = ("clear_account", "switch_account_off")

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Leave the state out until there is one."""
        return self.fieldsets if obj else self.fieldsets[:-1]

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        names = tuple(super().get_readonly_fields(request, obj))
        if access.is_superuser(request):
            return names
        return (*names, "base_url", "key_reference")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return access.is_superuser(request)

    @display(
        description=_("state"),
        label={"ready": "success", "cooling": "warning", "off": "danger"},
    )
    def state_label(self, account: ProviderAccount) -> tuple[str, str]:
        """Return the state's name, which colours it, and how it reads."""
        if account.switched_off_at is not None:
            return "off", gettext("switched off")
        now = timezone.now()
        if account.cool_until is not None and account.cool_until > now:
            until = date_format(timezone.localtime(account.cool_until), "TIME_FORMAT")
            return "cooling", gettext("cooling down until %(time)s") % {"time": until}
        return "ready", gettext("ready")

    @admin.display(description=_("state"))
    def state(self, account: ProviderAccount) -> str:
        """Return the state in words, for the account's own page."""
        words: str = self.state_label(account)[1]
        return words

    @admin.action(description=_("Clear: back into use"), permissions=["change"])
    def clear_selected(self, request: HttpRequest, queryset: "QuerySet[ProviderAccount]") -> None:
        """Put the chosen accounts back into use."""
        rows = list(self.narrow(request, queryset, self.edit_roles))
        for account in rows:
            accounts.clear(account)
        messages.success(
            request,
            ngettext("%(n)s account cleared.", "%(n)s accounts cleared.", len(rows))
            % {"n": len(rows)},
        )

    @admin.action(description=_("Switch off"), permissions=["change"])
    def switch_off_selected(
        self, request: HttpRequest, queryset: "QuerySet[ProviderAccount]"
    ) -> None:
        """Take the chosen accounts out of use."""
        rows = list(self.narrow(request, queryset, self.edit_roles))
        for account in rows:
            accounts.switch_off(account)
        messages.success(
            request,
            ngettext("%(n)s account switched off.", "%(n)s accounts switched off.", len(rows))
            % {"n": len(rows)},
        )

    @action(description=_("Clear"), permissions=["change"])
    def clear_account(self, request: HttpRequest, obj: ProviderAccount) -> None:
        """Put the account of the page back into use."""
        accounts.clear(obj)
        messages.success(request, _("The account is back in use."))

    @action(description=_("Switch off"), permissions=["change"])
    def switch_account_off(self, request: HttpRequest, obj: ProviderAccount) -> None:
        """Take the account of the page out of use."""
        accounts.switch_off(obj)
        messages.success(request, _("The account is switched off."))
