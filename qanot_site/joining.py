"""Joining a team by an invitation: with a new login, or with the one that somebody has."""

from typing import Any, Final

from django import forms
from django.contrib.auth import login, logout
from django.contrib.auth.forms import UserCreationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.models import Invitation, Membership, User
from agents.services import invitations
from agents.services.role_words import ROLE_WORDS
from qanot_site.login import BACKEND, home, is_ahead_of_the_person

# Of the session: the digest of the invitation that was opened. The link itself is kept nowhere,
# so it is neither in a login's `next` nor in what is counted of failed ones.
OPENED: Final = "invitation"


class JoinForm(UserCreationForm[User]):
    """What a new colleague chooses."""

    display_name = forms.CharField(
        label=_("Your name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "name", "autofocus": True}),
    )
    field_order = ("display_name", "username", "password1", "password2")

    class Meta:
        model = User
        fields = ("username",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields["username"]
        name.label = _("User name, to log in")
        name.widget.attrs["autofocus"] = False
        self.fields["password2"].label = _("The password again")


@never_cache
@require_safe
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Take an invitation's link, and go on where its secret is not in the address.

    Nothing is used up here, and a browser that looks ahead does not even open it.
    """
    if is_ahead_of_the_person(request):
        return HttpResponse(status=503)
    digest = invitations.digest_of(token)
    # Addresses that somebody makes up fill no table of sessions.
    if invitations.found(digest) is not None:
        request.session[OPENED] = digest
    else:
        request.session.pop(OPENED, None)
    return redirect("join")


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest) -> HttpResponse:
    """Show who invites into what, and let somebody join."""
    digest = request.session.get(OPENED, "")
    invitation = invitations.found(digest)
    user = request.user
    if isinstance(user, User) and invitation is not None and _is_in(user, invitation):
        return _enter(request)
    if invitation is None or invitations.state_of(invitation) != "open":
        return _over(request, invitation)
    try:
        if isinstance(user, User):
            return _join_as(request, user, invitation)
        return _join_as_new(request, invitation)
    except invitations.InvitationOver:
        if isinstance(user, User) and _is_in(user, invitation):
            # A double click: the first of the two has let them in.
            return _enter(request)
        return _over(request, invitations.found(digest))


@require_POST
def with_another(request: HttpRequest) -> HttpResponse:
    """Log out, with the invitation still open, for whoever wants to join with another login."""
    digest = request.session.get(OPENED, "")
    logout(request)
    request.session[OPENED] = digest
    return redirect("join")


def _join_as(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponse:
    if request.method == "POST":
        invitations.accept(invitation.digest, user=user)
        return _enter(request)
    return render(request, "joining/join_as.html", _context(invitation))


def _join_as_new(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            user = invitations.accept_as_new(
                invitation.digest,
                username=given["username"],
                display_name=given["display_name"],
                password=given["password1"],
                language=translation.get_language(),
            )
        except invitations.NameTaken:
            form.add_error("username", gettext("Somebody has this user name already."))
        else:
            login(request, user, backend=BACKEND)
            return _enter(request)
    return render(request, "joining/join.html", {**_context(invitation), "form": form})


def _enter(request: HttpRequest) -> HttpResponse:
    del request.session[OPENED]
    return home(request)


def _is_in(user: User, invitation: Invitation) -> bool:
    return Membership.objects.filter(user=user, team=invitation.team).exists()


def _over(request: HttpRequest, invitation: Invitation | None) -> HttpResponse:
    state = invitations.state_of(invitation) if invitation is not None else "unknown"
    context = {"state": state, "invitation": invitation}
    return render(request, "joining/over.html", context, status=410)


def _context(invitation: Invitation) -> dict[str, Any]:
    by = invitation.created_by
    return {
        "team": invitation.team,
        "by": (by.get_full_name() or by.get_username()) if by is not None else "",
        "role": invitation.get_role_display(),
        "role_words": ROLE_WORDS[invitation.role],
        "is_member": invitation.role == Membership.Role.MEMBER,
    }
