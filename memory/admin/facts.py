"""Noted facts: where they come from, what became of them, and the few acts on them."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin, yes_or_dash
from agents.admin.privacy import SharedScope, as_written, private_mark
from agents.models import User
from agents.services import access
from memory import quarantine, sharing, superseding
from memory.admin.scopes import SCOPE, may_change, may_judge
from memory.errors import NotShareable
from memory.models import Origin, WalEntry

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Act = Callable[[HttpRequest, WalEntry, User], None]

_COLOURS: Final = {"holds": "success", "waits": "warning", "replaced": "info", "gone": "danger"}


def standing_of(row: WalEntry) -> str:
    """Return how a fact stands: ``holds``, ``waits``, ``replaced`` or ``gone``."""
    if row.retracted_at is not None or row.category == WalEntry.Category.FORGET:
        return "gone"
    if row.superseded_at is not None:
        return "replaced"
    if row.origin == Origin.UNTRUSTED and row.accepted_at is None:
        return "waits"
    return "holds"


_STANDINGS: Final[dict[str, "_StrPromise"]] = {
    "holds": _("holds"),
    "waits": _("in quarantine"),
    "replaced": _("replaced"),
    "gone": _("taken back"),
}


class StandingFilter(admin.SimpleListFilter):
    """Shows what holds, what waits in quarantine, or what was."""

    title = _("standing")
    parameter_name = "standing"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> Iterable[tuple[str, "_StrPromise | str"]]:
        return tuple(_STANDINGS.items())

    def queryset(
        self, request: HttpRequest, queryset: "models.QuerySet[Any]"
    ) -> "models.QuerySet[Any]":
        holds = queryset.filter(superseding.HOLDS)
        match self.value():
            case "holds":
                return holds.filter(superseding.TRUSTED).exclude(category="forget")
            case "waits":
                return holds.exclude(superseding.TRUSTED)
            case "replaced":
                return queryset.filter(superseded_at__isnull=False)
            case "gone":
                return queryset.filter(
                    models.Q(retracted_at__isnull=False) | models.Q(category="forget")
                )
            case _:
                return queryset


@admin.register(WalEntry)
class WalEntryAdmin(SharedScope, ReadOnlyAdmin):
    """Facts by person, with their source; those that hold no longer say so."""

    team_path = "team"
    text_path = "text"
    text_columns = ("text_in_short", "text_in_full", "value_or_private", "evidence_or_private")
    change_form_outer_before_template = "admin/memory/fact.html"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "text_in_full",
                    "standing_in_words",
                    "category",
                    "value_or_private",
                    "denied",
                )
            },
        ),
        (_("Whose"), {"fields": SCOPE}),
        (
            _("Where it comes from"),
            {
                "fields": (
                    "origin_in_words",
                    "author",
                    "source_link",
                    "thread",
                    "language",
                    "created_at",
                    "mentions",
                    "last_said_at",
                    "confidence",
                    "evidence_or_private",
                )
            },
        ),
        (
            _("What became of it"),
            {
                "fields": (
                    "is_durable",
                    "replaced_by",
                    "superseded_at",
                    "retracted_at",
                    "shared_from_link",
                    "shared_as",
                    "accepted_by",
                    "accepted_at",
                )
            },
        ),
    )  # fmt: skip
    readonly_fields = (
        *SCOPE,
        "text_in_full",
        "standing_in_words",
        "category",
        "value_or_private",
        "denied",
        "origin_in_words",
        "author",
        "source_link",
        "thread",
        "language",
        "created_at",
        "mentions",
        "last_said_at",
        "confidence",
        "evidence_or_private",
        "is_durable",
        "replaced_by",
        "superseded_at",
        "retracted_at",
        "shared_from_link",
        "shared_as",
        "accepted_by",
        "accepted_at",
    )
    list_display = (
        "created_at",
        "text_in_short",
        "standing",
        "category",
        "scope",
        "agent",
        "person",
        "origin_in_words",
        "mentions",
        "source",
    )
    list_select_related = ("agent", "person")
    list_filter = (
        StandingFilter,
        "category",
        "scope",
        "origin",
        "is_durable",
        "agent",
        "person",
        "created_at",
    )
    link_lookups = ("source", "person__id__exact")
    search_fields = ("source", "agent__name", "person__display_name", "chat__title")

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[WalEntry]":
        """Leave behind what is as private as the text."""
        rows: models.QuerySet[WalEntry] = super().get_queryset(request)
        return rows.defer("text", "value", "evidence").select_related("person", "agent")

    def count_waiting(self, request: HttpRequest) -> int:
        """Return how many texts from outside wait for a decision in the user's teams."""
        return self.narrow(request, quarantine.waiting(), self.edit_roles).count()

    @display(description=_("standing"), label=_COLOURS)
    def standing(self, row: WalEntry) -> tuple[str, str]:
        found = standing_of(row)
        return found, str(_STANDINGS[found])

    @admin.display(description=_("standing"))
    def standing_in_words(self, row: WalEntry) -> str:
        return str(_STANDINGS[standing_of(row)])

    @admin.display(description=_("origin"), ordering="origin")
    def origin_in_words(self, row: WalEntry) -> str:
        return gettext("noted by the model") if row.is_by_model else row.get_origin_display()

    @admin.display(description=_("negated"))
    def denied(self, row: WalEntry) -> str:
        return yes_or_dash(row.is_negated)

    @admin.display(description=_("value"))
    def value_or_private(self, row: Any) -> str | SafeString:
        return (row.value or "–") if row.is_readable else private_mark(len(row.value))

    @admin.display(description=_("evidence"))
    def evidence_or_private(self, row: Any) -> str | SafeString:
        if not row.is_readable:
            return private_mark(len(row.evidence))
        return as_written(row.evidence) if row.evidence else "–"

    @admin.display(description=_("source"))
    def source_link(self, row: WalEntry) -> str:
        """Return where it was said, as the log's other pages are found by it."""
        return links.to_list(WalEntry, row.source, source=row.source)

    @admin.display(description=_("replaced by"))
    def replaced_by(self, row: WalEntry) -> str:
        return links.to_row(WalEntry, row.superseded_by_id, f"fact:{row.superseded_by_id}")

    @admin.display(description=_("shared from"))
    def shared_from_link(self, row: WalEntry) -> str:
        return links.to_row(WalEntry, row.shared_from_id, f"fact:{row.shared_from_id}")

    @admin.display(description=_("shared as"))
    def shared_as(self, row: WalEntry) -> str:
        shares = row.shares.filter(superseding.HOLDS)
        return links.joined(
            links.to_row(WalEntry, share.pk, share.get_scope_display()) for share in shares
        )

    def get_urls(self) -> list[URLPattern]:
        """Return the buttons' addresses before the page's."""
        acts: dict[str, Act] = {
            "forget": _forget,
            "replace": _replace,
            "share": _share,
            "unshare": _unshare,
            "decide": _decide,
        }
        own = [
            path(
                f"<int:pk>/{name}/",
                self.admin_site.admin_view(require_POST(partial(self.act, act))),
                name=f"memory_walentry_{name}",
            )
            for name, act in acts.items()
        ]
        return [*own, *super().get_urls()]

    def act(self, act: Act, request: HttpRequest, pk: int) -> HttpResponse:
        """Do what a button asks to a fact that the user may change; any other is not there."""
        row = self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404
        is_judging = act is _decide
        if not (may_judge(request, row) if is_judging else may_change(request, row)):
            return HttpResponse(status=403)
        act(request, row, access.user_of(request))
        return HttpResponseRedirect(reverse("admin:memory_walentry_change", args=[pk]))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the buttons that this user has for this fact."""
        row = self.get_object(request, object_id)
        found = standing_of(row)
        may = may_change(request, row)
        context = {
            **(extra_context or {}),
            "fact": row,
            "fact_text": row.text if getattr(row, "is_readable", False) else "",
            "may_change": may and found == "holds",
            "may_judge": found == "waits" and may_judge(request, row),
            "may_share": _audiences(row) if may and found == "holds" else (),
            "is_shared": row.shared_from_id is not None and found == "holds" and may,
        }
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response


def _audiences(row: WalEntry) -> tuple[str, ...]:
    """Return with whom a fact may be shared that is not shared so far."""
    wider: tuple[str, ...] = {"person": ("agent", "team"), "chat": ("agent", "team")}.get(
        row.scope, ("team",) if row.scope == "agent" else ()
    )
    known = set(row.shares.filter(superseding.HOLDS).values_list("scope", flat=True))
    return tuple(each for each in wider if each not in known)


def _forget(request: HttpRequest, row: WalEntry, user: User) -> None:
    if superseding.forget(row, by=user, at=timezone.now()):
        messages.success(request, gettext("Forgotten: no prompt and no search has it any more."))
    else:
        messages.info(request, gettext("It was taken back already."))


def _replace(request: HttpRequest, row: WalEntry, user: User) -> None:
    try:
        superseding.replace(row, request.POST.get("text", "")[:300], by=user, at=timezone.now())
    except ValueError:
        messages.error(request, gettext("Nothing was changed: write the fact as it is now."))
    else:
        messages.success(request, gettext("Replaced. The old fact stays in the history."))


def _share(request: HttpRequest, row: WalEntry, user: User) -> None:
    to = request.POST.get("to", "")
    if to not in ("agent", "team"):
        messages.error(request, gettext("Say with whom it shall be shared."))
        return
    audience: sharing.Audience = "agent" if to == "agent" else "team"
    try:
        sharing.share(row, to=audience, by=user, at=timezone.now())
    except NotShareable:
        messages.error(request, gettext("It cannot be shared, or is shared that far already."))
    else:
        messages.success(request, gettext("Shared. The audit log has who did it."))


def _unshare(request: HttpRequest, row: WalEntry, user: User) -> None:
    if sharing.unshare(row, by=user, at=timezone.now()):
        messages.success(request, gettext("It is shared no longer."))
    else:
        messages.info(request, gettext("It was not shared."))


def _decide(request: HttpRequest, row: WalEntry, user: User) -> None:
    if "accept" in request.POST:
        is_done = quarantine.accept(row, by=user, at=timezone.now())
        said = gettext("Accepted: it counts as a fact from now on.")
    elif "drop" in request.POST:
        is_done = quarantine.drop(row, by=user, at=timezone.now())
        said = gettext("Dropped: nobody will be told of it.")
    else:
        messages.error(request, gettext("Say whether it is accepted or dropped."))
        return
    if is_done:
        messages.success(request, said)
    else:
        messages.info(request, gettext("Somebody has decided this one before you."))
