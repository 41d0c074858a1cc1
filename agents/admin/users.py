"""Logins. Superusers make and change them; a team's owners and readers see who is in the team."""

from collections.abc import Collection
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from agents.admin.base import SuperuserAdmin, TeamAdmin
from agents.models import User
from agents.services import access

# Roles are given by memberships; Django's groups would only promise what no page looks at.
admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(SuperuserAdmin, DjangoGroupAdmin):
    """Django's groups, for whatever else is installed beside us."""


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User], TeamAdmin):  # type: ignore[misc]  # two stubs differ
    """Who may log in."""

    team_path = "memberships__team"
    is_shared = True
    form = UserChangeForm
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
