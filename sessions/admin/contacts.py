"""Who writes to the bots, and who asks to be let in."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from agents.admin import links
from agents.admin.base import ReadOnlyAdmin
from agents.models import Person, User
from agents.services import access
from sessions.channels.telegram import pairing
from sessions.errors import NotPending
from sessions.models import ChannelAccount, ChannelContact, PairingRequest

OPEN = PairingRequest.State.OPEN


@admin.register(ChannelContact)
class ContactAdmin(ReadOnlyAdmin):
    """People as the bots know them: let in, kept away, or as the bot's own rule says.

    Whose person a contact is, nobody sets here: whoever could would read that person's
    conversations. It changes when they open a link of their own in Telegram.
    """

    team_path = "account__team"
    fields = readonly_fields = (
        "display_name",
        "shown_username",
        "external_id",
        "shown_bot",
        "shown_person",
        "language",
        "access",
        "decided_by",
        "decided_at",
        "paused_until",
        "created_at",
    )
    list_display = (
        "display_name",
        "shown_username",
        "shown_bot",
        "shown_person",
        "access_label",
        "created_at",
    )
    list_select_related = ("account", "person", "decided_by")
    list_filter = ("access", "account", "account__team")
    search_fields = ("display_name", "username", "external_id")
    ordering = ("-id",)
    actions = ("allow_selected", "block_selected", "forget_selected")

    @display(description=_("user name"), ordering="username")
    def shown_username(self, row: ChannelContact) -> str:
        """Return the name that others find them by."""
        return f"@{row.username}" if row.username else "–"

    @display(description=_("bot"), ordering="account__name")
    def shown_bot(self, row: ChannelContact) -> str:
        """Return the bot that knows them."""
        return links.to_row(ChannelAccount, row.account_id, row.account.name)

    @display(description=_("person"), ordering="person__display_name")
    def shown_person(self, row: ChannelContact) -> str:
        """Return whom the team knows them as."""
        return links.to_row(Person, row.person_id, row.person)

    @display(
        description=_("access"),
        label={"allowed": "success", "blocked": "danger", "unknown": "info"},
        ordering="access",
    )
    def access_label(self, row: ChannelContact) -> tuple[str, str]:
        """Return what was decided about them."""
        return row.access, row.get_access_display()

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may decide in any team; which one is asked of each row."""
        return self._may(request, self.edit_roles, None)

    @admin.action(description=_("Let in"), permissions=["decide"])
    def allow_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelContact]"
    ) -> None:
        """Let the chosen people talk with their bot."""
        self._decide(request, queryset, pairing.allow)

    @admin.action(description=_("Block"), permissions=["decide"])
    def block_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelContact]"
    ) -> None:
        """Answer the chosen people no more."""
        self._decide(request, queryset, pairing.block)

    @admin.action(description=_("Unblock: as the bot's rule says"), permissions=["decide"])
    def forget_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelContact]"
    ) -> None:
        """Decide nothing about the chosen people any more."""
        self._decide(request, queryset, pairing.forget_decision)

    def _decide(
        self,
        request: HttpRequest,
        queryset: "models.QuerySet[ChannelContact]",
        decide: Callable[[ChannelContact, User], None],
    ) -> None:
        rows = list(self.narrow(request, queryset, self.edit_roles).select_related("account"))
        for contact in rows:
            decide(contact, access.user_of(request))
        done = ngettext("%(n)s contact changed.", "%(n)s contacts changed.", len(rows))
        messages.success(request, done % {"n": len(rows)})


class WaitingFilter(admin.SimpleListFilter):
    """Shows what waits for a decision until the others are asked for."""

    title = _("state")
    parameter_name = "decided"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("all", _("all")),)

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("waiting")}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: "models.QuerySet[Any]"
    ) -> "models.QuerySet[Any]":
        return queryset if self.value() == "all" else _waiting(queryset)


