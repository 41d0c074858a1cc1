"""Every request has one id: in its answer, in its log lines, on its error page."""

import re
from typing import Any

import pytest
import structlog
from asgiref.testing import ApplicationCommunicator
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from django.test import RequestFactory

from qanot_site import requests
from qanot_site.asgi import application

# Any: asgiref's own test client is not typed.
_communicator: Any = ApplicationCommunicator
PROXYS_ID = "0af7651916cd43dd8448eb211c80319c"


async def answer_to(path: str, *, given: bytes | None = None) -> tuple[int, list[bytes]]:
    headers = [(b"host", b"localhost")]
    if given is not None:
        headers.append((requests.HEADER, given))
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    browser = _communicator(application, {**scope, "query_string": b""})
    await browser.send_input({"type": "http.request"})
    response = await browser.receive_output()
    await browser.wait()
    ids = [value for name, value in response["headers"] if name == requests.HEADER]
    return response["status"], ids


async def test_answers_carry_an_id_of_their_own() -> None:
    (_, (first,)), (_, (second,)) = [await answer_to("/healthz") for _ in range(2)]
    assert re.fullmatch(rb"[0-9a-f]{32}", first)
    assert first != second


async def test_a_proxys_id_is_kept_and_anything_else_is_not() -> None:
    assert await answer_to("/healthz", given=PROXYS_ID.encode()) == (200, [PROXYS_ID.encode()])
    for forged in (b"short", b"x" * 32, b'"}\n{"event": "login.ok"}', b"0" * 500):
        _, (used,) = await answer_to("/healthz", given=forged)
        assert used != forged


async def test_log_lines_within_a_request_have_its_id_and_later_ones_do_not() -> None:
    seen: list[str] = []

    async def inner(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        seen.append(requests.current_id())
        seen.append(structlog.contextvars.get_contextvars()["request_id"])

    scope = {"type": "websocket", "headers": [(requests.HEADER, PROXYS_ID.encode())]}
    await requests.with_request_id(inner)(scope, None, None)  # type: ignore[arg-type]  # unused
    assert seen == [PROXYS_ID, PROXYS_ID]
    assert requests.current_id() == ""


def test_error_page_names_the_id(rf: RequestFactory) -> None:
    with structlog.contextvars.bound_contextvars(request_id=PROXYS_ID):
        page = requests.broke(rf.get("/"))
    assert page.status_code == 500
    assert PROXYS_ID in page.content.decode()


@pytest.mark.django_db
def test_error_page_without_an_id_still_answers(rf: RequestFactory) -> None:
    assert "the log under" not in requests.broke(rf.get("/")).content.decode()
