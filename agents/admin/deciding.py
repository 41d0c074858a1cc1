"""Deciding about what a model proposes, whatever it proposes to change."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import DocumentProposal
from agents.services.proposals import Decision

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Every kind of proposal names its states alike.
OPEN: Final = DocumentProposal.State.OPEN


class DecidedFilter(admin.SimpleListFilter):
    """Shows what waits for a decision until decided ones are asked for."""

    title = _("state")
    parameter_name = "decided"

    def lookups(
        self, request: HttpRequest, model_admin: Any
    ) -> Iterable[tuple[str, "_StrPromise | str"]]:
        return (("yes", _("decided")), ("all", _("all")))

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("waiting")}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: "models.QuerySet[Any]"
    ) -> "models.QuerySet[Any]":
        if self.value() == "all":
            return queryset
        if self.value() == "yes":
            return queryset.exclude(state=OPEN)
        return queryset.filter(state=OPEN)


def seen_version(request: HttpRequest) -> int:
    """Return the version that the decision was made upon; -1 where the form names none."""
    seen = request.POST.get("seen_version", "")
    return int(seen) if seen.isdecimal() else -1


def tell(request: HttpRequest, decision: Decision, *, is_accepted: bool) -> None:
    """Say what became of a decision."""
    if decision == "done" and is_accepted:
        messages.success(request, gettext("Accepted: it is the document's newest version."))
    elif decision == "done":
        messages.success(request, gettext("Refused: the document stays as it is."))
    elif decision == "decided_before":
        messages.warning(request, gettext("Somebody has decided this one before you."))
    else:
        messages.warning(
            request,
            gettext("The document has changed meanwhile. Please look at the difference again."),
        )
