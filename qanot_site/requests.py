"""One id a request, in every log line that it causes, in its answer and on its error page."""

import re
import time
import uuid
from typing import Final

import structlog
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    ASGISendEvent,
    HTTPScope,
    Scope,
    WebSocketScope,
)
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from qanot_site import metrics

HEADER: Final = b"x-request-id"
# A proxy's own id is kept, so that its log and ours tell of the same request; anything else that
# somebody sends could forge lines or carry a secret.
_GIVEN: Final = re.compile(rb"[0-9a-fA-F-]{16,36}")


def with_request_id(application: ASGI3Application) -> ASGI3Application:
    """Give every request and socket an id; outermost, so that nothing is logged without it.

    As ASGI and not as Django's middleware: sockets pass here too, and requests that Django
    refuses before its middleware.
    """

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "lifespan":
            await application(scope, receive, send)
            return
        request_id = _id_of(scope)
        began = time.monotonic()

        async def send_with_id(message: ASGISendEvent) -> None:
            if message["type"] == "http.response.start":
                named = (HEADER, request_id.encode())
                message["headers"] = [*message.get("headers", ()), named]
                method = scope["method"] if scope["type"] == "http" else ""
                metrics.count_request(method, message["status"], began)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await application(scope, receive, send_with_id)

    return answer


def _id_of(scope: HTTPScope | WebSocketScope) -> str:
    for name, value in scope["headers"]:
        if name == HEADER and _GIVEN.fullmatch(value):
            return value.decode()
    return uuid.uuid4().hex


def current_id() -> str:
    """Return the running request's id; empty outside of one."""
    return str(structlog.contextvars.get_contextvars().get("request_id", ""))


def broke(request: HttpRequest) -> HttpResponse:
    """Show that something broke, with the id under which the log tells of it."""
    return render(request, "500.html", {"request_id": current_id()}, status=500)
