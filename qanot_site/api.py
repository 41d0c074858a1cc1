"""`/api/v1`: the channels' routers under one roof, with one form of error."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, re_path
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from agents.api.problems import Problem, ProblemCode
from agents.api.router import router as agents_router
from agents.services import files
from memory.api import router as memory_router
from memory.documents_api import router as documents_router
from memory.facts_api import router as facts_router
from sessions.channels.rest.router import NAMESPACE, router

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
RETRY_AFTER_S = 2
# Headers and other fields of a form that brings a file.
MOST_AROUND_A_FILE = 2**20

_log = structlog.get_logger(__name__)


class Api(NinjaAPI):
    """Describes problems by their own content type, which Ninja has no word for."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    if int(status) >= HTTPStatus.BAD_REQUEST:
                        response["content"] = {
                            PROBLEM_TYPE: response["content"]["application/json"]
                        }
        return schema


api = Api(
    title="Qanot",
    version="1",
    description="Talk to a team's agents from a program. How to begin: docs/api.md.",
    urls_namespace=NAMESPACE,
)
api.add_router("", router)
api.add_router("", agents_router)
api.add_router("", memory_router)
api.add_router("", facts_router)
api.add_router("", documents_router)


def problem(
    request: HttpRequest,
    status: HTTPStatus,
    code: ProblemCode,
    detail: str | Promise,
    *,
    headers: Mapping[str, str] | None = None,
    errors: list[dict[str, str]] | None = None,
) -> HttpResponse:
    """Return a problem as RFC 9457 describes it."""
    body: dict[str, Any] = {
        "type": f"urn:qanot:problem:{code}",
        "title": status.phrase,
        "status": int(status),
        "detail": str(detail),
        "instance": request.path,
        "code": code,
    }
    if errors is not None:
        body["errors"] = errors
    return JsonResponse(body, status=status, content_type=PROBLEM_TYPE, headers=dict(headers or {}))


@api.exception_handler(Problem)
def _on_problem(request: HttpRequest, exc: Problem) -> HttpResponse:
    return problem(
        request, exc.status, exc.code, exc.detail, headers=exc.headers, errors=exc.errors
    )


@api.exception_handler(AuthenticationError)
def _on_no_token(request: HttpRequest, exc: AuthenticationError) -> HttpResponse:
    # RFC 6750: who sent nothing is told how, who sent something is told that it is not good.
    error = ', error="invalid_token"' if "Authorization" in request.headers else ""
    return problem(
        request,
        HTTPStatus.UNAUTHORIZED,
        "unauthorized",
        _("Send a valid token: “Authorization: Bearer qanot_…”."),
        headers={"WWW-Authenticate": f'Bearer realm="qanot"{error}'},
    )


@api.exception_handler(ValidationError)
def _on_invalid(request: HttpRequest, exc: ValidationError) -> HttpResponse:
    if any(error["loc"][0] == "path" for error in exc.errors):
        # What cannot be an id is nobody's id.
        return _not_found(request)
    return problem(
        request,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid",
        _("Some fields are not as they should be."),
        errors=[_field(error) for error in exc.errors],
    )


def _field(error: Mapping[str, Any]) -> dict[str, str]:
    source, *rest = error["loc"]
    # Ninja puts the body's parameter name between the source and the field.
    inside = rest[1:] if source == "body" else rest
    return {
        "field": ".".join(map(str, (source, *inside))),
        "code": error["type"],
        "detail": error["msg"],
    }


@api.exception_handler(HttpError)
def _on_unreadable(request: HttpRequest, exc: HttpError) -> HttpResponse:
    return problem(
        request, HTTPStatus.BAD_REQUEST, "malformed_body", _("The body is not valid JSON.")
    )


@api.exception_handler(Http404)
def _on_missing(request: HttpRequest, exc: Http404) -> HttpResponse:
    return _not_found(request)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def _on_no_database(request: HttpRequest, exc: Exception) -> HttpResponse:
    _log.warning("api.no_database", error=type(exc).__name__)
    return problem(
        request,
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        _(
            "The database does not answer. Try again soon; with the same Idempotency-Key "
            "nothing is said twice."
        ),
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


@api.exception_handler(Exception)
def _on_bug(request: HttpRequest, exc: Exception) -> HttpResponse:
    _log.error("api.failed", path=request.path, exc_info=exc)
    return problem(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal",
        _("Something broke on our side; the administrator finds it in the log."),
    )


def _not_found(request: HttpRequest) -> HttpResponse:
    return problem(request, HTTPStatus.NOT_FOUND, "not_found", _("There is nothing here."))


View = Callable[..., Awaitable[HttpResponseBase]]


def _with_problems(view: View) -> View:
    """Answer as the API does where Ninja answers in plain text, or reads without a limit."""

    @csrf_exempt
    async def answer(request: HttpRequest, **parameters: Any) -> HttpResponseBase:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        is_form = request.content_type == "multipart/form-data"
        if is_form:
            # Files are kept on disk while they come, and what holds none is small.
            limit = files.MAX_BYTES + MOST_AROUND_A_FILE
        if limit is not None and int(request.META.get("CONTENT_LENGTH") or 0) > limit:
            return problem(
                request,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "body_too_large",
                _("The body is too large."),
            )
        if is_form and not await asyncio.to_thread(_has_read, request):
            return problem(
                request,
                HTTPStatus.BAD_REQUEST,
                "malformed_body",
                _("The body is no form that can be read."),
            )
        response = await view(request, **parameters)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            return problem(
                request,
                HTTPStatus.METHOD_NOT_ALLOWED,
                "method_not_allowed",
                _("This address does not know the method."),
                headers={"Allow": response.headers["Allow"]},
            )
        # What people say to agents is nobody else's: not even a shared cache's.
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return answer


def _has_read(request: HttpRequest) -> bool:
    """Take a form apart, which Ninja would do on the event loop; return whether it is one."""
    try:
        _ = request.FILES
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        return False
    return True


@csrf_exempt
async def _unknown_address(request: HttpRequest) -> HttpResponse:
    return _not_found(request)


def _urls() -> tuple[list[URLPattern | URLResolver], str, str]:
    """Return Ninja's addresses, and the API's answer for all others below it."""
    patterns, app, namespace = api.urls
    for pattern in patterns:
        if not isinstance(pattern, URLPattern):
            continue
        if iscoroutinefunction(pattern.callback):
            pattern.callback = _with_problems(pattern.callback)
        elif pattern.name == "api-root":
            # Ninja needs its name, nobody needs its page.
            pattern.callback = _unknown_address
    return [*patterns, re_path("", _unknown_address)], app, namespace


urls = _urls()
