"""The frames of the web chat's socket, both ways (docs/webchat.md)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, TypeAdapter

from sessions.notices import Noted
from sessions.shown_files import ShownAttachment
from sessions.transcript import ShownTurn
from sessions.uploads import MOST_IN_A_MESSAGE

# A message has at most 100,000 characters, each of which JSON may write as six (or twelve).
MAX_FRAME_CHARACTERS: Final = 1_250_000
# The key under which a browser sends a message, again and again until it is accepted.
Key = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[\x21-\x7e]+$")]


class _FromBrowser(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ListConversations(_FromBrowser):
    """What conversations do I have, or which have I put away?"""

    type: Literal["conversations"]
    archived: bool = False


class Search(_FromBrowser):
    """Which of my conversations, archived ones too, have these words in their title?"""

    type: Literal["search"]
    query: str = Field(max_length=200)


class Rename(_FromBrowser):
    """Give a conversation another title."""

    type: Literal["rename"]
    conversation: UUID
    title: str = Field(max_length=200)


class Archive(_FromBrowser):
    """Put a conversation away, or bring it back."""

    type: Literal["archive"]
    conversation: UUID
    archived: bool


class Open(_FromBrowser):
    """Show a conversation: its newest turns, or those before one; and what happens from now on."""

    type: Literal["open"]
    conversation: UUID
    before: UUID | None = None


class Leave(_FromBrowser):
    """Nothing is open any more."""

    type: Literal["leave"]


class Send(_FromBrowser):
    """Say something, in a conversation or as the first words of a new one (agent and thread).

    Args:
        files: What was uploaded for it; with files the text may be empty.
    """

    type: Literal["send"]
    key: Key
    text: str
    files: Sequence[UUID] = Field(default=(), max_length=MOST_IN_A_MESSAGE)
    conversation: UUID | None = None
    agent: UUID | None = None
    thread: UUID | None = None


class Stop(_FromBrowser):
    """Stop a turn."""

    type: Literal["stop"]
    turn: UUID


class Undo(_FromBrowser):
    """Forget a sentence that was noted from one of my messages."""

    type: Literal["undo"]
    message: UUID
    fact: str


class Resume(_FromBrowser):
    """Tell me how a turn stands, and what it published after the last frame I saw."""

    type: Literal["resume"]
    turn: UUID
    after: str | None = Field(default=None, pattern=r"^\d{1,9}-\d{1,9}$")


FromBrowser = (
    ListConversations | Search | Rename | Archive | Open | Leave | Send | Stop | Undo | Resume
)

FROM_BROWSER: Final[TypeAdapter[FromBrowser]] = TypeAdapter(
    Annotated[FromBrowser, Discriminator("type")]
)


class ConversationRow(BaseModel):
    """A conversation in the list."""

    id: UUID
    thread: str
    title: str
    agent: UUID
    agent_name: str
    last_at: datetime | None
    is_archived: bool
    is_running: bool


class _ToBrowser(BaseModel):
    model_config = ConfigDict(frozen=True)

    def encoded(self) -> str:
        """Return the frame as JSON text."""
        return self.model_dump_json()


class Conversations(_ToBrowser):
    """The answer to ``ListConversations``, newest first.

    Args:
        archived: Whether these are the archived ones.
        has_archived: Whether there are any of those.
    """

    type: Literal["conversations"] = "conversations"
    archived: bool
    conversations: Sequence[ConversationRow]
    has_archived: bool


class Found(_ToBrowser):
    """The answer to ``Search``, newest first."""

    type: Literal["found"] = "found"
    query: str
    conversations: Sequence[ConversationRow]


class Changed(_ToBrowser):
    """A conversation after it was renamed, archived or brought back."""

    type: Literal["conversation"] = "conversation"
    conversation: ConversationRow


class Opened(_ToBrowser):
    """A conversation with its newest turns; unfinished ones are caught up with afterwards."""

    type: Literal["opened"] = "opened"
    conversation: ConversationRow
    turns: Sequence[ShownTurn]
    has_earlier: bool


class Earlier(_ToBrowser):
    """Turns before those that were shown."""

    type: Literal["earlier"] = "earlier"
    conversation: UUID
    turns: Sequence[ShownTurn]
    has_earlier: bool


class Missing(_ToBrowser):
    """There is no such conversation, or none that this person may see."""

    type: Literal["missing"] = "missing"
    conversation: UUID


class AcceptedMessage(_ToBrowser):
    """A message is stored, with its turn and with what was noted from it.

    Args:
        is_over: Whether the turn is over already, as a command's is; ``TurnShown`` follows.
        attachments: The files that came with it.
    """

    type: Literal["accepted"] = "accepted"
    key: str
    conversation: ConversationRow
    turn: UUID
    message: UUID
    noted: Sequence[Noted]
    is_over: bool = False
    attachments: Sequence[ShownAttachment] = ()


Refusal = Literal[
    "malformed",
    "empty",
    "too_long",
    "key_reused",
    "missing",
    "agent_gone",
    "files_gone",
    "unavailable",
]


class Refused(_ToBrowser):
    """A frame was not done; only ``unavailable`` is worth sending again.

    Args:
        key: The message's key, where it was a message.
        text: Why, in words for the person.
    """

    type: Literal["refused"] = "refused"
    key: str | None
    code: Refusal
    text: str


class TurnShown(_ToBrowser):
    """How a turn stands in the database."""

    type: Literal["turn"] = "turn"
    conversation: UUID
    shown: ShownTurn


class Resumed(_ToBrowser):
    """All that was published of an unfinished turn after the frame named has been sent."""

    type: Literal["resumed"] = "resumed"
    turn: UUID


ToBrowser = (
    Conversations
    | Found
    | Changed
    | Opened
    | Earlier
    | Missing
    | AcceptedMessage
    | Refused
    | TurnShown
    | Resumed
)
