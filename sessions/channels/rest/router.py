"""The API's operations: parse, call one service, format."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.urls import reverse
from ninja import File, Header, Query, Router, Status, UploadedFile

from agents.api.auth import ApiRequest, BearerToken
from agents.api.problems import ProblemOut
from agents.db import in_db
from agents.models import ApiToken
from sessions.channels.rest import bringing, posting, reading, streaming
from sessions.channels.rest.schemas import (
    AgentsOut,
    ConversationsOut,
    MessageIn,
    PostedOut,
    TranscriptOut,
    TurnOut,
    UploadOut,
)
from sessions.turns import stopping

NAMESPACE: Final = "api"
LONGEST_WAIT_S: Final = 60

_CHAT: Final = ApiToken.Scope.CHAT
router = Router(auth=BearerToken(_CHAT), tags=["chat"])

_PROBLEMS: Final[Mapping[int, type[ProblemOut]]] = {
    status: ProblemOut for status in (401, 403, 422, 503)
}
_PROBLEMS_OF_ONE: Final[Mapping[int, type[ProblemOut]]] = {**_PROBLEMS, 404: ProblemOut}
_EVENT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "<attempt>-<n>, for Last-Event-ID."},
        "event": {"type": "string", "description": "The frame's type."},
        "data": {"type": "string", "description": "A frame of docs/events.md, as JSON."},
    },
}
_STREAM: Final[dict[str, Any]] = {
    "responses": {
        200: {
            "description": "Events up to turn.ended.",
            "content": {"text/event-stream": {"schema": _EVENT}},
        }
    }
}
_BYTES: Final[dict[str, Any]] = {
    "responses": {
        200: {
            "description": "The file's bytes, to be saved.",
            "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    }
}

Limit = Annotated[int, Query(ge=1, le=100)]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="Your own id of the message: posting it again changes nothing.",
    ),
]


@router.get(
    "/agents",
    response={200: AgentsOut, **_PROBLEMS},
    auth=BearerToken(_CHAT, ApiToken.Scope.AGENTS_READ, ApiToken.Scope.AGENTS_WRITE),
    url_name="agents",
)
async def list_agents(request: ApiRequest) -> AgentsOut:
    """List the agents that one may talk to."""
    return AgentsOut(items=await in_db(reading.agents, request.auth))


@router.post(
    "/agents/{agent_id}/messages",
    response={200: PostedOut, 202: PostedOut, 400: ProblemOut, 413: ProblemOut, **_PROBLEMS_OF_ONE},
    url_name="messages",
)
async def post_message(
    request: ApiRequest,
    response: HttpResponse,
    agent_id: UUID,
    message: MessageIn,
    idempotency_key: Key = "",
) -> Status[PostedOut]:
    """Say something to an agent; its answer is the turn's.

    The first time a message is accepted (202); repeated with the same key it is the same
    message and turn (200).
    """
    posted, is_new = await in_db(posting.post, request.auth, agent_id, message, key=idempotency_key)
    response["Location"] = reverse(f"{NAMESPACE}:turn", args=[posted.turn.id])
    return Status(HTTPStatus.ACCEPTED if is_new else HTTPStatus.OK, posted)


@router.get("/turns/{turn_id}", response={200: TurnOut, **_PROBLEMS_OF_ONE}, url_name="turn")
async def read_turn(
    request: ApiRequest,
    turn_id: UUID,
    wait: Annotated[
        float,
        Query(ge=0, le=LONGEST_WAIT_S, description="Seconds to wait for the turn's end."),
    ] = 0,
) -> TurnOut:
    """Read how far a turn is, and its answer once it is over."""
    if wait:
        watched = await in_db(reading.watched, request.auth, turn_id)
        await streaming.wait_until_over(watched, wait)
    return await in_db(reading.turn_of, request.auth, turn_id)


@router.post(
    "/turns/{turn_id}/stop",
    response={200: TurnOut, 202: TurnOut, **_PROBLEMS_OF_ONE},
    url_name="stop",
)
async def stop_turn(request: ApiRequest, turn_id: UUID) -> Status[TurnOut]:
    """Ask a turn to stop (202); one that is over stays as it is (200)."""
    turn = await in_db(_stop, request.auth, turn_id)
    return Status(HTTPStatus.OK if turn.is_over else HTTPStatus.ACCEPTED, turn)


@router.get(
    "/turns/{turn_id}/events",
    response=dict(_PROBLEMS_OF_ONE),
    openapi_extra=_STREAM,
    url_name="events",
)
async def stream_turn(
    request: ApiRequest,
    turn_id: UUID,
    last_event_id: Annotated[
        str,
        Header(alias="Last-Event-ID", description="The last event you have; the rest follows."),
    ] = "",
) -> StreamingHttpResponse:
    """Follow a turn's live events up to its end, as server-sent events."""
    watched = await in_db(reading.watched, request.auth, turn_id)
    response = StreamingHttpResponse(
        streaming.stream(watched, last_event_id), content_type="text/event-stream"
    )
    # nginx would gather the events.
    response["X-Accel-Buffering"] = "no"
    return response


@router.get(
    "/conversations", response={200: ConversationsOut, **_PROBLEMS_OF_ONE}, url_name="conversations"
)
async def list_conversations(
    request: ApiRequest, before: UUID | None = None, limit: Limit = 20
) -> ConversationsOut:
    """List one's own conversations, the newest first."""
    return await in_db(reading.conversations_of, request.auth, before=before, limit=limit)


@router.get(
    "/conversations/{conversation_id}/transcript",
    response={200: TranscriptOut, **_PROBLEMS_OF_ONE},
    url_name="transcript",
)
async def read_transcript(
    request: ApiRequest,
    conversation_id: UUID,
    before: UUID | None = None,
    limit: Limit = 20,
) -> TranscriptOut:
    """Read a conversation by whole turns: the newest ones, or those before a turn."""
    return await in_db(
        reading.transcript, request.auth, conversation_id, before=before, limit=limit
    )


@router.post(
    "/files",
    response={201: UploadOut, 413: ProblemOut, 429: ProblemOut, **_PROBLEMS},
    url_name="files",
)
async def upload_file(request: ApiRequest, file: File[UploadedFile]) -> Status[UploadOut]:
    """Bring a file of at most 20 MB for a message; without one it is deleted after a day."""
    taken = await in_db(bringing.take, request.auth, file)
    return Status(HTTPStatus.CREATED, taken)


@router.get(
    "/files/{file_id}", response=dict(_PROBLEMS_OF_ONE), openapi_extra=_BYTES, url_name="file"
)
async def download_file(request: ApiRequest, file_id: UUID) -> StreamingHttpResponse:
    """Fetch a file that came or was sent in one of one's own conversations."""
    return await in_db(bringing.fetch, request.auth, file_id)


def _stop(token: ApiToken, turn_id: UUID) -> TurnOut:
    stopping.request(reading.find_turn(token, turn_id))
    return reading.turn_of(token, turn_id)
