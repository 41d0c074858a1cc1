"""Logins. Superusers make and change them; a team's owners and readers see who is in the team."""

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from agents.admin import last_owner
from agents.admin.auditing import actor
from agents.admin.base import SuperuserAdmin, TeamAdmin
from agents.admin.link_page import link_page
from agents.models import User
from agents.services import access, login_links, logins, memberships
from agents.services.memberships import LastOwner

# Roles are given by memberships; Django's groups would only promise what no page looks at.
admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(SuperuserAdmin, DjangoGroupAdmin):
    """Django's groups, for whatever else is installed beside us."""


class UserForm(UserChangeForm):
    """A login; a team's last owner is not switched off."""

    def clean(self) -> dict[str, Any] | None:
        values: dict[str, Any] | None = super().clean()
        if self.cleaned_data.get("is_active") is False:
            owned = self.instance.memberships.values_list("team_id", flat=True)
            try:
                memberships.require_owner_without(users={self.instance.pk}, teams=owned)
            except LastOwner as error:
                self.add_error("is_active", last_owner.words(error))
        return values


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User], TeamAdmin):  # type: ignore[misc]  # two stubs differ
    """Who may log in."""

    team_path = "memberships__team"
    is_shared = True
    form = UserForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = (
        "username",
        "first_name",
        "last_name",
        "is_active",
        "is_superuser",
        "last_login",
    )
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username", "first_name", "last_name")
    ordering = ("username",)
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email")}),
        (_("Rights"), {"fields": ("is_active", "is_superuser")}),
        (_("Times"), {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    actions_detail = ("password_link",)

    def narrow(
        self, request: HttpRequest, rows: "models.QuerySet[Any]", roles: Collection[str]
    ) -> "models.QuerySet[Any]":
        """Return users who share a team with the viewer; each once, however many they share."""
        teams = access.teams(request, roles)
        if teams is None:
            return rows
        return rows.filter(pk__in=User.objects.filter(memberships__team__in=teams).values("pk"))

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        if obj is None:
            return self.add_fieldsets
        if access.is_superuser(request):
            return self.fieldsets
        return ((None, {"fields": ("username", "first_name", "last_name")}),)

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        return tuple(self.readonly_fields)

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        if obj is None or access.is_superuser(request):
            return access.may_enter(request)
        # The row came from the narrowed queryset, or it would not be here.
        return access.may_enter(request) and self.get_queryset(request).filter(pk=obj.pk).exists()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return access.is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return access.is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store a login; one that is switched off is logged out everywhere."""
        super().save_model(request, obj, form, change)
        if change and not obj.is_active:
            logins.end_all(obj, by=actor(request))

    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        """Let a superuser set a password; its user is logged out everywhere else."""
        user = self.get_object(request, id)
        before = user.password if user is not None else ""
        response = super().user_change_password(request, id, form_url)
        if user is not None:
            user.refresh_from_db(fields=["password"])
        if user is not None and user.password != before:
            keep = request.session.session_key if user == request.user else ""
            login_links.password_changed(user, by=actor(request), keep=keep or "")
        return response

    def has_password_link_permission(
        self, request: HttpRequest, object_id: str | None = None
    ) -> bool:
        """Return whether the viewer may let this user choose a new password."""
        row = self.get_object(request, str(object_id))
        by = request.user
        return row is not None and isinstance(by, User) and login_links.may_give_password(by, row)

    @action(description=_("New password by link"), permissions=["password_link"], icon="password")
    def password_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what the link does; then make it and show it once."""
        row = self.get_object(request, object_id)
        by = request.user
        if row is None or not isinstance(by, User):
            raise Http404
        back = reverse("admin:agents_user_change", args=[row.pk])
        if request.method != "POST":
            context = {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": gettext("New password by link"),
                "row": row,
                "back": back,
            }
            return TemplateResponse(request, "admin/people/password_link.html", context)
        try:
            secret = login_links.issue_password(row, by=by)
        except login_links.NotAllowed as error:
            raise PermissionDenied from error
        return link_page(
            request,
            self,
            link=reverse("password-link", args=[secret]),
            title=gettext("New password by link"),
            text=gettext(
                "Send it to %(name)s in a message that only they read. It works once, for a day, "
                "and is not shown again."
            )
            % {"name": row},
            back=back,
            back_words=gettext("Back"),
        )
