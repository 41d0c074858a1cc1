"""What the API answers instead of a result, as RFC 9457 describes it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

from django.utils.functional import Promise

ProblemCode = Literal[
    "unauthorized",
    "scope_missing",
    "not_found",
    "method_not_allowed",
    "malformed_body",
    "body_too_large",
    "invalid",
    "empty_message",
    "message_too_long",
    "key_reused",
    "unavailable",
    "internal",
]


class Problem(Exception):
    """A request that is not fulfilled.

    Args:
        code: Stable, for programs to decide by.
        detail: For people, in their language; says what to do where there is something to do.
        headers: Further response headers.
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: ProblemCode,
        detail: "str | Promise",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
