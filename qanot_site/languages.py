"""The language of a request: the user's own, else this browser's choice, else its languages."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import translation
from django.utils.decorators import sync_and_async_middleware
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from agents.models import User
from agents.services import people

Respond = Callable[[HttpRequest], Any]
Middleware = (
    Callable[[HttpRequest], HttpResponseBase] | Callable[[HttpRequest], Awaitable[HttpResponseBase]]
)

# Programs ask there; looking for a login would only cost them a query.
WITHOUT_LOGIN: Final = ("/api/", "/healthz", "/readyz")


@sync_and_async_middleware
def language_of_the_user(get_response: Respond) -> Middleware:
    """Answer in the user's own language; stands after the middleware that knows the user.

    Django's LocaleMiddleware, further out, has taken the cookie's or the browser's language by
    then. For a user who has none yet, that one becomes their own: so that workers, which see no
    browser, answer in it too.
    """
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponseBase:
            if _may_be_logged_in(request):
                await sync_to_async(_activate, thread_sensitive=True)(request)
            response: HttpResponseBase = await get_response(request)
            return response

        return answer_later

    def answer(request: HttpRequest) -> HttpResponseBase:
        if _may_be_logged_in(request):
            _activate(request)
        response: HttpResponseBase = get_response(request)
        return response

    return answer


@never_cache
@require_POST
def choose(request: HttpRequest) -> HttpResponseRedirect:
    """Keep the chosen language, with the user and in this browser, and go back to the page.

    A code that is none of ours changes nothing.
    """
    response = HttpResponseRedirect(_way_back(request))
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return response
    if isinstance(request.user, User):
        people.choose_language(request.user, language)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        httponly=True,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        samesite="Lax",
    )
    return response


def admin_menu(request: HttpRequest) -> list[dict[str, str]]:
    """Return the languages as Unfold's user menu takes them, each by its own name."""
    return [{"code": code, "name_local": str(name)} for code, name in settings.LANGUAGES]


def _may_be_logged_in(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES and not request.path_info.startswith(
        WITHOUT_LOGIN
    )


def _activate(request: HttpRequest) -> None:
    user = request.user
    if not isinstance(user, User):
        return
    if not user.language and _browser_said_something(request):
        people.settle_language(user, translation.get_language() or settings.LANGUAGE_CODE)
    if user.language:
        translation.activate(user.language)
        # As LocaleMiddleware sets it: Django's templates and the response's header read it.
        request.LANGUAGE_CODE = user.language


def _browser_said_something(request: HttpRequest) -> bool:
    return settings.LANGUAGE_COOKIE_NAME in request.COOKIES or "Accept-Language" in request.headers


def _way_back(request: HttpRequest) -> str:
    """Return the page that the choice was made on; the home page where that is not ours.

    The chat changes its address while it is open, so the browser's word is the better one, and
    only Unfold's form names an address.
    """
    for address in (request.POST.get("next", ""), request.headers.get("Referer", "")):
        if url_has_allowed_host_and_scheme(
            address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        ):
            return address
    return reverse("home")
