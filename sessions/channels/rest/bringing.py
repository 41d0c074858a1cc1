"""Files over REST: from a request's file to a stored one, and back."""

from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from ninja import UploadedFile

from agents.api.problems import Problem
from agents.models import ApiToken
from sessions import uploads
from sessions.channels import serving
from sessions.channels.rest import reading
from sessions.channels.rest.schemas import UploadOut
from sessions.errors import UploadRefused

_DETAILS: Final = {
    "missing": gettext_lazy("Send a form with the file in the field “file”."),
    "empty": gettext_lazy("There is nothing in this file."),
    "too_many": gettext_lazy("Too many files wait to be sent. Send some of them first."),
}


def take(token: ApiToken, upload: UploadedFile) -> UploadOut:
    """Keep a file until a message of the token's person names it.

    Raises:
        Problem: It is not taken.
    """
    try:
        file = uploads.take(upload, declared=upload.content_type or "", person=token.person)
    except UploadRefused as refusal:
        if refusal.code == "too_large":
            raise Problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "body_too_large",
                _("A file may have at most 20 MB."),
            ) from refusal
        is_full = refusal.code == "too_many"
        status = HTTPStatus.TOO_MANY_REQUESTS if is_full else HTTPStatus.UNPROCESSABLE_ENTITY
        raise Problem(status, "file_refused", _DETAILS[refusal.code]) from refusal
    return UploadOut(
        id=file.public_id,
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
    )


def fetch(token: ApiToken, file_id: UUID) -> StreamingHttpResponse:
    """Return a file of the person's own conversations.

    Raises:
        Problem: There is none; a foreign one looks the same.
    """
    file = reading.find_file(token, file_id)
    try:
        return serving.response_of(file)
    except OSError as lost:
        raise reading.no_file(token, file_id) from lost
