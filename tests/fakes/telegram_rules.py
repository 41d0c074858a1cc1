"""What the Bot API refuses, in its own words: the fake is as strict as the real one.

Texts and numbers from https://core.telegram.org/bots/api and from answers of the real API.
"""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

# JSON as it came off the wire; a test looks into it by key, so it stays untyped.
Json = dict[str, Any]

TEXT_UNITS = 4_096
CAPTION_UNITS = 1_024
RICH_CHARACTERS = 32_768
CALLBACK_BYTES = 64
ENTITIES = frozenset(
    "mention hashtag cashtag bot_command url email phone_number bold italic underline"
    " strikethrough spoiler blockquote expandable_blockquote code pre text_link text_mention"
    " custom_emoji date_time".split()
)
TAGS = frozenset(
    "b strong i em u ins s strike del span tg-spoiler a tg-emoji code pre blockquote".split()
)
ACTIONS = frozenset(
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document"
    " choose_sticker find_location record_video_note upload_video_note".split()
)
REACTIONS = frozenset(
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔"
    " 🤨 😐 🍓 🍾 💋 😈 😴 😭 🤓 👻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉"
    " 🦄 😘 💊 🙊 😎 👾 🤷 😡".split()
)
NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are"
    " exactly the same as a current content and reply markup of the message"
)
WEBHOOK_IS_SET = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete"
    " the webhook first"
)
OTHER_POLLER = (
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is"
    " running"
)

_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
_LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost)(:\d+)?/")


class Refused(Exception):
    """An error that the API answers."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


def bad_request(what: str) -> Refused:
    """Return an error 400 in the API's form."""
    return Refused(400, f"Bad Request: {what}")


@dataclass(slots=True)
class Message:
    """A message in a chat, the bot's own or a person's."""

    chat_id: int
    message_id: int
    is_ours: bool
    text: str = ""
    entities: list[Json] = field(default_factory=list)
    markup: Json | None = None
    thread: int | None = None
    fields: Json = field(default_factory=dict)

    @property
    def looks(self) -> tuple[str, str]:
        """Return what an edit has to change."""
        return self.text, json.dumps([self.entities, self.markup], sort_keys=True)


def units(text: str) -> int:
    """Return a text's length as the API counts it: in UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2


def read_text(params: Json, name: str, entities: str, most: int) -> tuple[str, list[Json]]:
    """Return a text and its entities, as they are after parsing.

    Raises:
        Refused: The API would not take them.
    """
    text = str(params.get(name) or "")
    found: list[Json] = params.get(entities) or []
    if params.get("parse_mode") == "HTML":
        text, found = _parsed(text)
    elif params.get("parse_mode") not in (None, "", "Markdown", "MarkdownV2"):
        raise bad_request("unsupported parse_mode")
    if units(text) > most:
        kind = "message" if name == "text" else "message caption"
        raise bad_request(f"{kind} is too long")
    for entity in found:
        _check_entity(entity, text)
    return text, found


def _check_entity(entity: Json, text: str) -> None:
    offset, length = entity.get("offset"), entity.get("length")
    if entity.get("type") not in ENTITIES:
        raise bad_request(f"can't parse MessageEntity: unsupported type {entity.get('type')!r}")
    if not (isinstance(offset, int) and isinstance(length, int)):
        raise bad_request("can't parse MessageEntity: offset and length are needed")
    if offset < 0 or length <= 0 or offset + length > units(text):
        raise bad_request("ENTITY_BOUNDS_INVALID")
    coded = text.encode("utf-16-le")
    for edge in (offset, offset + length):
        if 0xDC00 <= int.from_bytes(coded[edge * 2 : edge * 2 + 2], "little") < 0xE000:
            raise bad_request("ENTITY_BOUNDS_INVALID")
    if entity["type"] == "text_link" and not entity.get("url"):
        raise bad_request("can't parse MessageEntity: url is needed")


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.open: list[tuple[str, int]] = []
        self.entities: list[Json] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            raise bad_request(f'can\'t parse entities: unsupported start tag "{tag}"')
        self.open.append((tag, units(self.text)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            raise bad_request(f'can\'t parse entities: unexpected end tag "{tag}"')
        _, begin = self.open.pop()
        length = units(self.text) - begin
        if length:
            self.entities.append({"type": "bold", "offset": begin, "length": length, "tag": tag})

    def handle_data(self, data: str) -> None:
        self.text += data


def _parsed(text: str) -> tuple[str, list[Json]]:
    parser = _Html()
    parser.feed(text)
    parser.close()
    if parser.open:
        raise bad_request(f"can't parse entities: can't find end tag of {parser.open[-1][0]}")
    return parser.text, parser.entities


def read_markup(params: Json) -> Json | None:
    """Return an inline keyboard.

    Raises:
        Refused: A button has no text, or too much to call back with.
    """
    markup: Json | None = params.get("reply_markup")
    for row in (markup or {}).get("inline_keyboard", []):
        for button in row:
            if not button.get("text"):
                raise bad_request("inline keyboard button text must be non-empty")
            data = button.get("callback_data")
            if data is not None and not 1 <= len(data.encode()) <= CALLBACK_BYTES:
                raise bad_request("BUTTON_DATA_INVALID")
            if data is None and not (button.get("url") or button.get("copy_text")):
                raise bad_request("text buttons are unallowed in the inline keyboard")
    return markup


def check_commands(commands: list[Json]) -> None:
    """Refuse a menu that the API would not show."""
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not _COMMAND.fullmatch(command.get("command", "")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(command.get("description", "")) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")


def check_rich(rich: Json | None) -> None:
    """Refuse a rich message that has not exactly one form."""
    forms = ("html", "markdown", "blocks")
    given = [rich[name] for name in forms if rich.get(name)] if rich else []
    if len(given) != 1:
        raise bad_request("exactly one of html, markdown and blocks must be specified")
    if isinstance(given[0], str) and len(given[0]) > RICH_CHARACTERS:
        raise bad_request("message is too long")


def check_webhook(url: str, secret: str | None) -> None:
    """Refuse an address that the API would not call; loopback is the tests' own."""
    if not url.startswith("https://") and not _LOOPBACK.match(url):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    if secret and not _SECRET.fullmatch(secret):
        raise bad_request("secret token contains unallowed characters")
