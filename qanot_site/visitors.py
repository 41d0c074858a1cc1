"""Who comes in, from where, with what: written down at each log-in, log-out and wrong password.

Django's own signals are the seam, so that every way in is noted, whoever wrote its view.
"""

import ipaddress
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from agents.models import LoginRecord, User
from agents.services import logins


def listen() -> None:
    """Note log-ins from now on; called once, when the apps are ready."""
    user_logged_in.connect(_note_login, dispatch_uid="qanot.login")
    user_logged_out.connect(_note_logout, dispatch_uid="qanot.logout")
    user_login_failed.connect(_note_failure, dispatch_uid="qanot.failure")


def address_of(request: HttpRequest) -> str | None:
    """Return the visitor's IP address; None where the web server does not know one.

    Behind a proxy it is what the proxy says, but only where the proxy's own address stands in
    FORWARDED_ALLOW_IPS: uvicorn decides that, and no header is read here (docs/deploy.md).
    """
    text = request.META.get("REMOTE_ADDR", "").partition("%")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


def counted_address_of(request: HttpRequest) -> str | None:
    """Return the address under which wrong passwords are counted.

    Of IPv6 it is the network of 64 bits: everybody who has one has all of its addresses, and could
    try each password from another.
    """
    text = address_of(request)
    if text is None or ":" not in text:
        return text
    return str(ipaddress.ip_network(f"{text}/64", strict=False).network_address)


def counted_name_of(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Return the user name under which wrong passwords are counted.

    Nobody has a longer one than its column takes, and the table of failures takes no longer one.
    """
    given = (credentials or request.POST).get("username") or ""
    return str(given)[: User._meta.get_field("username").max_length]


def _note_login(sender: object, request: HttpRequest, user: User, **_more: Any) -> None:
    # A program that logs somebody in without a request has no browser to list.
    if request.method is None:
        return
    if request.session.session_key is None:
        request.session.create()
    logins.note(
        user,
        session_key=str(request.session.session_key),
        address=address_of(request),
        browser=request.headers.get("User-Agent", ""),
    )


def _note_logout(sender: object, request: HttpRequest, user: User | None, **_more: Any) -> None:
    if user is None or request.session.session_key is None:
        return
    rows = LoginRecord.objects.filter(user=user, session_key=request.session.session_key)
    logins.end(rows.select_related("user"), by=user)


def _note_failure(
    sender: object, credentials: dict[str, Any], request: HttpRequest | None = None, **_more: Any
) -> None:
    # During a pause django-axes counts nothing, and nothing is written down either: its handler
    # comes first and leaves the number of failures on requests that it counted.
    if getattr(request, "axes_failures_since_start", None) is not None:
        logins.note_failure(str(credentials.get("username", "")))
