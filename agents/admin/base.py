"""The pages' base: every page shows its viewer the rows of their own teams, and no others."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from zoneinfo import available_timezones

from django import forms
from django.contrib.admin import AdminSite, RelatedFieldListFilter
from django.contrib.admin.exceptions import NotRegistered
from django.contrib.admin.options import BaseModelAdmin
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import ImproperlyConfigured, ObjectDoesNotExist
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminSelectWidget

from agents.admin import private_views
from agents.admin.auditing import Audited
from agents.admin.paginator import BoundedPaginator
from agents.services import access

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

M = TypeVar("M", bound=models.Model)

# What a list's address may ask of a field that the page itself offers as a filter. Anything
# else could be used to guess, letter by letter, a text that the page does not show.
_FILTER_LOOKUPS = frozenset(
    {"", "exact", "isnull", "in", "gte", "gt", "lte", "lt", "year", "month", "day", "id__exact"}
)


def team_of(row: models.Model, team_path: str) -> int | None:
    """Return the id of the team that a row belongs to, following its page's path.

    None where the path ends early: a row that is not filled in yet, or one of no team.
    """
    *hops, last = team_path.split(LOOKUP_SEP)
    here: Any = row  # each hop leads to another model
    try:
        for hop in hops:
            here = getattr(here, hop)
            if here is None:
                return None
        name = last if last == "pk" else here._meta.get_field(last).attname
        team: int | None = getattr(here, name)
    except ObjectDoesNotExist:
        return None
    return team


def page_of(site: AdminSite, model: type[models.Model]) -> "TeamAdmin | None":
    """Return the narrowed page of a model, if it has one."""
    try:
        page = site.get_model_admin(model)
    except NotRegistered:
        return None
    return page if isinstance(page, TeamAdmin) else None


def choices(
    site: AdminSite, request: HttpRequest, rows: "models.QuerySet[M]", roles: Collection[str]
) -> "models.QuerySet[M]":
    """Narrow what a form or filter offers to the user's teams; nothing where no page says how."""
    if access.is_superuser(request):
        return rows
    page = page_of(site, rows.model)
    return rows.none() if page is None else page.narrow(request, rows, roles)


def yes_or_dash(flag: bool) -> str:
    """Return how a flag reads whose absence is the ordinary case."""
    return gettext("yes") if flag else "–"


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]  # one form class for every model
    """A form whose related rows must be of the same team as the row itself.

    Attributes:
        page: The page or inline that shows it.
        asker: The request that it answers.
    """

    page: ClassVar["NarrowedByTeam"]
    asker: ClassVar[HttpRequest]

    def _post_clean(self) -> None:
        # After the instance is built and before it is saved: the only place with both.
        super()._post_clean()  # type: ignore[misc]  # not in the stubs
        own = team_of(self.instance, self.page.team_path)
        for name, value in list(self.cleaned_data.items()):
            if not isinstance(value, models.Model):
                continue
            page = page_of(self.page.admin_site, type(value))
            if page is None or page.is_shared:
                continue
            if team_of(value, page.team_path) != own:
                self.add_error(name, _("This belongs to another team."))


