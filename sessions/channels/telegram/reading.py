"""What a Telegram message says: the sender's own words, what came with them, and its files.

Only words that the sender wrote become the message's text, since facts are read from it. Forwarded
and quoted texts, places, cards and polls go into its context, which no detector ever sees.
"""

from dataclasses import dataclass
from typing import Final

from sessions import marks
from sessions.channels.telegram.updates import Entity, Message, Stored, Text
from sessions.marks import Enclosed
from sessions.models import Attachment, ChannelAccount

QUOTE_CHARACTERS: Final = 1_000
# As Telegram's own file ids are, at most; a longer one could not be asked for.
REFERENCE_CHARACTERS: Final = 300

_Kind = Attachment.Kind


@dataclass(frozen=True, slots=True)
class Read:
    """A message, taken apart.

    Args:
        text: The sender's own words.
        attachments: Rows that are not stored yet.
    """

    text: str
    context: tuple[Enclosed, ...]
    attachments: tuple[Attachment, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing that a model could be told."""
        return not (self.text or self.context or self.attachments)


def read(message: Message, account: ChannelAccount) -> Read:
    """Take a message apart."""
    words = _with_links(message).strip()
    context = list(_quoted(message, account))
    text = words
    if message.forward_origin is not None:
        text = ""
        label = f"forwarded, written by {marks.named(message.forward_origin.name)}"
        context.append(Enclosed(label, words))
    context += _described(message)
    return Read(text, tuple(context), tuple(_attachments(message)))


def without_mention(text: str, account: ChannelAccount) -> str:
    """Return a text without the bot's name at its beginning: it is an address, not a word."""
    first, _, rest = text.partition(" ")
    name = first.rstrip(",:!")
    is_own = bool(account.username) and name.casefold() == f"@{account.username}".casefold()
    return rest.strip() if is_own and rest.strip() else text


def speaks_to(message: Message, account: ChannelAccount) -> bool:
    """Return whether a group's message is meant for the bot: named, or replied to."""
    answered = message.replied_to
    if answered is not None and answered.from_user is not None:
        if account.bot_id is not None and answered.from_user.id == account.bot_id:
            return True
    if message.rich_message is not None and account.username:
        return f"@{account.username}".casefold() in message.words.casefold().split()
    return any(_names(message, account, entity) for entity in message.marked)


def is_for_another_bot(message: Message, account: ChannelAccount) -> bool:
    """Return whether it is a command that names another bot."""
    for entity in message.marked:
        if entity.type == "bot_command" and entity.offset == 0:
            _, _, name = message.piece(entity).partition("@")
            return bool(name) and name.casefold() != account.username.casefold()
    return False


def described(message: Text) -> str:
    """Return any message in a line: its words, or in brackets what it is."""
    if message.words:
        return message.words
    labels = [each.label for each in _described(message)]
    labels += [str(attachment.kind) for attachment in _attachments(message)]
    return f"({', '.join(labels)})" if labels else ""


def _names(message: Message, account: ChannelAccount, entity: Entity) -> bool:
    if entity.type == "text_mention":
        return entity.user is not None and entity.user.id == account.bot_id
    if entity.type not in ("mention", "bot_command") or not account.username:
        return False
    _, _, name = message.piece(entity).partition("@")
    return name.casefold() == account.username.casefold()


def _with_links(message: Message) -> str:
    """Return the words, with the addresses of links behind the words that hide them."""
    links = [entity for entity in message.marked if entity.type == "text_link" and entity.url]
    if not links:
        return message.words
    units = message.words.encode("utf-16-le", "surrogatepass")
    for entity in sorted(links, key=lambda each: each.offset, reverse=True):
        end = 2 * (entity.offset + entity.length)
        units = units[:end] + f" ({entity.url})".encode("utf-16-le", "replace") + units[end:]
    return units.decode("utf-16-le", "replace")


def _quoted(message: Message, account: ChannelAccount) -> list[Enclosed]:
    """Return what the message replies to; a part of it where the sender chose one."""
    chosen = message.quote.text if message.quote is not None else ""
    if message.external_reply is not None:
        origin = message.external_reply.origin
        by = f", written by {marks.named(origin.name)}" if origin is not None else ""
        text = chosen or described(message.external_reply)
        return [Enclosed(f"quoted from another chat{by}", marks.cut(text, QUOTE_CHARACTERS))]
    answered = message.replied_to
    if answered is None:
        return []
    text = chosen or described(answered)
    if not text:
        return []
    author, is_foreign = answered.from_user, False
    if author is not None and author.id == account.bot_id:
        by = "written by you"
    elif author is not None and message.from_user is not None and author.id == message.from_user.id:
        by = "written by the same person"
    else:
        is_foreign = True
        chat = answered.sender_chat
        name = chat.name if chat is not None else author.name if author is not None else ""
        by = f"written by {marks.named(name)}"
    return [Enclosed(f"quoted, {by}", marks.cut(text, QUOTE_CHARACTERS), is_foreign)]


def _described(message: Text) -> list[Enclosed]:
    """Return in words what is neither text nor file."""
    found = []
    if message.sticker is not None:
        found.append(Enclosed(f"sticker {_emoji(message.sticker.emoji)}".strip()))
    if message.dice is not None:
        found.append(Enclosed(f"thrown {_emoji(message.dice.emoji)}: {message.dice.value}"))
    if message.venue is not None:
        place = message.venue
        text = f"{place.title}\n{place.address}\n{_point(message)}".strip()
        found.append(Enclosed("a place", text))
    elif message.location is not None:
        found.append(Enclosed(f"location {_point(message)}"))
    if message.contact is not None:
        card = message.contact
        name = f"{card.first_name} {card.last_name}".strip()
        found.append(Enclosed("a contact", f"{name}\n{card.phone_number}".strip()))
    if message.poll is not None:
        options = [f"- {option.text}" for option in message.poll.options]
        found.append(Enclosed("a poll", "\n".join([message.poll.question, *options])))
    if isinstance(message, Message):
        found += [Enclosed(label) for label in _unseen(message)]
    return found


def _unseen(message: Message) -> list[str]:
    kinds = {
        "a story": message.story,
        "a game": message.game,
        "paid media": message.paid_media,
        "an invoice": message.invoice,
        "a checklist": message.checklist,
    }
    return [f"{kind}, which cannot be shown" for kind, value in kinds.items() if value is not None]


def _point(message: Text) -> str:
    point = message.venue.location if message.venue is not None else message.location
    return f"{point.latitude:.6f}, {point.longitude:.6f}" if point is not None else ""


def _emoji(text: str) -> str:
    return marks.clean_name(text)[:16]


def _attachments(message: Text) -> list[Attachment]:
    found = []
    if message.photo:
        # The same picture in several sizes; who shows it to a model makes it smaller.
        largest = max(message.photo, key=lambda size: size.width * size.height)
        found.append(_attachment(_Kind.PHOTO, largest, "image/jpeg"))
    if message.live_photo is not None:
        found.append(_attachment(_Kind.VIDEO, message.live_photo, "video/mp4"))
    if message.animation is not None:
        # Telegram adds a document for programs that know no animations.
        found.append(_attachment(_Kind.VIDEO, message.animation, "video/mp4"))
    elif message.document is not None:
        found.append(_attachment(_Kind.DOCUMENT, message.document, ""))
    if message.voice is not None:
        found.append(_attachment(_Kind.VOICE, message.voice, "audio/ogg"))
    if message.audio is not None:
        found.append(_attachment(_Kind.AUDIO, message.audio, "audio/mpeg"))
    for video in (message.video, message.video_note):
        if video is not None:
            found.append(_attachment(_Kind.VIDEO, video, "video/mp4"))
    return [each for each in found if len(each.reference) <= REFERENCE_CHARACTERS]


def _attachment(kind: Attachment.Kind, stored: Stored, media_type: str) -> Attachment:
    size = stored.file_size
    return Attachment(
        kind=kind,
        reference=stored.file_id,
        name=_clean(stored.file_name, 255),
        media_type=_clean(stored.mime_type or media_type, 127),
        size_bytes=size if size is not None and 0 <= size < 2**63 else None,
    )


def _clean(text: str, limit: int) -> str:
    return " ".join(text.replace("\x00", "").split())[:limit]
