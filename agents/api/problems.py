"""What the API answers instead of a result, as RFC 9457 describes it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

from django.utils.functional import Promise
from ninja import Schema
from pydantic import Field

ProblemCode = Literal[
    "unauthorized",
    "scope_missing",
    "role_missing",
    "not_found",
    "method_not_allowed",
    "malformed_body",
    "body_too_large",
    "invalid",
    "managed_by_file",
    "precondition_failed",
    "precondition_required",
    "empty_message",
    "message_too_long",
    "key_reused",
    "files_gone",
    "file_refused",
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
        # One for each field that is not as it should be, where there are any (`FieldProblem`).
        self.errors: list[dict[str, str]] | None = None


class FieldProblem(Schema):
    """What is wrong with one field."""

    field: str = Field(description="Where it is, such as `body.text` or `query.limit`.")
    code: str
    detail: str


class ProblemOut(Schema):
    """A problem as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: ProblemCode
    errors: list[FieldProblem] = Field(default=[], description="Only for `invalid`.")