class TeamRelatedFilter(RelatedFieldListFilter):
    """A list filter that offers rows of the viewer's teams only."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: Any
    ) -> list[tuple[str, "_StrPromise | str"]]:
        rows = field.remote_field.model._default_manager.all()
        ordering = self.field_admin_ordering(field, request, model_admin)
        rows = choices(model_admin.admin_site, request, rows, access.READERS)
        return [(str(row.pk), str(row)) for row in rows.order_by(*ordering)]


class NarrowedByTeam(BaseModelAdmin):  # type: ignore[type-arg]  # for pages and inlines of any model
    """What pages and inlines share.

    Attributes:
        team_path: The lookup that leads from a row to its team, such as ``agent__team``;
            ``pk`` for teams themselves. Checked at start (agents.E001, agents.E002).
        edit_roles: Roles whose holders may change the rows.
        fixed_fields: Fields that are filled in once and never changed.
    """

    team_path: ClassVar[str] = ""
    edit_roles: ClassVar[Collection[str]] = access.EDITORS
    fixed_fields: ClassVar[Sequence[str]] = ()
    form = TeamForm

    def narrow(
        self, request: HttpRequest, rows: "models.QuerySet[M]", roles: Collection[str]
    ) -> "models.QuerySet[M]":
        """Return those rows whose team gives the user one of the roles."""
        teams = access.teams(request, roles)
        if teams is None:
            return rows
        if not self.team_path:
            raise ImproperlyConfigured(f"{type(self).__name__} has no team_path")
        return rows.filter(**{f"{self.team_path}__in": teams})

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Any]":
        rows = super().get_queryset(request)
        return self.narrow(request, rows, access.READERS)

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> list[str] | tuple[str, ...]:
        """Return also what may not change once the row is stored: above all, its team."""
        names = tuple(super().get_readonly_fields(request, obj))
        if obj is None:
            return names
        first_hop = self.team_path.split(LOOKUP_SEP)[0]
        fixed = [name for name in (first_hop, *self.fixed_fields) if name != "pk"]
        return (*names, *(name for name in fixed if name not in names))

    def formfield_for_foreignkey(
        self, db_field: "models.ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        return self._narrow_choices(request, field)

    def formfield_for_manytomany(
        self, db_field: "models.ManyToManyField[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        return self._narrow_choices(request, field)

    def _narrow_choices(self, request: HttpRequest, field: Any) -> Any:
        rows = getattr(field, "queryset", None)
        if rows is not None:
            field.queryset = choices(self.admin_site, request, rows, self.edit_roles)
        return field

    def formfield_for_dbfield(
        self, db_field: "models.Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "time_zone":
            return _time_zone_field(db_field)
        return super().formfield_for_dbfield(db_field, request, **kwargs)


def _time_zone_field(db_field: "models.Field[Any, Any]") -> forms.ChoiceField:
    """A choice of IANA names: a misspelt zone would only show when a turn fails."""
    names = [(name, name) for name in sorted(available_timezones())]
    return forms.ChoiceField(
        label=capfirst(str(db_field.verbose_name)),
        choices=[("", "—"), *names] if db_field.blank else names,
        required=not db_field.blank,
        initial=db_field.get_default(),
        help_text=db_field.help_text,
        widget=UnfoldAdminSelectWidget,
    )


class TeamAdmin(Audited, NarrowedByTeam, ModelAdmin):
    """A page that its viewers see for their own teams; a superuser for all.

    Owners, editors and operators read, ``edit_roles`` change, members see nothing. A row of
    another team is, for its page, a row that does not exist. Inlines appear once the row is
    stored, since only then its team is known.

    Attributes:
        is_shared: The rows may belong to several teams at once.
        can_add: Rows may be added here.
        can_delete: Rows may be deleted here; what records point at is archived instead.
        link_lookups: Lookups that other pages' links use on the list.
    """

    is_shared: ClassVar[bool] = False
    can_add: ClassVar[bool] = True
    can_delete: ClassVar[bool] = False
    link_lookups: ClassVar[Collection[str]] = ()
    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    show_add_link = True
    compressed_fields = True

    def team_to_audit(self, row: models.Model) -> int | None:
        """Return the row's team; a row that several may share is the deployment's."""
        return None if self.is_shared else team_of(row, self.team_path)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row of a page.

        Raises:
            Http404: There is none that the user may see. Django would tell so on another page,
                and whether a row exists is nobody's business who may not see it.
        """
        row = super().get_object(request, object_id, from_field)
        if row is None:
            raise Http404
        return row

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list; whose private texts it shows is written down before it is sent."""
        response: HttpResponse = super().changelist_view(request, extra_context)
        private_views.note_list(request, self, response)
        return response

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        """Show a row; whose private texts its page shows is written down before it is sent."""
        if obj is not None:
            private_views.note_page(request, obj, context)
        response: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return response

    def _may(self, request: HttpRequest, roles: Collection[str], obj: object | None) -> bool:
        teams = access.teams(request, roles)
        if teams is None:
            return True
        if obj is None:
            return bool(teams)
        if not isinstance(obj, models.Model):
            # Unfold asks about its buttons with the key instead of the row.
            obj = self.get_object(request, str(obj))
        return isinstance(obj, models.Model) and team_of(obj, self.team_path) in teams

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._may(request, access.READERS, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.can_add and self._may(request, self.edit_roles, None)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._may(request, self.edit_roles, obj)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self.can_delete and self._may(request, self.edit_roles, obj)

    def get_form(
        self,
        request: HttpRequest,
        obj: models.Model | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.page, form.asker = self, request
        return form

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in the team where the user edits one only."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        teams = access.teams(request, self.edit_roles)
        if self.team_path == "team" and teams is not None and len(teams) == 1:
            initial.setdefault("team", *teams)
        return initial

    def get_inlines(self, request: HttpRequest, obj: models.Model | None) -> Any:
        return super().get_inlines(request, obj) if obj else ()

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        return [self._narrowed_filter(item) for item in super().get_list_filter(request)]

    def _narrowed_filter(self, item: Any) -> Any:
        if not isinstance(item, str):
            return item
        field = get_fields_from_path(self.model, item)[-1]
        return (item, TeamRelatedFilter) if field.is_relation else item

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow what the page's filters and the links to it ask, and nothing else."""
        if "\x00" in value:
            # PostgreSQL's text does not hold it: the query would fail.
            return False
        if lookup in self.link_lookups:
            return True
        for name in self._filter_names(request):
            if lookup == name or lookup.startswith(name + LOOKUP_SEP):
                return lookup[len(name) + 2 :] in _FILTER_LOOKUPS
        return False

    def _filter_names(self, request: HttpRequest | None) -> list[str]:
        names = [self.date_hierarchy] if self.date_hierarchy else []
        for item in self.list_filter if request is None else self.get_list_filter(request):
            if isinstance(item, str):
                names.append(item)
            elif isinstance(item, (tuple, list)):
                names.append(item[0])
            else:
                names.append(item.parameter_name)
        return names

    def response_add(
        self, request: HttpRequest, obj: models.Model, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Go on to the new row's page where its inlines wait to be filled in."""
        if self.inlines and "_addanother" not in request.POST and "_popup" not in request.POST:
            post = request.POST.copy()
            post["_continue"] = "1"
            request.POST = post  # type: ignore[assignment]  # as Django's own user page does
        return super().response_add(request, obj, post_url_continue)  # type: ignore[no-any-return]


class ReadOnlyAdmin(TeamAdmin):
    """Records of the past: nothing is added, changed or deleted."""

    can_add = False
    actions: Sequence[str] | None = None

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> list[str] | tuple[str, ...]:
        # The page shows exactly `fields`; a page without them would show every column.
        return tuple(self.readonly_fields)


class TeamInline(NarrowedByTeam, TabularInline):
    """Rows edited on their parent's page, by those who may edit the parent."""

    extra = 0
    show_change_link = False

    def _parent(self) -> TeamAdmin:
        page = page_of(self.admin_site, self.parent_model)
        if page is None:
            raise ImproperlyConfigured(f"{type(self).__name__} stands on a page without teams")
        return page

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._parent().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._parent().has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._parent().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._parent().has_change_permission(request, obj)

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> list[str] | tuple[str, ...]:
        # Here `obj` is the parent; the field that leads to it is no field of the inline form.
        return tuple(self.readonly_fields)

    def get_formset(
        self, request: HttpRequest, obj: models.Model | None = None, **kwargs: Any
    ) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.form.page, formset.form.asker = self, request
        return formset


class ReadOnlyInline(TeamInline):
    """Records of the past, shown on their parent's page."""

    can_delete = False
    max_num = 0
    hide_title = True

    def has_add_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class SuperuserAdmin(Audited, ModelAdmin):
    """A page about the whole deployment rather than a team."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return access.is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return access.is_superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return access.is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return access.is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return access.is_superuser(request)
