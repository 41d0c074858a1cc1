"""Telegram's updates as far as we read them, parsed once at the edge.

Shapes: https://core.telegram.org/bots/api#update (Bot API 9). Own models, not aiogram's, since
reading one must not cost 3 s and 120 MB of import in every process. Fields that we do not know are
ignored; an update whose known fields have another form is ``None`` and is let go.
"""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

import structlog
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from agents.core.messages import JsonObject
from sessions.channels.telegram import rich

_log = structlog.get_logger(__name__)

# The topic in which everything stands that is in no other.
GENERAL_TOPIC: Final = 1


# Seconds since 1970; what lies beyond is no day that we could write down.
_Moment = Annotated[int, Field(ge=0, lt=2**36)]


def _clean(text: str) -> str:
    """Return a text without NUL and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, given: object) -> object:
        """Take what is null as not there, and texts without what PostgreSQL cannot hold."""
        if not isinstance(given, dict):
            return given
        return {
            name: _clean(value) if isinstance(value, str) else value
            for name, value in given.items()
            if value is not None
        }


class User(_Part):
    """Somebody who writes."""

    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""
    language_code: str = ""

    @property
    def name(self) -> str:
        """Return their whole name as they chose it."""
        return f"{self.first_name} {self.last_name}".strip()


class Chat(_Part):
    """Where it was written."""

    id: int
    type: Literal["private", "group", "supergroup", "channel", "sender"]
    title: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""
    is_forum: bool = False

    @property
    def name(self) -> str:
        """Return its title, or whose it is."""
        return self.title or f"{self.first_name} {self.last_name}".strip()


class Entity(_Part):
    """A marked stretch of a text; offset and length count UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str = ""
    user: User | None = None


class Stored(_Part):
    """A file on Telegram's servers."""

    file_id: str
    file_size: int | None = None
    file_name: str = ""
    mime_type: str = ""
    width: int = 0
    height: int = 0


class Sticker(_Part):
    """A sticker; only its emoji is told."""

    emoji: str = ""
    set_name: str = ""


class Location(_Part):
    """A point on the map, in degrees."""

    latitude: float
    longitude: float


class Venue(_Part):
    """A place with a name."""

    location: Location
    title: str = ""
    address: str = ""


class Contact(_Part):
    """Somebody's card."""

    phone_number: str = ""
    first_name: str = ""
    last_name: str = ""


class PollOption(_Part):
    """One answer of a poll."""

    text: str


class Poll(_Part):
    """A poll as it was posted."""

    question: str
    options: list[PollOption] = []


class Dice(_Part):
    """A thrown die."""

    emoji: str = ""
    value: int = 0


class Quote(_Part):
    """The part of a message that a reply quotes."""

    text: str = ""


class Origin(_Part):
    """Where a forwarded message was written first."""

    type: str
    sender_user: User | None = None
    sender_user_name: str = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None

    @property
    def name(self) -> str:
        """Return who wrote it, as far as Telegram says."""
        if self.sender_user is not None:
            return self.sender_user.name
        chat = self.sender_chat or self.chat
        return chat.name if chat is not None else self.sender_user_name


class Text(_Part):
    """What any message may say."""

    text: str = ""
    caption: str = ""
    entities: list[Entity] = []
    caption_entities: list[Entity] = []
    rich_message: JsonObject | None = None
    photo: list[Stored] = []
    live_photo: Stored | None = None
    document: Stored | None = None
    voice: Stored | None = None
    audio: Stored | None = None
    video: Stored | None = None
    video_note: Stored | None = None
    animation: Stored | None = None
    sticker: Sticker | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None
    dice: Dice | None = None

    @property
    def words(self) -> str:
        """Return its text or its caption."""
        if self.rich_message is not None and not self.text:
            return "\n".join(rich.lines_of(self.rich_message.get("blocks"))) or self.caption
        return self.text or self.caption

    @property
    def marked(self) -> list[Entity]:
        """Return the entities of ``words``."""
        return self.entities if self.text else self.caption_entities

    def piece(self, entity: Entity) -> str:
        """Return the stretch of ``words`` that an entity marks."""
        units = self.words.encode("utf-16-le", "surrogatepass")
        piece = units[2 * entity.offset : 2 * (entity.offset + entity.length)]
        return piece.decode("utf-16-le", "replace")


