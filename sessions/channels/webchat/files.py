"""Files of the chat's page: brought by a form, fetched by their id."""

from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from agents.services import people
from agents.services.access import user_of
from sessions import downloads, uploads
from sessions.channels import serving
from sessions.channels.webchat import access
from sessions.errors import UploadFault, UploadRefused

WORDS: Final = {
    "missing": _("No file arrived."),
    "empty": _("There is nothing in this file."),
    "too_large": _("A file may have at most 20 MB."),
    "too_many": _("Too many files wait to be sent. Send some of them first."),
}
STATUSES: Final[dict[UploadFault, HTTPStatus]] = {
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "too_many": HTTPStatus.TOO_MANY_REQUESTS,
}


@require_POST
@login_required
def upload(request: HttpRequest) -> JsonResponse:
    """Keep a file until a message to an agent names it.

    Raises:
        Http404: The user may not talk to the agent, or it does not exist.
    """
    user = user_of(request)
    try:
        agent = access.agent(user, UUID(request.POST.get("agent", "")))
    except ValueError:
        agent = None
    if agent is None:
        raise Http404
    brought = request.FILES.get("file")
    try:
        file = uploads.take(
            brought,
            declared=getattr(brought, "content_type", None) or "",
            person=people.person_of(user, agent.team),
        )
    except UploadRefused as refusal:
        status = STATUSES.get(refusal.code, HTTPStatus.UNPROCESSABLE_ENTITY)
        return JsonResponse({"code": refusal.code, "text": WORDS[refusal.code]}, status=status)
    return JsonResponse(
        {
            "id": file.public_id,
            "kind": uploads.kind_of(file.media_type),
            "name": file.name,
            "size_bytes": file.size_bytes,
        },
        status=HTTPStatus.CREATED,
    )


@require_safe
@login_required
def download(request: HttpRequest, file: UUID) -> HttpResponseBase:
    """Send a file of one of the user's own conversations; `?inline` lets a picture be shown.

    Raises:
        Http404: There is none, or it is somebody else's, which look alike.
    """
    found = downloads.find(file, access.own_sessions(user_of(request)))
    if found is None:
        raise Http404
    try:
        return serving.response_of(found, inline="inline" in request.GET)
    except OSError as lost:
        raise Http404 from lost
