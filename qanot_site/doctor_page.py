"""The doctor's page: what `manage.py doctor` says, for superusers."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents.services import access
from qanot_site.findings.registry import find_all


@never_cache
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Look at everything and show it; findings name agents and accounts of all teams."""
    if not access.is_superuser(request):
        raise PermissionDenied
    found = find_all()
    context = {
        **admin.site.each_context(request),
        "title": gettext("Doctor"),
        "warnings": [finding for finding in found if finding.level == "warning"],
        "notes": [finding for finding in found if finding.level == "note"],
        "now": timezone.now(),
    }
    return render(request, "admin/operator/doctor.html", context)
