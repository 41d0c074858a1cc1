"""Rows that a file owns: their pages say which one, and change nothing that it says."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.admin.base import NarrowedByTeam
from agents.models import Agent
from agents.services import managed

NOTE = "kept_in_file"
_WARNING = '<span class="text-orange-700 dark:text-orange-400">{}</span>'


class ManagedNote(NarrowedByTeam):
    """Mixed into a page of rows that a file may own: a note above their fields."""

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Begin with the note, where there is one."""
        fieldsets = super().get_fieldsets(request, obj)
        if not is_managed(obj):
            return fieldsets
        return ((_("Kept in a file"), {"fields": (NOTE,)}), *fieldsets)

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        """Know the note as a field that nobody fills in."""
        return (*super().get_readonly_fields(request, obj), NOTE)

    @admin.display(description=_("where"))
    def kept_in_file(self, row: managed.Managed) -> SafeString:
        """Return which file owns the row, and what is no longer as it says."""
        lines = [format_html("{}", managed.sentence(row))]
        lines += [format_html(_WARNING, told) for told in _drift_in_words(row)]
        return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in lines))


def _drift_in_words(row: managed.Managed) -> Iterator[str]:
    if changed := managed.drift(row):
        names = ", ".join(managed.part_in_words(row, part) for part in changed)
        yield gettext("Changed here since it was applied: %(names)s.") % {"names": names}
    if managed.changed_files(row):
        yield gettext("The file was changed since: it waits to be applied.")


class ManagedAgents(ManagedNote):
    """The agents' page: what a file owns is only shown, with its chain and tools."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse what a file owns, inlines with it."""
        may: bool = super().has_change_permission(request, obj)
        if not may or obj is None:
            return may
        if not isinstance(obj, models.Model):
            # Unfold asks about its buttons with the key instead of the row.
            obj = self.get_queryset(request).filter(pk=obj).first()
        return not is_managed(obj)

    def _changeable(
        self, request: HttpRequest, rows: "models.QuerySet[Agent]"
    ) -> "models.QuerySet[Agent]":
        """Leave out of the list's actions what a file owns, and say so."""
        changeable: models.QuerySet[Agent] = super()._changeable(request, rows)  # type: ignore[misc]
        kept = changeable.exclude(managed_by="").count()
        if kept:
            told = ngettext(
                "%(n)s is kept in a file and stays as it is.",
                "%(n)s are kept in files and stay as they are.",
                kept,
            )
            messages.warning(request, told % {"n": kept})
        return changeable.filter(managed_by="")


class ManagedAccounts(ManagedNote):
    """The accounts' page: how an account stands can be changed, what the file says cannot.

    A key may still be pasted where the file names none: it would have no other way in.
    """

    file_fields: ClassVar[Sequence[str]] = (
        "name",
        "base_url",
        "key_reference",
        "is_free",
        "first_event_s",
        "prompt_cache",
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        """Return also what the file says."""
        names = super().get_readonly_fields(request, obj)
        if not is_managed(obj):
            return names
        fields = self.file_fields
        if getattr(obj, "key_reference", None):
            fields = (*fields, "new_key")
        return (*names, *(name for name in fields if name not in names))

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Leave out the field for a key where the file says where it stands."""
        fieldsets = super().get_fieldsets(request, obj)
        if not (is_managed(obj) and getattr(obj, "key_reference", None)):
            return fieldsets
        return tuple(
            (title, {**options, "fields": tuple(f for f in options["fields"] if f != "new_key")})
            for title, options in fieldsets
        )


def is_managed(row: object) -> bool:
    """Return whether a file owns a row."""
    return managed.is_kind(row) and bool(getattr(row, "managed_by", ""))
