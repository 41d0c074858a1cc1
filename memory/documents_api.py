"""One's own documents over REST: brought, looked at, taken out."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Final
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext as _
from ninja import File, Query, Router, Schema, Status, UploadedFile
from pydantic import Field

from agents.api import foreign
from agents.api.auth import ApiRequest, BearerToken
from agents.api.problems import Problem, ProblemOut
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.models import Agent, ApiToken
from agents.services.files import MAX_BYTES
from memory import upload_words, uploads
from memory.errors import UploadRefused
from memory.models import UploadedDocument, scope_of

router = Router(auth=BearerToken(ApiToken.Scope.CHAT), tags=["memory"])

_PROBLEMS: Final[Mapping[int, type[ProblemOut]]] = {
    status: ProblemOut for status in (401, 403, 404, 422, 503)
}
_ADDRESS: Final = "/agents/{agent_id}/memory/documents"
_ONE: Final = f"{_ADDRESS}/{{document_id}}"


class DocumentErrorOut(Schema):
    """Why a document cannot be read."""

    code: str
    detail: str


class UploadedOut(Schema):
    """One uploaded document."""

    id: UUID
    name: str
    of: str = Field(description="person: yours; chat, agent, team: shared with you.")
    state: str = Field(description="waiting, reading, ready or failed.")
    error: DocumentErrorOut | None
    size_bytes: int
    characters: int
    pieces: int
    found_percent: int = Field(description="How much of it can be found by now.")
    created_at: datetime


class UploadedListOut(Schema):
    """A page of documents, the newest first."""

    items: list[UploadedOut]
    before: UUID | None = Field(
        description="Send it as `before` for the next page; null at the end."
    )


@router.post(
    _ADDRESS,
    response={200: UploadedOut, 201: UploadedOut, 413: ProblemOut, **_PROBLEMS},
    url_name="own_uploads",
)
async def upload_document(
    request: ApiRequest, agent_id: UUID, file: File[UploadedFile]
) -> Status[UploadedOut]:
    """Bring a file that an agent can look things up in for you (201).

    It is read in the background; the same file brought again is the same document (200).
    """
    uploaded, is_new = await in_db(_upload, request.auth, agent_id, file)
    return Status(HTTPStatus.CREATED if is_new else HTTPStatus.OK, uploaded)


@router.get(_ADDRESS, response={200: UploadedListOut, **_PROBLEMS}, url_name="own_uploads")
async def list_uploads(
    request: ApiRequest,
    agent_id: UUID,
    before: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> UploadedListOut:
    """Read which documents an agent looks into for you, and how far each is."""
    return await in_db(_listed, request.auth, agent_id, before, limit)


@router.get(_ONE, response={200: UploadedOut, **_PROBLEMS}, url_name="own_upload")
async def read_upload(request: ApiRequest, agent_id: UUID, document_id: UUID) -> UploadedOut:
    """Read how far a document is."""
    return await in_db(_one, request.auth, agent_id, document_id)


@router.delete(_ONE, response={204: None, **_PROBLEMS}, url_name="own_upload")
async def remove_upload(request: ApiRequest, agent_id: UUID, document_id: UUID) -> HttpResponse:
    """Take a document of yours out, with all that was found in it."""
    await in_db(_remove, request.auth, agent_id, document_id)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def _upload(token: ApiToken, agent_id: UUID, file: UploadedFile) -> tuple[UploadedOut, bool]:
    viewer = _viewer(token, agent_id)
    try:
        if (file.size or 0) > MAX_BYTES:
            raise UploadRefused("too_large")
        document, is_new = uploads.add(
            file.read(),
            name=file.name or "",
            home=scope_of(viewer),
            source=f"person:{token.person_id}",
            author=token.person.user,
        )
    except UploadRefused as refusal:
        is_large = refusal.code == "too_large"
        raise Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_large else HTTPStatus.UNPROCESSABLE_ENTITY,
            "body_too_large" if is_large else "invalid",
            upload_words.of_error(refusal.code),
        ) from refusal
    return _out([document])[0], is_new


def _listed(token: ApiToken, agent_id: UUID, before: UUID | None, limit: int) -> UploadedListOut:
    rows = _visible(_viewer(token, agent_id))
    if before is not None:
        # Ids of this kind are in the order of their making.
        rows = rows.filter(public_id__lt=before)
    page = list(rows.order_by("-public_id")[: limit + 1])
    shown = page[:limit]
    return UploadedListOut(
        items=_out(shown), before=shown[-1].public_id if len(page) > limit else None
    )


def _one(token: ApiToken, agent_id: UUID, document_id: UUID) -> UploadedOut:
    found = _visible(_viewer(token, agent_id)).filter(public_id=document_id).first()
    if found is None:
        raise _missing(token, document_id)
    return _out([found])[0]


def _remove(token: ApiToken, agent_id: UUID, document_id: UUID) -> None:
    own = uploads.in_scope(scope_of(_viewer(token, agent_id)))
    found = own.filter(public_id=document_id).first()
    if found is None:
        raise _missing(token, document_id)
    uploads.forget(found, actor=f"person:{token.person_id}")


def _visible(viewer: Viewer) -> QuerySet[UploadedDocument]:
    rows = UploadedDocument.objects.visible_to(viewer)
    return rows.select_related("file").defer("parts")


def _out(documents: "list[UploadedDocument]") -> list[UploadedOut]:
    progress = uploads.progress(documents)
    return [
        UploadedOut(
            id=document.public_id,
            name=document.name,
            of=document.scope,
            state=document.state,
            error=DocumentErrorOut(
                code=document.error, detail=upload_words.of_error(document.error)
            )
            if document.error
            else None,
            size_bytes=document.file.size_bytes,
            characters=document.characters,
            pieces=document.pieces,
            found_percent=progress[document.pk].percent if document.pk in progress else 0,
            created_at=document.created_at,
        )
        for document in documents
    ]


def _missing(token: ApiToken, document_id: UUID) -> Problem:
    return foreign.missing(
        token,
        _("There is no such document."),
        what=f"upload:{document_id}",
        others=UploadedDocument.objects.filter(public_id=document_id),
    )


def _viewer(token: ApiToken, agent_id: UUID) -> Viewer:
    """Return the token's person with one of the team's living agents.

    Raises:
        Problem: There is no such agent; another team's looks the same.
    """
    agent = Agent.objects.filter(
        public_id=agent_id, team_id=token.team_id, archived_at=None
    ).first()
    if agent is None:
        raise foreign.missing(
            token,
            _("There is no such agent."),
            what=f"agent:{agent_id}",
            others=Agent.objects.filter(public_id=agent_id).exclude(team_id=token.team_id),
        )
    return Viewer(token.team_id, agent.pk, person_id=token.person_id, is_private=True)
