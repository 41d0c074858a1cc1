"""API tokens: seen and revoked here; a secret is shown once, where it is made."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agents.admin.auditing import actor
from agents.admin.base import ReadOnlyAdmin
from agents.models import ApiToken
from agents.services import tokens


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Programs that act for people of the team."""

    team_path = "team"
    fields = (
        "team",
        "person",
        "name",
        "prefix",
        "scopes",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    list_display = (
        "name",
        "prefix",
        "person",
        "team",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    list_select_related = ("person", "team")
    list_filter = ("team", "revoked_at")
    search_fields = ("name", "prefix", "person__display_name")
    ordering = ("-id",)
    actions = ("revoke_selected",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether the user edits any team; which one is asked of each token."""
        return self._may(request, self.edit_roles, None)

    @admin.action(description=_("Revoke"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: "QuerySet[ApiToken]") -> None:
        """Revoke the chosen tokens of teams that the user edits."""
        rows = list(self.narrow(request, queryset, self.edit_roles))
        for token in rows:
            tokens.revoke(token, by=actor(request))
        messages.success(
            request,
            ngettext("%(n)s token revoked.", "%(n)s tokens revoked.", len(rows)) % {"n": len(rows)},
        )
