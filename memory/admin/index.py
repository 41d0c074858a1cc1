"""How a team's memory is indexed, how far that is, and a button to do it anew."""

from typing import Any

from django.contrib import admin, messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin.base import TeamAdmin
from agents.core.errors import ProviderError
from agents.models import ProviderAccount, Team
from agents.services import access
from memory.index import rebuilding
from memory.models import MemorySettings


@admin.register(MemorySettings)
class MemorySettingsAdmin(TeamAdmin):
    """By which model a team's memory is searched, and how long its pieces are."""

    team_path = "team"
    nav_title = _("Index")
    change_form_outer_before_template = "admin/memory/index.html"
    fieldsets = (
        (None, {"fields": ("team", "embedder", ("account", "model"), "dimensions")}),
        (_("Pieces"), {"fields": (("chunk_characters", "chunk_overlap"),)}),
        (_("Record"), {"fields": ("updated_at",), "classes": ("collapse",)}),
    )
    readonly_fields = ("updated_at",)
    list_display = ("team", "embedder", "model", "chunk_characters", "chunk_overlap", "updated_at")
    list_select_related = ("team",)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Give each of the user's teams its row: the defaults, until somebody changes them."""
        teams = access.teams(request, access.EDITORS)
        missing = Team.objects.filter(archived_at=None)
        if teams is not None:
            missing = missing.filter(pk__in=teams)
        missing = missing.exclude(pk__in=MemorySettings.objects.values("team"))
        MemorySettings.objects.bulk_create(
            (MemorySettings(team=team) for team in missing), ignore_conflicts=True
        )
        response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def formfield_for_foreignkey(
        self, db_field: "models.ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "account" and field is not None:
            field.queryset = field.queryset.filter(kind=ProviderAccount.Kind.OPENAI)
            # An account is added where it is tested, on a page that fits no pop-up.
            wrapper = field.widget
            wrapper.can_add_related = wrapper.can_change_related = False
            wrapper.can_view_related = False
        return field

    def get_urls(self) -> list[URLPattern]:
        rebuild = self.admin_site.admin_view(require_POST(self.rebuild))
        name = "memory_memorysettings_rebuild"
        return [path("<int:pk>/rebuild/", rebuild, name=name), *super().get_urls()]

    def rebuild(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Begin to index the team's memory anew; the worker goes on with it."""
        row = self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404
        if not self.has_change_permission(request, row):
            return HttpResponse(status=403)
        try:
            rebuilding.rebuild(row.team_id)
        except ProviderError:
            messages.error(
                request, gettext("The account for the meanings did not answer. Test it first.")
            )
        else:
            messages.success(
                request,
                gettext(
                    "The index is built anew in the background; the old one is used till then."
                ),
            )
        return HttpResponseRedirect(reverse("admin:memory_memorysettings_change", args=[pk]))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show how far each version of the index is."""
        row = self.get_object(request, object_id)
        context = {
            **(extra_context or {}),
            "memory_settings": row,
            "versions": [
                {"is": version, "percent": _percent(version)}
                for version in rebuilding.progress(row.team_id)
            ],
            "may_rebuild": self.has_change_permission(request, row),
        }
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response


def _percent(version: rebuilding.Progress) -> int:
    """Return how much of a version can be found, by words and, where it has a model, by meaning."""
    if not version.passages:
        return 100 if version.is_filled or version.state == "active" else 0
    done = version.indexed
    whole = version.passages
    if version.space:
        done, whole = done + version.passages - version.waiting, 2 * whole
    share = int(100 * done / whole)
    return share if version.is_filled or version.state == "active" else min(share, 99)