class Answered(Text):
    """The message that another one replies to."""

    message_id: int = 0
    from_user: User | None = Field(None, validation_alias=AliasChoices("from", "from_user"))
    sender_chat: Chat | None = None
    forum_topic_created: JsonObject | None = None


class External(Text):
    """A message of another chat that is replied to."""

    origin: Origin | None = None


class Message(Text):
    """One message."""

    message_id: int
    date: _Moment
    chat: Chat
    from_user: User | None = Field(None, validation_alias=AliasChoices("from", "from_user"))
    sender_chat: Chat | None = None
    author_signature: str = ""
    message_thread_id: int | None = None
    is_topic_message: bool = False
    is_automatic_forward: bool = False
    edit_date: _Moment | None = None
    media_group_id: str = ""
    reply_to_message: Answered | None = None
    external_reply: External | None = None
    quote: Quote | None = None
    forward_origin: Origin | None = None
    migrate_to_chat_id: int | None = None
    migrate_from_chat_id: int | None = None
    forum_topic_created: JsonObject | None = None
    # Kinds that say nothing to a model.
    story: JsonObject | None = None
    game: JsonObject | None = None
    paid_media: JsonObject | None = None
    invoice: JsonObject | None = None
    checklist: JsonObject | None = None

    @property
    def sent_at(self) -> datetime:
        """Return when Telegram took it."""
        return datetime.fromtimestamp(self.date, UTC)

    @property
    def topic(self) -> str:
        """Return the topic of a forum in which it stands; empty for General and elsewhere."""
        is_reply = self.reply_to_message is not None
        return _topic(self.chat, self.message_thread_id, self.is_topic_message or not is_reply)

    @property
    def replied_to(self) -> Answered | None:
        """Return the message that it replies to.

        In a topic every message that replies to none points at the one that opened the topic.
        """
        answered = self.reply_to_message
        if answered is None or answered.forum_topic_created is not None:
            return None
        return None if str(answered.message_id) == self.topic else answered


class Below(_Part):
    """The message under which a button was pressed; it may be too old to be shown."""

    message_id: int
    chat: Chat
    message_thread_id: int | None = None
    is_topic_message: bool = False

    @property
    def topic(self) -> str:
        """Return the topic of a forum in which it stands; empty for General and elsewhere."""
        return _topic(self.chat, self.message_thread_id, self.is_topic_message)


class CallbackQuery(_Part):
    """Somebody pressed a button."""

    id: str
    from_user: User = Field(validation_alias=AliasChoices("from", "from_user"))
    message: Below | None = None
    data: str = ""


class Member(_Part):
    """A chat's member and what they may do; here always the bot itself."""

    status: str


class ChatMemberUpdated(_Part):
    """The bot was let in, blocked or removed."""

    chat: Chat
    from_user: User = Field(validation_alias=AliasChoices("from", "from_user"))
    new_chat_member: Member


class GenerationStopped(_Part):
    """Somebody pressed Telegram's own stop button beside a growing draft."""

    chat: Chat
    draft_id: int = 0


class Update(_Part):
    """One update; of the others than its id at most one is there."""

    update_id: int
    message: Message | None = None
    edited_message: Message | None = None
    channel_post: Message | None = None
    edited_channel_post: Message | None = None
    callback_query: CallbackQuery | None = None
    my_chat_member: ChatMemberUpdated | None = None
    stopped_message_generation: GenerationStopped | None = None


def parse(update: JsonObject) -> Update | None:
    """Return an update; None for one whose form we do not understand."""
    try:
        return Update.model_validate(update)
    except ValidationError as error:
        # Places and kinds only: the values are what people wrote.
        places = [".".join(map(str, each["loc"])) for each in error.errors(include_input=False)]
        _log.warning("update.unreadable", places=places[:5])
        return None


def kind_of(update: JsonObject) -> str:
    """Return what an update is about, as Telegram names it."""
    return next((name for name in update if name != "update_id"), "")[:32]


def id_of(update: JsonObject) -> int | None:
    """Return an update's number; None where it has none that we can keep."""
    number = update.get("update_id")
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return number if is_number and isinstance(number, int) and 0 <= number < 2**63 else None


def _topic(chat: Chat, thread: int | None, is_topic: bool) -> str:
    """Return a forum's topic.

    Replies outside of forums have a thread too, that of the message they reply to; so have
    replies in General, which Telegram does not mark as a topic's.
    """
    if not chat.is_forum or not is_topic or thread is None or thread == GENERAL_TOPIC:
        return ""
    return str(thread)
