"""Teams, who runs them, and whom they talk with."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from agents.admin import last_owner
from agents.admin.archive import ArchiveActions, ArchivedFilter
from agents.admin.base import ReadOnlyAdmin, TeamAdmin, TeamForm, TeamInline
from agents.admin.last_owner import OwnerKeepingForm, OwnerKeepingFormSet
from agents.admin.portability import PortabilityActions
from agents.admin.private_grants import MembershipForm
from agents.models import Chat, Identity, Membership, Person, Team
from agents.services import access
from agents.services.memberships import LastOwner


class MembershipInline(TeamInline):
    """Who runs the team; only its owners change that."""

    model = Membership
    team_path = "team"
    edit_roles = access.OWNERS
    form = MembershipForm
    formset = OwnerKeepingFormSet
    fields = ("user", "role", "may_view_private")
    autocomplete_fields = ("user",)


@admin.register(Team)
class TeamsAdmin(ArchiveActions, TeamAdmin):
    """Teams; a superuser makes them, their owners name them."""

    team_path = "pk"
    edit_roles = access.OWNERS
    fields = ("name", "slug", "time_zone")
    list_display = ("name", "slug", "time_zone", "created_at", "archived_at")
    list_filter = (ArchivedFilter,)
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}  # noqa: RUF012 - the name Django reads
    inlines = (MembershipInline,)
    actions_detail = ("invite",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return access.is_superuser(request)

    def has_invite_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Return whether the user owns the team."""
        return self._may(request, access.OWNERS, object_id)

    @action(description=_("Invite somebody"), permissions=["invite"], icon="person_add")
    def invite(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Lead to a new invitation into this team."""
        page = reverse("admin:agents_invitation_add")
        return redirect(f"{page}?{urlencode({'team': object_id})}")


@admin.register(Membership)
class MembershipAdmin(TeamAdmin):
    """Roles. Another user or team is another membership; a team keeps an owner."""

    team_path = "team"
    edit_roles = access.OWNERS
    fixed_fields = ("user",)
    can_delete = True
    form = OwnerKeepingForm
    fields = ("team", "user", "role", "may_view_private")
    list_display = ("user", "team", "role", "may_view_private", "created_at")
    list_select_related = ("user", "team")
    list_filter = ("team", "role")
    ordering = ("team__name", "user__username")
    search_fields = ("user__username", "user__first_name", "user__last_name")
    autocomplete_fields = ("user",)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what would go, and, as what protects them, why the last owners may not."""
        deletable, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        try:
            last_owner.require_without(objs)
        except LastOwner as error:
            protected = [*protected, last_owner.words(error)]
        return deletable, counts, perms_needed, protected

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with last_owner.keeping_an_owner([obj]):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> None:
        with last_owner.keeping_an_owner(queryset):
            super().delete_queryset(request, queryset)


class IdentityInline(TeamInline):
    """How channels know the person; channels write these rows, people do not."""

    model = Identity
    team_path = "team"
    fields = readonly_fields = ("channel", "external_id", "created_at")
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class PersonForm(TeamForm):
    """A person; a login stands for one in each team."""

    def clean(self) -> dict[str, Any] | None:
        """Say so beside the field: `merged_into`, which the column's own check needs, is none."""
        values: dict[str, Any] | None = super().clean()
        team, user = self.cleaned_data.get("team"), self.cleaned_data.get("user")
        if team and user and Person.objects.filter(team=team, user=user, merged_into=None).exists():
            self.add_error("user", _("This user is one of the team's people already."))
        return values


@admin.register(Person)
class PersonAdmin(PortabilityActions, ArchiveActions, TeamAdmin):
    """People whom agents talk with.

    The login of a person is set when the person is made and never here again: whoever could
    put their own in its place would read that person's conversations.
    """

    team_path = "team"
    form = PersonForm
    fixed_fields = ("user",)
    fields = ("team", "display_name", "user", "language", "time_zone", "merged_into", "created_at")
    readonly_fields = ("merged_into", "created_at")
    list_display = ("display_name", "team", "user", "language", "created_at", "archived_at")
    list_select_related = ("team", "user")
    list_filter = (ArchivedFilter, "team", "language")
    ordering = ("display_name", "id")
    search_fields = ("display_name", "user__username", "identities__external_id")
    autocomplete_fields = ("user",)
    inlines = (IdentityInline,)


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    """How channels know people."""

    team_path = "team"
    fields = ("team", "person", "channel", "external_id", "created_at")
    list_display = ("external_id", "channel", "person", "team", "created_at")
    list_select_related = ("person", "team")
    list_filter = ("team", "channel")
    ordering = ("-id",)
    search_fields = ("external_id", "person__display_name")


@admin.register(Chat)
class ChatAdmin(ArchiveActions, TeamAdmin):
    """Groups; a channel makes them, their title may be put right."""

    team_path = "team"
    can_add = False
    fields = ("team", "channel", "external_id", "title", "parent", "created_at")
    readonly_fields = ("channel", "external_id", "parent", "created_at")
    list_display = ("__str__", "channel", "team", "parent", "created_at", "archived_at")
    list_select_related = ("team", "parent")
    list_filter = (ArchivedFilter, "team", "channel")
    ordering = ("-id",)
    search_fields = ("title", "external_id")
