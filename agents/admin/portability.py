"""All that is kept of a person: handed over, or erased, by the team's owners."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from agents.models import Person
from agents.services import access, handing_over, portability


class PortabilityActions:
    """Two buttons on a person's page, for owners of the team.

    Whoever exports reads everything: for somebody else's data it takes the right to view private
    content, as everywhere.
    """

    actions_detail = ("export_everything", "erase_everything")

    def has_export_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Return whether the user owns the team."""
        return bool(self._page()._may(request, access.OWNERS, object_id))

    def has_erase_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Return whether the user owns the team."""
        return bool(self._page()._may(request, access.OWNERS, object_id))

    @action(
        description=_("Export everything"),
        permissions=["export"],
        icon="download",
        url_path="export-everything",
    )
    def export_everything(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Show what an export has; a POST downloads it."""
        person = self._person(request, object_id)
        may = person.user_id == request.user.pk or access.may_view_private(request, person.team_id)
        if request.method == "POST":
            if not may:
                raise PermissionDenied
            return handing_over.response_of(person, by=access.user_of(request))
        return self._show(request, person, {"may_export": may})

    @action(
        description=_("Erase…"),
        permissions=["erase"],
        icon="delete_forever",
        url_path="erase-everything",
    )
    def erase_everything(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Show what is kept; a POST with the person's name erases it."""
        person = self._person(request, object_id)
        typed = request.POST.get("name", "").strip()
        if request.method != "POST":
            return self._show(request, person, {"erases": True})
        if typed != person.display_name.strip():
            error = gettext("This is not the name. Nothing was erased.")
            return self._show(request, person, {"erases": True, "error": error})
        report = portability.erase(person, by=access.user_of(request))
        said = gettext("Erased: %(n)s rows. What stays has no name and no words.")
        messages.success(request, said % {"n": report.total})
        return redirect("admin:agents_person_changelist")

    def _show(self, request: HttpRequest, person: Person, more: dict[str, Any]) -> HttpResponseBase:
        page = self._page()
        subject = portability.subject_of(person, by=access.user_of(request))
        context = {
            **page.admin_site.each_context(request),
            "opts": page.opts,
            "title": person.display_name,
            "person": person,
            "counts": portability.counts(subject),
            "back": reverse("admin:agents_person_change", args=[person.pk]),
            **more,
        }
        return TemplateResponse(request, "admin/people/everything.html", context)

    def _person(self, request: HttpRequest, object_id: str) -> Person:
        person: Person = self._page().get_object(request, object_id)
        return person

    def _page(self) -> Any:
        # A mixin: the page that it is mixed into has what is asked of it.
        return self
