"""Invitations: made here, their link shown once, and taken back."""

from datetime import timedelta
from typing import Any
from weakref import WeakKeyDictionary

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables
from unfold.decorators import display
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget

from agents.admin.auditing import actor
from agents.admin.base import TeamForm
from agents.admin.link_page import link_page
from agents.admin.owners import OwnersAdmin
from agents.models import Invitation, Membership, Team, User
from agents.services import access, invitations
from agents.services.role_words import role_choices

LIFETIMES = {
    "1h": (timedelta(hours=1), _("1 hour")),
    "1d": (timedelta(days=1), _("1 day")),
    "3d": (timedelta(days=3), _("3 days")),
    "7d": (timedelta(days=7), _("7 days")),
    "30d": (timedelta(days=30), _("30 days")),
}
STATES = {
    "open": _("open"),
    "accepted": _("used"),
    "revoked": _("taken back"),
    "expired": _("too old"),
}


class InvitationForm(TeamForm):
    """What one says about a colleague: nothing but the role."""

    role = forms.ChoiceField(
        label=_("Role"),
        choices=role_choices,
        initial=Membership.Role.MEMBER,
        widget=UnfoldAdminRadioSelectWidget,
    )
    lifetime = forms.ChoiceField(
        label=_("The link works for"),
        choices=[(key, words) for key, (_length, words) in LIFETIMES.items()],
        initial="3d",
        widget=UnfoldAdminSelectWidget,
    )

    class Meta:
        model = Invitation
        fields = ("team", "role", "note")


class StateFilter(admin.SimpleListFilter):
    """Shows the links that still work until all are asked for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("all", _("all")),)

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("open")}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: "QuerySet[Invitation]"
    ) -> "QuerySet[Invitation]":
        if self.value() == "all":
            return queryset
        return queryset.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


@admin.register(Invitation)
class InvitationAdmin(OwnersAdmin):
    """Links by which colleagues join."""

    team_path = "team"
    is_audited = False  # the service does
    form = InvitationForm
    fields = ("team", "role", "note", "lifetime")
    list_display = ("shown_for", "shown_role", "team", "created_by", "expires_at", "shown_state")
    list_select_related = ("team", "created_by", "accepted_by")
    list_filter = (StateFilter, "team")
    search_fields = ("note",)
    ordering = ("-id",)
    actions = ("revoke_selected",)
    # From the saving to the answer of one request.
    _secrets: "WeakKeyDictionary[HttpRequest, str]" = WeakKeyDictionary()

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Invitation]":
        return invitations.with_backing(super().get_queryset(request))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.fields
        return ("team", "role", "note", "created_by", "created_at", "expires_at", "shown_state")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj) if obj is not None else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in the team where there is one only, for superusers too."""
        initial = super().get_changeform_initial_data(request)
        teams = Team.objects.filter(archived_at=None).values_list("pk", flat=True)[:2]
        if access.is_superuser(request) and len(teams) == 1:
            initial.setdefault("team", teams[0])
        return initial

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.queryset = field.queryset.filter(archived_at=None)
        return field

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        """Offer one button: what follows is the page with the link."""
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        field = getattr(context["adminform"].form, "fields", {}).get("team")
        if field is not None:
            widget = field.widget
            widget.can_add_related = widget.can_change_related = widget.can_view_related = False
        return super().render_change_form(request, context, add, change, form_url, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether the user owns any team; which one is asked of each row."""
        return self._may(request, self.edit_roles, None)

    @sensitive_variables("secret")
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Have the service make the invitation."""
        by = request.user
        if not isinstance(by, User):
            raise PermissionDenied
        length, _words = LIFETIMES[form.cleaned_data["lifetime"]]
        made, secret = invitations.invite(
            team=obj.team, role=obj.role, by=by, note=obj.note, lifetime=length
        )
        obj.pk = made.pk
        obj.refresh_from_db()
        self._secrets[request] = secret

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the link, this once; a redirect would have to keep it somewhere meanwhile."""
        return link_page(
            request,
            self,
            link=reverse("join-link", args=[self._secrets.pop(request)]),
            title=gettext("Invitation"),
            text=gettext(
                "Send it to your colleague in a message that only they read. It works once, until "
                "%(when)s, and is not shown again."
            )
            % {"when": date_format(timezone.localtime(obj.expires_at), "DATETIME_FORMAT")},
            back=reverse("admin:agents_invitation_changelist"),
            back_words=gettext("All invitations"),
        )

    @display(description=_("for whom"), ordering="note")
    def shown_for(self, row: Invitation) -> str:
        """Return whom the link is for, as its maker wrote it."""
        return row.note or "–"

    @display(description=_("role"), ordering="role")
    def shown_role(self, row: Invitation) -> str:
        """Return the role's name."""
        return row.get_role_display()

    @display(
        description=_("state"),
        label={"open": "success", "accepted": "info", "revoked": "danger", "expired": "warning"},
    )
    def shown_state(self, row: Invitation) -> tuple[str, str]:
        """Return how the link stands, and who used it."""
        state = invitations.state_of(row)
        words = str(STATES[state])
        if state == "accepted" and row.accepted_by is not None:
            words = gettext("used by %(name)s") % {"name": row.accepted_by}
        return state, words

    @admin.action(description=_("Take back"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: "QuerySet[Invitation]") -> None:
        """Take the chosen links back that nobody used."""
        by = actor(request)
        rows = self.narrow(request, queryset, access.OWNERS)
        count = sum(invitations.revoke(row, by=by) for row in rows)
        messages.success(
            request,
            ngettext("%(n)s link taken back.", "%(n)s links taken back.", count) % {"n": count},
        )
