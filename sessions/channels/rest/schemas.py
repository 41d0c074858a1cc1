"""What the API takes and gives."""

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

from agents.core.messages import JsonObject
from sessions.inbox import MAX_CHARACTERS
from sessions.uploads import MOST_IN_A_MESSAGE

TurnState = Literal["queued", "running", "answered", "stopped", "ended", "failed"]
EntryRole = Literal["user", "assistant", "tool", "notice"]


class AgentOut(Schema):
    """An agent that the token may talk to."""

    id: UUID
    name: str
    description: str
    language: str


class AgentsOut(Schema):
    """All agents of the token's team."""

    items: list[AgentOut]


class MessageIn(Schema):
    """What a person says."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(
        description="Markdown or plain text; white space alone is refused, unless files come too.",
        # The service counts and refuses; this tells clients what it takes.
        json_schema_extra={"maxLength": MAX_CHARACTERS},
    )
    thread: str = Field(
        default="",
        max_length=100,
        pattern=r"^[A-Za-z0-9._~-]*$",
        description="Your own name for one of several conversations with the same agent; "
        "it is made at the first message.",
    )
    files: list[UUID] = Field(
        default_factory=list,
        max_length=MOST_IN_A_MESSAGE,
        description="Ids of files that you uploaded for this message; each is sent once.",
    )


class UploadOut(Schema):
    """A file that was uploaded and waits for its message."""

    id: UUID
    name: str = Field(description="Without folders and what cannot be seen.")
    media_type: str
    size_bytes: int


class SentFileOut(Schema):
    """A file that an agent sent."""

    id: UUID = Field(description="Fetch it from `/files/{id}`.")
    name: str
    media_type: str
    size_bytes: int
    caption: str


class AttachmentOut(Schema):
    """A file that came with a message."""

    id: UUID | None = Field(description="Fetch it from `/files/{id}`; None where it is not here.")
    kind: Literal["photo", "document", "voice", "audio", "video"]
    name: str
    media_type: str
    size_bytes: int | None
    state: Literal["waiting", "fetched", "failed"]
    error: str = Field(description="Why it failed; else empty.")
    transcript: str | None = Field(description="What is said in it, once it was heard.")


class NoticeOut(Schema):
    """Why the platform ended the turn."""

    code: str
    text: str
    values: JsonObject


class UsageOut(Schema):
    """The sum over the turn's model calls; no input token is counted twice."""

    calls: int
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    is_estimate: bool = Field(description="Whether a provider gave no figures for some call.")
    cost_usd: Decimal | None = Field(description="None where no price is known.")


class TurnOut(Schema):
    """The work that answers a message."""

    id: UUID
    conversation: UUID
    agent: UUID
    state: TurnState
    is_over: bool
    answer: str | None = Field(description="The whole text once the turn is over, if there is one.")
    is_partial: bool = Field(description="Whether the answer was stopped early.")
    notice: NoticeOut | None
    files: list[SentFileOut] = Field(description="What the agent sent, once the turn is over.")
    usage: UsageOut
    accepted_at: datetime
    claimed_at: datetime | None
    request_sent_at: datetime | None
    first_token_at: datetime | None
    last_token_at: datetime | None
    committed_at: datetime | None
    delivered_at: datetime | None
    stop_requested_at: datetime | None


class NotedOut(Schema):
    """A fact that was noted from the message."""

    category: str
    text: str


class PostedOut(Schema):
    """A stored message and the turn that answers it."""

    message: UUID
    turn: TurnOut
    noted: list[NotedOut]


class ConversationOut(Schema):
    """One conversation of the token's person."""

    id: UUID
    key: str
    agent: UUID
    channel: str
    thread: str
    title: str
    created_at: datetime
    last_interaction_at: datetime | None


class ConversationsOut(Schema):
    """A page, the newest first."""

    items: list[ConversationOut]
    before: UUID | None = Field(description="Ask with it for older ones; None at the end.")


class EntryOut(Schema):
    """One entry of a transcript; a ``notice`` is the platform's own words."""

    turn: UUID
    role: EntryRole
    text: str
    at: datetime
    tool_calls: list[str] = Field(
        default_factory=list, description="Names of the tools that the agent asked for."
    )
    tool: str | None = Field(default=None, description="The tool whose result this is.")
    is_error: bool = False
    is_partial: bool = Field(default=False, description="Whether the answer was stopped early.")
    attachments: list[AttachmentOut] = Field(
        default_factory=list, description="The files that came with a person's message."
    )
    files: list[SentFileOut] = Field(
        default_factory=list, description="The file that this tool call sent."
    )


class TranscriptOut(Schema):
    """A page of whole turns, in order of time."""

    items: list[EntryOut]
    before: UUID | None = Field(description="Ask with it for older turns; None at the start.")