@admin.register(PairingRequest)
class PairingAdmin(ReadOnlyAdmin):
    """People who ask to talk with a bot; an owner or editor decides, once."""

    team_path = "contact__account__team"
    change_form_outer_before_template = "admin/bots/request.html"
    fields = readonly_fields = (
        "code",
        "shown_contact",
        "shown_username",
        "shown_bot",
        "created_at",
        "expires_at",
        "shown_state",
        "decided_by",
        "decided_at",
    )
    list_display = (
        "code",
        "shown_contact",
        "shown_username",
        "shown_bot",
        "created_at",
        "expires_at",
        "state_label",
    )
    list_select_related = ("contact__account", "decided_by")
    list_filter = (WaitingFilter, "contact__account", "contact__account__team")
    search_fields = ("code", "contact__display_name", "contact__username")
    ordering = ("-id",)
    actions = ("accept_selected", "refuse_selected")

    def get_urls(self) -> list[Any]:
        decide = self.admin_site.admin_view(require_POST(self.decide))
        name = "bot_sessions_pairingrequest_decide"
        return [path("<int:pk>/decide/", decide, name=name), *super().get_urls()]

    def count_waiting(self, request: HttpRequest) -> int:
        """Return how many wait for this user's decision."""
        rows = _waiting(PairingRequest.objects.all())
        return self.narrow(request, rows, self.edit_roles).count()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Offer the decision where there is one to make."""
        row = kwargs.get("obj")
        if isinstance(row, PairingRequest):
            context |= {
                "request_row": row,
                "may_decide": pairing.is_pending(row) and self._may(request, self.edit_roles, row),
            }
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Accept or refuse, once; whoever comes second is told."""
        row = self.get_queryset(request).select_related("contact__account").filter(pk=pk).first()
        if row is None:
            raise Http404
        if not self._may(request, self.edit_roles, row):
            raise PermissionDenied
        is_accepted = "accept" in request.POST
        if is_accepted == ("refuse" in request.POST):
            return HttpResponse(status=400)
        decided = self._settle(request, [row], pairing.accept if is_accepted else pairing.refuse)
        if decided:
            said = _("%(name)s may talk with the bot now.") if is_accepted else _("Refused.")
            messages.success(request, said % {"name": row.contact} if is_accepted else said)
        return HttpResponseRedirect(reverse("admin:bot_sessions_pairingrequest_changelist"))

    @display(description=_("who asks"), ordering="contact__display_name")
    def shown_contact(self, row: PairingRequest) -> str:
        """Return who asks, as they call themselves."""
        return links.to_row(ChannelContact, row.contact_id, row.contact)

    @display(description=_("user name"), ordering="contact__username")
    def shown_username(self, row: PairingRequest) -> str:
        """Return the name that others find them by."""
        return f"@{row.contact.username}" if row.contact.username else "–"

    @display(description=_("bot"), ordering="contact__account__name")
    def shown_bot(self, row: PairingRequest) -> str:
        """Return the bot that they want to talk with."""
        return links.to_row(ChannelAccount, row.contact.account_id, row.contact.account.name)

    @display(
        description=_("state"),
        label={"open": "info", "accepted": "success", "refused": "danger", "over": "warning"},
    )
    def state_label(self, row: PairingRequest) -> tuple[str, str]:
        """Return how the request stands."""
        return _state_of(row)

    @admin.display(description=_("state"))
    def shown_state(self, row: PairingRequest) -> str:
        """Return how the request stands, on its own page."""
        return _state_of(row)[1]

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may decide in any team; which one is asked of each row."""
        return self._may(request, self.edit_roles, None)

    @admin.action(description=_("Accept"), permissions=["decide"])
    def accept_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[PairingRequest]"
    ) -> None:
        """Let the chosen people talk with their bot."""
        done = self._settle(request, self._mine(request, queryset), pairing.accept)
        said = ngettext("%(n)s request accepted.", "%(n)s requests accepted.", done)
        messages.success(request, said % {"n": done})

    @admin.action(description=_("Refuse and block"), permissions=["decide"])
    def refuse_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[PairingRequest]"
    ) -> None:
        """Keep the chosen people away."""
        done = self._settle(request, self._mine(request, queryset), pairing.refuse)
        said = ngettext("%(n)s request refused.", "%(n)s requests refused.", done)
        messages.success(request, said % {"n": done})

    def _mine(
        self, request: HttpRequest, rows: "models.QuerySet[PairingRequest]"
    ) -> "models.QuerySet[PairingRequest]":
        narrowed = self.narrow(request, rows, self.edit_roles)
        return narrowed.select_related("contact__account")

    def _settle(
        self,
        request: HttpRequest,
        rows: "models.QuerySet[PairingRequest] | list[PairingRequest]",
        settle: Callable[[PairingRequest, User], None],
    ) -> int:
        """Decide rows one by one; return how many, and say so of those that were too late."""
        done = 0
        for row in rows:
            try:
                settle(row, access.user_of(request))
            except NotPending:
                messages.warning(
                    request,
                    gettext("%(name)s: decided already, or too old.") % {"name": row.contact},
                )
            else:
                done += 1
        return done


def _waiting(rows: "models.QuerySet[Any]") -> "models.QuerySet[Any]":
    return rows.filter(state=OPEN, expires_at__gt=timezone.now(), tries__lt=pairing.MOST_TRIES)


def _state_of(row: PairingRequest) -> tuple[str, str]:
    """Return how a request stands, for machines and for people."""
    if row.state == OPEN and not pairing.is_pending(row):
        return "over", gettext("too old")
    return row.state, row.get_state_display()
