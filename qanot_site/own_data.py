"""All that is kept of oneself, to take along."""

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from agents.models import Person, User
from agents.services import access, handing_over, portability


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def page(request: HttpRequest) -> HttpResponseBase:
    """Show in which teams something is kept of the user; a POST names one and downloads it.

    Raises:
        Http404: In that team the user is nobody.
    """
    user = access.user_of(request)
    people = list(_people(user))
    if request.method == "POST":
        chosen = request.POST.get("person", "")
        person = next((each for each in people if str(each.public_id) == chosen), None)
        if person is None:
            raise Http404
        return handing_over.response_of(person, by=user)
    rows = [
        {
            "person": person,
            "count": sum(
                count.rows for count in portability.counts(portability.subject_of(person, by=user))
            ),
        }
        for person in people
    ]
    return render(request, "account/data.html", {"rows": rows, "at": "data"})


def _people(user: User) -> "QuerySet[Person]":
    """Return who the user is, team by team."""
    rows = Person.objects.filter(user=user, merged_into=None, team__archived_at=None)
    return rows.select_related("team").order_by("team__name", "id")
