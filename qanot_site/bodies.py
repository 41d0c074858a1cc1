"""How much a request may bring: Django writes a body to the disk before it looks at anything."""

from http import HTTPStatus
from typing import Final, cast

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    ASGISendEvent,
    HTTPScope,
    Scope,
)

# The largest file and what a form has around it; proxies are told the same (deploy/).
MAX_BYTES: Final = 25 * 10**6


def within_limit(application: ASGI3Application) -> ASGI3Application:
    """Answer 413 in an application's place where a request brings more than ``MAX_BYTES``."""

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request = cast(HTTPScope, scope)
        if _named_length(request) > MAX_BYTES:
            await _refuse(send)
            return
        counted = _Counted(receive, send)
        await application(scope, counted.receive, counted.send)
        if counted.is_over and not counted.has_answered:
            await _refuse(send)

    return answer


class _Counted:
    """A request whose body ends for the application where it is too long."""

    def __init__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        self._receive, self._send = receive, send
        self._count = 0
        self.is_over = self.has_answered = False

    async def receive(self) -> ASGIReceiveEvent:
        event = await self._receive()
        if event["type"] == "http.request":
            self._count += len(event.get("body", b""))
            if self._count > MAX_BYTES:
                self.is_over = True
                # Django drops what it has written so far, and says nothing.
                return {"type": "http.disconnect"}
        return event

    async def send(self, event: ASGISendEvent) -> None:
        self.has_answered = True
        await self._send(event)


def _named_length(scope: HTTPScope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _refuse(send: ASGISendCallable) -> None:
    # The rest of the body is not read; the connection cannot be used for another request.
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await send(
        {
            "type": "http.response.start",
            "status": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "headers": headers,
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": b"", "more_body": False})
