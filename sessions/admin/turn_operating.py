"""The two buttons of a turn's page: end it, try it again."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _

from agents.models import User
from agents.services import access
from sessions import operating
from sessions.admin.turn_course import course_of
from sessions.errors import AlreadyAnswered, NothingLeftToAsk, NotOver
from sessions.models import ChatSession, Turn
from sessions.operating import Ended

_PAGE = "admin:bot_sessions_turn_change"


class Operated:
    """Mixed into the turns' page, whose rows are the viewer's teams' already.

    Whoever sees the page is an owner, editor or operator, and may do both.
    """

    change_form_outer_before_template = "admin/operator/turn.html"

    def get_urls(self) -> list[URLPattern]:
        """Return the buttons' addresses before the page's."""
        page: Any = self  # a mixin of a ModelAdmin
        own = [
            path(
                f"<int:turn_id>/{name}/",
                page.admin_site.admin_view(partial(_on_button, page, view)),
                name=f"bot_sessions_turn_{name}",
            )
            for name, view in (("end", _end), ("retry", _retry))
        ]
        return [*own, *super().get_urls()]  # type: ignore[misc]  # of the ModelAdmin

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the page with the turn's course."""
        page: Any = self
        turn = page.get_object(request, object_id)
        if turn is not None:
            extra_context = {
                **(extra_context or {}),
                "course": course_of(turn, may_read=_may_read(turn, access.user_of(request))),
                "may_end": not turn.is_over,
                "may_retry": turn.is_over and turn.state != Turn.State.ANSWERED,
            }
        response: HttpResponse = super().change_view(  # type: ignore[misc]  # of the ModelAdmin
            request, object_id, form_url, extra_context
        )
        return response


def _may_read(turn: Turn, user: User) -> bool:
    """Return whether the conversation's words are this user's own, or a group's."""
    person = turn.session.person
    is_own = person is not None and person.user_id == user.pk
    return is_own or turn.session.kind == ChatSession.Kind.GROUP


def _on_button(page: Any, view: Any, request: HttpRequest, turn_id: int) -> HttpResponse:
    """Do what a button asks to a turn of the user's teams; any other does not exist."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if not page.get_queryset(request).filter(pk=turn_id).exists():
        raise Http404
    user = access.user_of(request)
    answer: HttpResponse = view(request, turn_id, user)
    return answer


def _end(request: HttpRequest, turn_id: int, user: User) -> HttpResponse:
    match operating.end(turn_id, by=user):
        case Ended.ENDED:
            messages.success(request, _("The turn is ended. Its person is told."))
        case Ended.ASKED:
            messages.success(request, _("Its worker was asked to stop; that takes a moment."))
        case Ended.WAS_OVER:
            messages.info(request, _("The turn was over already."))
    return redirect(_PAGE, turn_id)


def _retry(request: HttpRequest, turn_id: int, user: User) -> HttpResponse:
    try:
        retried = operating.retry(turn_id, by=user)
    except NotOver:
        messages.error(request, _("The turn is not over yet: end it first."))
    except AlreadyAnswered:
        messages.error(request, _("The turn has its answer already."))
    except NothingLeftToAsk:
        messages.error(request, _("What was asked has been erased, so nobody can answer it."))
    else:
        said = (
            _("The same is asked again, by this turn.")
            if retried.is_new
            else _("It was tried again before, by this turn.")
        )
        messages.success(request, said)
        return redirect(_PAGE, retried.turn.pk)
    return redirect(_PAGE, turn_id)
