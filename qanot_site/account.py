"""Where am I logged in: everybody's own list, and its end."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agents.models import LoginRecord
from agents.services import access, browsers, logins


@never_cache
@require_safe
@login_required
def page(request: HttpRequest) -> HttpResponse:
    """Show the user's log-ins that hold, this one first."""
    here = request.session.session_key
    rows = [
        {
            "record": row,
            "browser": browsers.in_short(row.user_agent),
            "is_here": row.session_key == here,
        }
        for row in logins.open_of([access.user_of(request)])
    ]
    rows.sort(key=lambda row: not row["is_here"])
    context = {"rows": rows, "others": sum(not row["is_here"] for row in rows), "at": "logins"}
    return render(request, "account/logins.html", context)


@require_POST
@login_required
def end(request: HttpRequest) -> HttpResponse:
    """End one of the user's log-ins, or all but this one."""
    user = access.user_of(request)
    here = request.session.session_key or ""
    chosen = request.POST.get("login", "")
    if chosen == "others":
        logins.end_all(user, by=user, keep=here)
    elif chosen.isascii() and chosen.isdecimal() and len(chosen) < 19:
        rows = LoginRecord.objects.filter(pk=int(chosen), user=user).exclude(session_key=here)
        logins.end(rows.select_related("user"), by=user)
    return redirect("logins")
