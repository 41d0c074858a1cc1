"""Who did what: to be searched, read with what changed, and taken along as a table."""

import csv
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.admin.auditing import actor
from agents.admin.base import ReadOnlyAdmin
from agents.admin.links import to_page
from agents.admin.owners import OwnersAdmin
from agents.models import AuditEvent, User
from agents.services import access, audit

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MOST_EXPORTED: Final = 50_000
_COLUMNS: Final = ("created_at", "actor", "action", "subject", "reason", "changes")
_MODELS: Final = {noun: name for name, noun in audit.NOUNS.items()}


class KindFilter(admin.SimpleListFilter):
    """Groups the actions by what they were done to."""

    title = _("about")
    parameter_name = "about"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> Iterable[tuple[str, "_StrPromise | str"]]:
        return (
            ("agent,chainlink,toolgrant,document,proposal", _("agents and documents")),
            ("account", _("provider accounts")),
            ("membership,invitation,team,person,user", _("people and roles")),
            ("login,password", _("log-ins")),
            ("token,api", _("tokens and the API")),
            ("private,content,export", _("private texts and exports")),
            ("config", _("configuration files")),
        )

    def queryset(
        self, request: HttpRequest, queryset: "models.QuerySet[Any]"
    ) -> "models.QuerySet[Any]":
        if self.value() not in {value for value, _words in self.lookup_choices}:
            return queryset
        wanted = models.Q()
        for kind in str(self.value()).split(","):
            wanted |= models.Q(action__startswith=f"{kind}.")
        return queryset.filter(wanted)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin, OwnersAdmin):
    """Acts that somebody may have to answer for; the team's owners read them."""

    team_path = "team_id"
    change_list_template = "admin/audit/list.html"
    fields = readonly_fields = (
        "created_at",
        "who",
        "action",
        "what",
        "reason",
        "what_changed",
    )
    list_display = ("created_at", "who", "action", "what", "reason", "in_short")
    list_filter = (KindFilter, "created_at")
    link_lookups = ("subject", "actor", "reason", "action")
    search_fields = ("=actor", "action__startswith", "subject__startswith", "=reason")
    search_help_text = _("user:3, agent.changed, agent:1, person:4")

    # As a table.

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(require_POST(self.export))
        return [path("export/", export, name="agents_auditevent_export"), *super().get_urls()]

    def export(self, request: HttpRequest) -> HttpResponse:
        """Send what the list shows as CSV; that is an act of its own."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        shown = self.get_changelist_instance(request)
        rows = shown.get_queryset(request).order_by("-id")[:MOST_EXPORTED]
        teams = access.teams(request, access.OWNERS)
        for team_id in [None] if teams is None else sorted(teams):
            audit.record(
                team_id=team_id,
                actor=actor(request),
                action="export.made",
                subject="auditevent:list",
                reason=request.META.get("QUERY_STRING", ""),
            )
        response = HttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="audit.csv"'
        response["Cache-Control"] = "no-store"
        return response

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list, its actors by name."""
        address = reverse("admin:agents_auditevent_export")
        query = request.GET.urlencode()
        context = {"export_url": f"{address}?{query}" if query else address}
        response = super().changelist_view(request, context | (extra_context or {}))
        shown = (getattr(response, "context_data", None) or {}).get("cl")
        if shown is not None:
            _name_actors(shown.result_list)
        return response

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row, its actor by name."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            _name_actors([row])
        return row

    # How one reads.

    @admin.display(description=_("who"), ordering="actor")
    def who(self, row: Any) -> str:
        """Return who did it, by the name that they have now."""
        return getattr(row, "actor_name", "") or str(row.actor)

    @admin.display(description=_("on what"), ordering="subject")
    def what(self, row: AuditEvent) -> str | SafeString:
        """Return a link to what it was done to, where that has a page."""
        return _link(row.subject)

    @admin.display(description=_("changed"))
    def in_short(self, row: AuditEvent) -> str:
        """Return the names of what changed."""
        return ", ".join(field for field, _before, _after in _pairs(row)) or "–"

    @admin.display(description=_("what changed"))
    def what_changed(self, row: AuditEvent) -> str | SafeString:
        """Return each field with its value before and after."""
        lines = [(name, _plain(before), _plain(after)) for name, before, after in _pairs(row)]
        if not lines:
            return "–"
        return format_html(
            '<table class="qanot-changes"><thead><tr><th>{}</th><th>{}</th><th>{}</th></tr></thead>'
            "<tbody>{}</tbody></table>",
            _("field"),
            _("before"),
            _("after"),
            format_html_join(
                "", "<tr><th>{}</th><td><del>{}</del></td><td><ins>{}</ins></td></tr>", lines
            ),
        )


def _name_actors(rows: Iterable[Any]) -> None:
    """Look up the names of those users who did something, all at once."""
    found = list(rows)
    keys = {int(row.actor[5:]) for row in found if _is_user(row.actor)}
    names = dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))
    for row in found:
        if _is_user(row.actor):
            name = names.get(int(row.actor[5:]))
            row.actor_name = f"{name} ({row.actor})" if name else row.actor


def _is_user(text: str) -> bool:
    return text.startswith("user:") and text[5:].isdecimal()


def _pairs(row: AuditEvent) -> Iterator[tuple[str, Any, Any]]:
    if row.changes is None:
        return
    for name, (before, after) in audit.StoredChanges.model_validate(row.changes).fields.items():
        yield name, before, after


def _plain(value: Any) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value)


def _link(subject: str) -> str | SafeString:
    noun, _separator, key = subject.partition(":")
    name = _MODELS.get(noun, noun)
    if not key.isdecimal():
        return subject
    for app in ("agents", "bot_sessions", "memory"):
        try:
            apps.get_model(app, name)
            return to_page(reverse(f"admin:{app}_{name}_change", args=[key]), subject)
        except (LookupError, NoReverseMatch):
            continue
    return subject


class _Echo:
    """Gives the CSV writer's lines back instead of writing them."""

    def write(self, line: str) -> str:
        return line


def _lines(rows: "models.QuerySet[AuditEvent]") -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow([capfirst(name.replace("_", " ")) for name in _COLUMNS])
    for row in rows.iterator(chunk_size=1_000):
        changes = "; ".join(f"{name}: {_plain(a)} → {_plain(b)}" for name, a, b in _pairs(row))
        values = (row.created_at.isoformat(), row.actor, row.action, row.subject, row.reason)
        yield writer.writerow([_harmless(value) for value in (*values, changes)])


def _harmless(value: str) -> str:
    # A spreadsheet would take it for a formula.
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
