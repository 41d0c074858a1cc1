"""What the operations on agents take and give."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final, Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

MOST_CHARACTERS: Final = 200_000
NAME_PATTERN: Final = (
    r"^(SOUL|IDENTITY|SKILL|TOOLS|AGENTS|BOOTSTRAP|HEARTBEAT|[A-Z0-9]{1,40}_TOOLS)\.md$"
)

# What PostgreSQL's text does not hold.
_NO_NUL: Final = r"^[^\u0000]*$"


Language = Literal["en", "uz", "ru", "tr", "pl"]
Preset = Literal["default", "qanot"]
DocumentName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
_PRINTED: Final = r"[^\u0000-\u001f\u007f]"
Line = Annotated[str, StringConstraints(pattern=rf"^{_PRINTED}*$")]
# Some of it is to be seen.
Name = Annotated[
    str, StringConstraints(pattern=rf"^{_PRINTED}*[^\s\u0000-\u001f\u007f]{_PRINTED}*$")
]


class LinkIn(Schema):
    """One place of the chain."""

    model_config = ConfigDict(extra="forbid")

    account: Annotated[Line, Field(max_length=100, description="An account's name.")]
    model: Annotated[Name, Field(max_length=200)]


class LinkOut(Schema):
    """One place of the chain: which account with which model."""

    account: str
    model: str


class AgentDetailOut(Schema):
    """An agent with all that is set for it."""

    id: UUID
    name: str
    slug: str
    description: str
    language: str
    time_zone: str
    prompt_preset: str
    max_iterations: int
    daily_cap_usd: Decimal | None = Field(description="None for no cap.")
    chain: list[LinkOut] = Field(description="Asked in this order.")
    tools: list[str]
    documents: list[str] = Field(description="Names of the persona documents in use.")
    managed_by: str = Field(description="The file that owns it; empty where it is changed here.")
    created_at: datetime


class AgentPatch(Schema):
    """What is to be changed; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=100)] | None = None
    description: Annotated[Line, Field(max_length=300)] | None = None
    language: Language | None = None
    time_zone: str | None = Field(
        default=None, max_length=64, description="An IANA name such as Asia/Tashkent."
    )
    prompt_preset: Preset | None = None
    max_iterations: int | None = Field(default=None, ge=1, le=100)
    daily_cap_usd: Decimal | None = Field(
        default=None, ge=0, le=999_999, decimal_places=2, description="null for no cap."
    )
    chain: list[LinkIn] | None = Field(
        default=None,
        max_length=20,
        description="The whole chain in its order. A place that was there keeps its limits.",
    )
    tools: list[Annotated[Line, Field(max_length=64)]] | None = Field(
        default=None, max_length=100, description="All tools that it may use."
    )
    documents: dict[str, str] | None = Field(
        default=None,
        max_length=20,
        description="Documents whose text is taken over from another agent of the team: "
        '`{"SOUL.md": "<agent id>/SOUL.md"}`.',
    )


class DocumentOut(Schema):
    """A persona document without its text."""

    id: str = Field(description="`<agent id>/<name>`.")
    name: str
    version: int
    characters: int
    is_in_use: bool = Field(description="Whether prompts show it.")
    updated_at: datetime


class DocumentsOut(Schema):
    """An agent's documents, by name."""

    items: list[DocumentOut]


class DocumentTextOut(DocumentOut):
    """A persona document with its text."""

    text: str


class DocumentIn(Schema):
    """A document's new text."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=MOST_CHARACTERS, pattern=_NO_NUL)]
    reason: Annotated[Line, Field(max_length=300)] = Field(
        default="", description="Why it changes; kept with the version."
    )
