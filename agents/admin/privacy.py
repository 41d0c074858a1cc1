"""Text of private conversations: its length for all who read the page, its words for its person.

Whether a row's words may be shown is decided by the database for the user who asks, row by row.
Neither a role nor being a superuser changes the answer. A team's owners may let somebody read
other people's (``Membership.may_view_private``); ``private_views`` writes each such look down.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.db.models.functions import Left, Length
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agents.services import access

EXCERPT = 100


def belongs_to_user(request: HttpRequest, person_path: str) -> models.Q:
    """Return the condition that a row's person is the user's own."""
    return models.Q(**{f"{person_path}__user": request.user.pk})


class PrivateText:
    """Mixed into pages and inlines that show a text which may be private.

    Attributes:
        text_path: The lookup that leads from a row to the text, such as ``content__text``.
        person_path: The lookup that leads to whose text it is.
        text_columns: What of a list or page shows the text or its beginning.

    Rows carry ``is_readable``, ``text_length`` and, where it may be read, ``text_start``. For
    those who may read other people's texts they also carry ``is_others``, where only that opens
    the row, with ``private_team`` and ``private_person``.
    """

    text_path: ClassVar[str]
    person_path: ClassVar[str] = "person"
    text_columns: ClassVar[Iterable[str]] = ("text_in_short", "text_in_full")
    # Of the page or inline that it is mixed into.
    team_path: ClassVar[str]
    fields: ClassVar[Any]

    def readable(self, request: HttpRequest) -> models.Q:
        """Return the condition under which a row's text is the user's own, or everybody's."""
        raise NotImplementedError

    def whose(self) -> str:
        """Return the lookup that leads from a row to the person whose text it is."""
        return self.person_path

    def shows_text(self, columns: Iterable[object]) -> bool:
        """Return whether a list or page of these columns shows any text."""
        return not set(self.text_columns).isdisjoint(columns)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Any]":
        """Return the rows with what may be said of their text; the text itself stays behind."""
        rows: models.QuerySet[Any] = super().get_queryset(request)  # type: ignore[misc]  # a mixin
        own = self.readable(request)
        text = models.F(self.text_path)
        may_read = own
        if teams := access.private_teams(request):
            opened = models.Q(**{f"{self.team_path}__in": teams})
            may_read = own | opened
            rows = rows.annotate(
                is_others=models.Case(
                    models.When(own, then=False),
                    models.When(opened, then=True),
                    default=False,
                    output_field=models.BooleanField(),
                ),
                private_team=models.F(self.team_path),
                private_person=models.F(self.whose()),
            )
        rows = rows.annotate(
            is_readable=models.Case(
                models.When(may_read, then=True),
                default=False,
                output_field=models.BooleanField(),
            ),
            text_length=Length(text),
            text_start=models.Case(
                models.When(may_read, then=Left(text, EXCERPT + 1)),
                default=None,
                output_field=models.TextField(),
            ),
        )
        return rows if "__" in self.text_path else rows.defer(self.text_path)

    @admin.display(description=_("text"))
    def text_in_short(self, row: Any) -> str | SafeString:
        """Return the beginning of the text for a list."""
        if not row.is_readable:
            return private_mark(row.text_length)
        return Truncator(row.text_start or "").chars(EXCERPT)

    @admin.display(description=_("text"))
    def text_in_full(self, row: Any) -> str | SafeString:
        """Return the text for the row's own page."""
        if not row.is_readable:
            return private_mark(row.text_length)
        here = row
        for name in self.text_path.split("__"):
            here = getattr(here, name, None)
        return as_written(here or "")


class SharedScope(PrivateText):
    """For rows in a scope of memory: what is a person's is that person's alone."""

    scope_path: ClassVar[str] = ""

    def whose(self) -> str:
        """Return the lookup that leads to the scope's person."""
        return f"{self.scope_path}person"

    def readable(self, request: HttpRequest) -> models.Q:
        prefix = self.scope_path
        shared = models.Q(**{f"{prefix}scope__in": ("chat", "agent", "team")})
        return shared | belongs_to_user(request, self.whose())


def private_mark(length: int | None) -> SafeString:
    """Return what stands in the place of somebody else's words."""
    count = length or 0
    size = ngettext("%(count)s character", "%(count)s characters", count) % {"count": count}
    return format_html('<span class="text-base-400">{} · {}</span>', _("private"), size)


def as_written(text: str) -> SafeString:
    """Return a text with its line breaks, escaped."""
    return format_html(
        '<div class="qanot-text whitespace-pre-wrap break-words font-mono text-sm">{}</div>', text
    )
