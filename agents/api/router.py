"""The operations on agents and their documents: parse, call one function, format."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Final
from uuid import UUID

from django.http import HttpResponse
from ninja import Header, Path, Router, Status

from agents.api import editing
from agents.api.auth import ApiRequest, BearerToken
from agents.api.problems import ProblemOut
from agents.api.schemas import (
    NAME_PATTERN,
    AgentDetailOut,
    AgentPatch,
    DocumentIn,
    DocumentsOut,
    DocumentTextOut,
)
from agents.db import in_db
from agents.models import ApiToken

_READ: Final = BearerToken(ApiToken.Scope.AGENTS_READ, ApiToken.Scope.AGENTS_WRITE)
_WRITE: Final = BearerToken(ApiToken.Scope.AGENTS_WRITE)

router = Router(auth=_READ, tags=["agents"])

_PROBLEMS: Final[Mapping[int, type[ProblemOut]]] = {
    status: ProblemOut for status in (401, 403, 404, 422, 503)
}
_PROBLEMS_OF_WRITES: Final[Mapping[int, type[ProblemOut]]] = {
    **_PROBLEMS,
    **{status: ProblemOut for status in (400, 409, 412, 413, 428)},
}

_TAG_PATTERN: Final = "^[!-~ ]{0,300}$"
IfMatch = Annotated[
    str,
    Header(
        alias="If-Match",
        pattern=_TAG_PATTERN,
        description="The ETag that you have read: another one is refused with 412.",
    ),
]
IfNoneMatch = Annotated[
    str,
    Header(
        alias="If-None-Match",
        pattern=_TAG_PATTERN,
        description="`*` in the place of If-Match, to make a document that is not there yet.",
    ),
]
DocumentName = Annotated[str, Path(pattern=NAME_PATTERN, description="Such as SOUL.md.")]


@router.get("/agents/{agent_id}", response={200: AgentDetailOut, **_PROBLEMS}, url_name="agent")
async def read_agent(request: ApiRequest, response: HttpResponse, agent_id: UUID) -> AgentDetailOut:
    """Read an agent's settings. The ETag is what If-Match takes when you change them."""
    agent, response["ETag"] = await in_db(editing.agent_of, request.auth, agent_id)
    return agent


@router.patch(
    "/agents/{agent_id}",
    response={200: AgentDetailOut, **_PROBLEMS_OF_WRITES},
    auth=_WRITE,
    url_name="agent",
)
async def change_agent(
    request: ApiRequest,
    response: HttpResponse,
    agent_id: UUID,
    patch: AgentPatch,
    if_match: IfMatch = "",
) -> AgentDetailOut:
    """Change what is named of an agent's settings; the rest stays."""
    agent, response["ETag"] = await in_db(
        editing.change_agent, request.auth, agent_id, patch, if_match=if_match
    )
    return agent


@router.get(
    "/agents/{agent_id}/documents",
    response={200: DocumentsOut, **_PROBLEMS},
    url_name="documents",
)
async def list_documents(request: ApiRequest, agent_id: UUID) -> DocumentsOut:
    """List an agent's persona documents. A person's USER.md is nobody else's and not listed."""
    return await in_db(editing.documents_of, request.auth, agent_id)


@router.get(
    "/agents/{agent_id}/documents/{name}",
    response={200: DocumentTextOut, **_PROBLEMS},
    url_name="document",
)
async def read_document(
    request: ApiRequest, response: HttpResponse, agent_id: UUID, name: DocumentName
) -> DocumentTextOut:
    """Read a persona document with its text."""
    document, response["ETag"] = await in_db(editing.document_of, request.auth, agent_id, name)
    return document


@router.put(
    "/agents/{agent_id}/documents/{name}",
    response={200: DocumentTextOut, 201: DocumentTextOut, **_PROBLEMS_OF_WRITES},
    auth=_WRITE,
    url_name="document",
)
async def put_document(
    request: ApiRequest,
    response: HttpResponse,
    agent_id: UUID,
    name: DocumentName,
    document: DocumentIn,
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> Status[DocumentTextOut]:
    """Give a document a new text, kept as a version (200), or make it (201)."""
    stored, response["ETag"], is_new = await in_db(
        editing.put_document,
        request.auth,
        agent_id,
        name,
        document,
        if_match=if_match,
        if_none_match=if_none_match,
    )
    return Status(HTTPStatus.CREATED if is_new else HTTPStatus.OK, stored)
