"""Ways in: name with password, the one-time link that `up` prints, and a new password by a link."""

from typing import Final

from django.conf import settings
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from agents.models import User
from agents.services import access, login_links
from qanot_site import first_steps

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
# Of the session: the digest of the link that was opened. The link itself is kept nowhere.
PASSWORD_LINK: Final = "password_link"  # noqa: S105 — a name


@never_cache
@require_safe
def one_time_link(request: HttpRequest, token: str) -> HttpResponse:
    """Log in by a link that works once, and go on to the first steps or the chat.

    Browsers fetch addresses ahead of the person, and programs look at links with HEAD: neither
    uses the link up.
    """
    if is_ahead_of_the_person(request):
        return HttpResponse(status=503)
    user = login_links.redeem(token)
    if user is not None:
        login(request, user, backend=BACKEND)
        return home(request)
    if request.user.is_authenticated:
        # Mostly the same person, opening the printed address again.
        return home(request)
    return render(request, "login_link_used.html", status=410)


@never_cache
@require_safe
def password_link(request: HttpRequest, token: str) -> HttpResponse:
    """Take a link for a new password, and go on where its secret is not in the address."""
    if is_ahead_of_the_person(request):
        return HttpResponse(status=503)
    digest = login_links.digest_of(token)
    # Addresses that somebody makes up fill no table of sessions.
    if login_links.user_to_choose(digest) is not None:
        request.session[PASSWORD_LINK] = digest
    else:
        request.session.pop(PASSWORD_LINK, None)
    return redirect("password-new")


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def new_password(request: HttpRequest) -> HttpResponse:
    """Let the user of a link choose a new password; it logs them in here and out elsewhere."""
    digest = request.session.get(PASSWORD_LINK, "")
    user = login_links.user_to_choose(digest)
    if user is None:
        return render(request, "joining/password_link_over.html", status=410)
    form = SetPasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        chosen = login_links.choose_password(digest, form.cleaned_data["new_password1"])
        if chosen is None:
            return render(request, "joining/password_link_over.html", status=410)
        request.session.flush()
        login(request, chosen, backend=BACKEND)
        return home(request)
    return render(request, "joining/new_password.html", {"form": form, "name": user})


@never_cache
@sensitive_post_parameters()
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    """Let somebody change their own password; they stay logged in here and nowhere else."""
    user = access.user_of(request)
    if not user.has_usable_password():
        # Came in by a link and never had one: there is no old one to ask for.
        form: SetPasswordForm[User] = SetPasswordForm(user, request.POST or None)
    else:
        form = PasswordChangeForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, user)
        login_links.password_changed(user, by=user, keep=str(request.session.session_key))
        return redirect("logins")
    return render(request, "account/password.html", {"form": form, "at": "password"})


def home(request: HttpRequest) -> HttpResponse:
    """Lead to the first steps whom they concern, and everybody else to the chat."""
    return redirect("first-steps" if first_steps.lead(request.user) else "chat")


def paused(
    request: HttpRequest, original: object = None, credentials: object = None
) -> HttpResponse:
    """Say that too many passwords were wrong; django-axes calls it, whether the name exists or not.

    Its middleware hands over something else as the second argument where it runs asynchronously
    (8.3.1), so neither is looked at.
    """
    pause_s = int(settings.AXES_COOLOFF_TIME.total_seconds())
    response = render(request, "login_paused.html", {"minutes": pause_s // 60}, status=429)
    response["Retry-After"] = str(pause_s)
    response["Cache-Control"] = "no-store"
    return response


def is_ahead_of_the_person(request: HttpRequest) -> bool:
    """Return whether a browser or a program looks at an address before its person opens it."""
    purposes = " ".join(
        request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz")
    ).lower()
    return request.method == "HEAD" or any(
        word in purposes for word in ("prefetch", "prerender", "preview")
    )
