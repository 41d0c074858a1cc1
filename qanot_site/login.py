"""Ways in: the one-time link that `up` prints, and name with password."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents.services import login_links
from qanot_site import first_steps

_BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_safe
def one_time_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log in by a link that works once, and go on to the first steps or the chat.

    Browsers fetch addresses ahead of the person, and programs look at links with HEAD: neither
    uses the link up.
    """
    if _is_ahead_of_the_person(request):
        return HttpResponse(status=503)
    user = login_links.redeem(token)
    if user is not None:
        login(request, user, backend=_BACKEND)
        return home(request)
    if request.user.is_authenticated:
        # Mostly the same person, opening the printed address again.
        return home(request)
    return render(request, "login_link_used.html", status=410)


def home(request: HttpRequest) -> HttpResponse:
    """Lead to the first steps whom they concern, and everybody else to the chat."""
    return redirect("first-steps" if first_steps.lead(request.user) else "chat")


def _is_ahead_of_the_person(request: HttpRequest) -> bool:
    purposes = " ".join(
        request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz")
    ).lower()
    return request.method == "HEAD" or any(
        word in purposes for word in ("prefetch", "prerender", "preview")
    )
