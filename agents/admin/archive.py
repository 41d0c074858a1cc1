"""Archiving instead of deleting, on every page whose rows records point at."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agents.admin.auditing import actor
from agents.services import archive

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class ArchivedFilter(admin.SimpleListFilter):
    """Shows living rows until archived ones are asked for."""

    title = _("state")
    parameter_name = "archived"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> Iterable[tuple[str, "_StrPromise | str"]]:
        return (("yes", _("archived")), ("all", _("all")))

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("in use")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        if self.value() == "all":
            return queryset
        return queryset.filter(archived_at__isnull=self.value() != "yes")


class ArchiveActions:
    """Two actions for those who may change the rows."""

    actions = ("archive_selected", "restore_selected")

    @admin.action(description=_("Archive"), permissions=["change"])
    def archive_selected(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Archive the chosen rows that the user may change."""
        count = archive.archive(self._changeable(request, queryset), by=actor(request))
        messages.success(
            request, ngettext("%(n)s row archived.", "%(n)s rows archived.", count) % {"n": count}
        )

    @admin.action(description=_("Bring back"), permissions=["change"])
    def restore_selected(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        """Bring the chosen rows back."""
        count = archive.restore(self._changeable(request, queryset), by=actor(request))
        messages.success(
            request,
            ngettext("%(n)s row brought back.", "%(n)s rows brought back.", count) % {"n": count},
        )

    def _changeable(self, request: HttpRequest, rows: "QuerySet[Any]") -> "QuerySet[Any]":
        # One list may hold rows of a team that the user edits and of one that they only read.
        narrowed: QuerySet[Any] = self.narrow(  # type: ignore[attr-defined]  # a mixin
            request,
            rows,
            self.edit_roles,  # type: ignore[attr-defined]
        )
        return narrowed
