"""API tokens: made, seen and revoked here; a secret is shown once, where it is made."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from unfold.decorators import display

from agents.admin.auditing import actor
from agents.admin.base import TeamAdmin
from agents.admin.token_form import TokenForm
from agents.models import ApiToken
from agents.services import access, tokens


@admin.register(ApiToken)
class ApiTokenAdmin(TeamAdmin):
    """Programs that act for people of the team; a token is made and revoked, never changed."""

    team_path = "team"
    is_audited = False  # the service tells of each token
    change_form_template = "admin/tokens/token.html"
    fields = readonly_fields = (
        "name",
        "state_label",
        "person",
        "team",
        "prefix",
        "scopes_in_words",
        "created_at",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    list_display = (
        "name",
        "state_label",
        "prefix",
        "person",
        "team",
        "scopes_in_words",
        "expires_at",
        "last_used_at",
    )
    list_select_related = ("person", "team")
    list_filter = ("team", "revoked_at")
    search_fields = ("name", "prefix", "person__display_name")
    ordering = ("-id",)
    actions = ("revoke_selected",)

    # Making one.

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let everybody who enters the admin make tokens that act for themselves."""
        return access.may_enter(request)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return tuple(self.fields) if obj else ("name", "acts_for", "scopes", "days")

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        return tuple(self.readonly_fields) if obj else ()

    def get_form(
        self,
        request: HttpRequest,
        obj: models.Model | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        if obj is None:
            kwargs["form"] = TokenForm
        return super().get_form(request, obj, change, **kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Begin with what most programs need."""
        return {"scopes": [ApiToken.Scope.CHAT], "days": "90"}

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Make the token; its secret goes along with the row up to the answer's page."""
        token, secret = tokens.issue(
            team=form.cleaned_data["acts_for"].team,
            person=form.cleaned_data["acts_for"],
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            expires_at=form.expires_at(timezone.now()),
            by=actor(request),
        )
        vars(obj).update(vars(token), secret=secret)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Show the secret; no address leads to this page again."""
        return TemplateResponse(
            request,
            "admin/tokens/made.html",
            {
                **self.admin_site.each_context(request),
                "title": _("Your new token"),
                "token": obj,
                "secret": obj.secret,
                "scopes": self.scopes_in_words(obj),
                "api_url": request.build_absolute_uri(reverse("api:agents")),
                "list_url": reverse("admin:agents_apitoken_changelist"),
            },
        )

    # Ending one.

    def get_urls(self) -> list[URLPattern]:
        revoke = self.admin_site.admin_view(require_POST(self.revoke))
        return [
            path("<int:pk>/revoke/", revoke, name="agents_apitoken_revoke"),
            *super().get_urls(),
        ]

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Revoke one token."""
        token = self.get_queryset(request).filter(pk=pk).first()
        if token is None:
            raise Http404
        if not self._may_revoke(request, token):
            raise PermissionDenied
        tokens.revoke(token, by=actor(request))
        messages.success(request, _("The token is revoked: nobody can use it any more."))
        return HttpResponseRedirect(reverse("admin:agents_apitoken_change", args=[pk]))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may revoke any; which one is asked of each token."""
        return access.may_enter(request)

    @admin.action(description=_("Revoke"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: "QuerySet[ApiToken]") -> None:
        """Revoke the chosen tokens of teams that the user edits, and their own."""
        rows = [token for token in queryset if self._may_revoke(request, token)]
        for token in rows:
            tokens.revoke(token, by=actor(request))
        messages.success(
            request,
            ngettext("%(n)s token revoked.", "%(n)s tokens revoked.", len(rows)) % {"n": len(rows)},
        )

    def _may_revoke(self, request: HttpRequest, token: ApiToken) -> bool:
        return token.person.user_id == request.user.pk or self._may(request, self.edit_roles, token)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        """Offer to revoke a token that still holds."""
        if obj is not None:
            context["may_revoke"] = not obj.revoked_at and self._may_revoke(request, obj)
        context["show_save_and_add_another"] = context["show_save_and_continue"] = False
        return super().render_change_form(request, context, add, change, form_url, obj)

    # How one reads.

    @display(
        description=_("state"),
        label={"good": "success", "expired": "warning", "revoked": "danger"},
    )
    def state_label(self, token: ApiToken) -> tuple[str, Any]:
        """Return whether the token holds."""
        if token.revoked_at:
            return "revoked", _("revoked")
        if token.expires_at and token.expires_at <= timezone.now():
            return "expired", _("expired")
        return "good", _("in use")

    @admin.display(description=_("scopes"))
    def scopes_in_words(self, token: ApiToken) -> str:
        """Return what the token may do."""
        known = dict(ApiToken.Scope.choices)
        return ", ".join(str(known.get(scope, scope)) for scope in token.scopes) or "–"
