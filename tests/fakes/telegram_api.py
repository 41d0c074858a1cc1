"""The Bot API's methods over the state of its bots and chats, without HTTP."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.telegram_rules import (
    ACTIONS,
    CAPTION_UNITS,
    NOT_MODIFIED,
    REACTIONS,
    TEXT_UNITS,
    Json,
    Message,
    Refused,
    bad_request,
    check_commands,
    check_rich,
    check_webhook,
    read_markup,
    read_text,
)

_FARTHEST_AHEAD = 10
LARGEST_DOWNLOAD = 20 * 2**20
# What comes without being asked for by name.
BY_DEFAULT = frozenset(
    "message edited_message channel_post edited_channel_post inline_query chosen_inline_result"
    " callback_query shipping_query pre_checkout_query poll poll_answer my_chat_member"
    " chat_join_request stopped_message_generation".split()
)


@dataclass(slots=True)
class Upload:
    """A file that a method brought."""

    name: str
    data: bytes


@dataclass(slots=True)
class FakeBot:
    """One bot: what waits for it, and what it was told."""

    token: str
    username: str
    name: str
    reads_all: bool = False
    is_revoked: bool = False
    waiting: deque[Json] = field(default_factory=deque)
    next_update: int = 1
    # Of every update ever put in, for whoever counts.
    put_in: int = 0
    webhook: str = ""
    secret: str = ""
    allowed: frozenset[str] = BY_DEFAULT
    last_error: str = ""
    commands: dict[str, list[Json]] = field(default_factory=dict)
    poll: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> int:
        """Return the number before the colon of its token."""
        return int(self.token.partition(":")[0])

    def me(self) -> Json:
        """Return what ``getMe`` says."""
        return {
            "id": self.id,
            "is_bot": True,
            "first_name": self.name,
            "username": self.username,
            "can_join_groups": True,
            "can_read_all_group_messages": self.reads_all,
            "supports_inline_queries": False,
            "has_topics_enabled": False,
        }

    def confirm(self, offset: int) -> None:
        """Forget what was received before an offset; a negative one keeps the newest only.

        One that lies too far ahead is refused by tdlib's queue, which then serves from its head
        (``TQueue::get``, ``MAX_DELAY`` 10 past its tail).
        """
        if offset > self.next_update + _FARTHEST_AHEAD:
            return
        if offset < 0:
            while len(self.waiting) > -offset:
                self.waiting.popleft()
        self.waiting = deque(u for u in self.waiting if offset <= 0 or u["update_id"] >= offset)

    def allow(self, names: list[str] | None) -> None:
        """Keep the list of updates that were asked for; without one, as before."""
        if names is not None:
            self.allowed = frozenset(names) or BY_DEFAULT

    def wants(self, update: Json) -> bool:
        """Return whether an update is of a kind that was asked for."""
        return any(name in self.allowed for name in update if name != "update_id")


class Api:
    """The methods; each takes its bot and parameters, and returns the result or raises."""

    def __init__(self) -> None:
        self.bots: dict[str, FakeBot] = {}
        self.messages: dict[tuple[int, int], Message] = {}
        # Topics of forums; a chat that is not here has none.
        self.topics: dict[int, set[int]] = {}
        # Chats that refuse, with what they say.
        self.closed: dict[int, Refused] = {}
        self.drafts: dict[int, tuple[int, str]] = {}
        self.files: dict[str, Upload] = {}
        self.queries: set[str] = set()
        self.members: dict[tuple[int, int], str] = {}
        # Older servers know none.
        self.has_rich = True
        self._last_message = 1_000

    def call(self, bot: FakeBot, method: str, params: Json, uploads: dict[str, Upload]) -> Any:
        """Run a method; Any: the result is JSON."""
        known: dict[str, Callable[[FakeBot, Json, dict[str, Upload]], object]] = {
            "getme": lambda b, p, u: b.me(),
            "setwebhook": self._set_webhook,
            "deletewebhook": self._delete_webhook,
            "getwebhookinfo": self._webhook_info,
            "sendmessage": self._send_message,
            "sendrichmessage": self._send_rich,
            "sendmessagedraft": self._draft,
            "sendrichmessagedraft": self._draft,
            "editmessagetext": self._edit,
            "editmessagereplymarkup": self._edit_markup,
            "deletemessage": self._delete,
            "sendchataction": self._action,
            "setmessagereaction": self._react,
            "senddocument": self._send_file,
            "sendphoto": self._send_file,
            "sendaudio": self._send_file,
            "sendvoice": self._send_file,
            "sendvideo": self._send_file,
            "getfile": self._get_file,
            "setmycommands": self._set_commands,
            "deletemycommands": self._set_commands,
            "getmycommands": lambda b, p, u: b.commands.get(_scope(p), []),
            "answercallbackquery": self._answer_query,
            "getchat": lambda b, p, u: self.chat(self._chat(p)),
            "getchatmember": self._member,
            "leavechat": lambda b, p, u: self._chat(p) and True,
        }
        handler = known.get(method.lower())
        if handler is None or ("rich" in method.lower() and not self.has_rich):
            raise Refused(404, "Not Found")
        return handler(bot, params, uploads)

    # --- chats and messages ---

    def chat(self, chat_id: int) -> Json:
        """Return a chat as messages name it; its kind shows in its number."""
        if chat_id > 0:
            return {"id": chat_id, "type": "private", "first_name": f"Person {chat_id}"}
        kind = "supergroup" if chat_id <= -(10**12) else "group"
        made: Json = {"id": chat_id, "type": kind, "title": f"Group {-chat_id}"}
        if chat_id in self.topics:
            made["is_forum"] = True
        return made

    def new_message_id(self) -> int:
        """Return the next number; one row of numbers for all chats is good enough."""
        self._last_message += 1
        return self._last_message

    def see(self, message: Json) -> None:
        """Remember a message that an update brought, so that it can be replied to."""
        key = (message["chat"]["id"], message["message_id"])
        self.messages[key] = Message(*key, is_ours=False, text=message.get("text", ""))

    def _chat(self, params: Json) -> int:
        chat_id = params.get("chat_id")
        if not isinstance(chat_id, int) or chat_id == 0:
            raise bad_request("chat not found" if chat_id else "chat_id is empty")
        if chat_id in self.closed:
            raise self.closed[chat_id]
        return chat_id

    def _thread(self, params: Json, chat_id: int) -> int | None:
        thread = params.get("message_thread_id")
        # The topic "General" is 1 inside and has no number outside.
        if thread is not None and thread not in self.topics.get(chat_id, ()):
            raise bad_request("message thread not found")
        return thread

    def _replied(self, params: Json, chat_id: int) -> Json | None:
        reply: Json | None = params.get("reply_parameters")
        if params.get("reply_to_message_id"):
            reply = {"message_id": params["reply_to_message_id"]}
        if not reply:
            return None
        key = (reply.get("chat_id", chat_id), reply["message_id"])
        if key in self.messages:
            return {"message_id": key[1], "chat": self.chat(key[0]), "date": 1}
        if reply.get("allow_sending_without_reply"):
            return None
        raise bad_request("message to be replied not found")

    def _post(self, bot: FakeBot, params: Json, **fields: Any) -> Json:  # Any: parts of a message
        chat_id = self._chat(params)
        thread = self._thread(params, chat_id)
        replied = self._replied(params, chat_id)
        message_id = self.new_message_id()
        made: Json = {
            "message_id": message_id,
            "date": int(time.time()),
            "chat": self.chat(chat_id),
            "from": {"id": bot.id, "is_bot": True, "first_name": bot.name},
            **{name: value for name, value in fields.items() if value},
        }
        if thread is not None:
            made |= {"message_thread_id": thread, "is_topic_message": True}
        if replied is not None:
            made["reply_to_message"] = replied
        text = fields.get("text") or fields.get("caption") or ""
        self.messages[chat_id, message_id] = Message(
            chat_id,
            message_id,
            is_ours=True,
            text=text,
            entities=fields.get("entities") or fields.get("caption_entities") or [],
            markup=fields.get("reply_markup"),
            thread=thread,
            fields=fields,
        )
        # The final message takes its draft's place.
        self.drafts.pop(chat_id, None)
        return made

    def _send_message(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        text, entities = read_text(params, "text", "entities", TEXT_UNITS)
        if not text.strip():
            raise bad_request("message text is empty")
        return self._post(
            bot, params, text=text, entities=entities, reply_markup=read_markup(params)
        )

    def _send_rich(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        check_rich(params.get("rich_message"))
        return self._post(bot, params, text=str(params["rich_message"]))

    def _draft(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        chat_id = self._chat(params)
        if chat_id < 0:
            raise bad_request("the method is available only in private chats")
        if not params.get("draft_id"):
            raise bad_request("DRAFT_ID_INVALID")
        self._thread(params, chat_id)
        if "rich_message" in params:
            check_rich(params["rich_message"])
            text = str(params["rich_message"])
        else:
            text, _entities = read_text(params, "text", "entities", TEXT_UNITS)
        self.drafts[chat_id] = (params["draft_id"], text)
        return True

    def _own(self, params: Json) -> Message:
        chat_id = self._chat(params)
        found = self.messages.get((chat_id, params.get("message_id", 0)))
        if found is None:
            raise bad_request("message to edit not found")
        if not found.is_ours:
            raise bad_request("message can't be edited")
        return found

    def _edit(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        found = self._own(params)
        entities: list[Json]
        if params.get("rich_message") and self.has_rich:
            check_rich(params["rich_message"])
            text, entities = str(params["rich_message"]), []
        else:
            text, entities = read_text(params, "text", "entities", TEXT_UNITS)
        if not text.strip():
            raise bad_request("message text is empty")
        before = found.looks
        found.text, found.entities, found.markup = text, entities, read_markup(params)
        if found.looks == before:
            raise Refused(400, NOT_MODIFIED)
        return self._shown(found, bot)

    def _edit_markup(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        found = self._own(params)
        before = found.looks
        found.markup = read_markup(params)
        if found.looks == before:
            raise Refused(400, NOT_MODIFIED)
        return self._shown(found, bot)

    def _shown(self, message: Message, bot: FakeBot) -> Json:
        return {
            "message_id": message.message_id,
            "date": int(time.time()),
            "chat": self.chat(message.chat_id),
            "from": {"id": bot.id, "is_bot": True, "first_name": bot.name},
            "text": message.text,
            "entities": message.entities,
        }

    def _delete(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        key = (self._chat(params), params.get("message_id", 0))
        if self.messages.pop(key, None) is None:
            raise bad_request("message to delete not found")
        return True

    def _action(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        self._thread(params, self._chat(params))
        if params.get("action") not in ACTIONS:
            raise bad_request("wrong parameter action in request")
        return True

    def _react(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        key = (self._chat(params), params.get("message_id", 0))
        if key not in self.messages:
            raise bad_request("message to react not found")
        for reaction in params.get("reaction") or []:
            if reaction.get("type") == "emoji" and reaction.get("emoji") not in REACTIONS:
                raise bad_request("REACTION_INVALID")
        return True

    # --- files ---

    def keep_file(self, data: bytes, name: str = "file.bin") -> str:
        """Keep a file that a person sent; return its id."""
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = Upload(name, data)
        return file_id

    def _send_file(self, bot: FakeBot, params: Json, uploads: dict[str, Upload]) -> Json:
        kind = next(
            (k for k in ("document", "photo", "audio", "voice", "video") if k in params), ""
        )
        given = params.get(kind, "")
        upload = uploads.get(given.removeprefix("attach://")) or self.files.get(given)
        if upload is None:
            raise bad_request(f"there is no {kind or 'document'} in the request")
        if not upload.data:
            raise bad_request("file must be non-empty")
        caption, entities = read_text(params, "caption", "caption_entities", CAPTION_UNITS)
        file_id = self.keep_file(upload.data, upload.name)
        shown: Json = {"file_id": file_id, "file_unique_id": f"u-{file_id}"}
        shown["file_size"] = len(upload.data)
        if kind == "photo":
            media: Any = [{**shown, "width": 90, "height": 90}]  # Any: a list or an object
        elif kind == "document":
            media = {**shown, "file_name": upload.name}
        else:
            media = {**shown, "duration": 1, "width": 1, "height": 1}
        return self._post(
            bot,
            params,
            caption=caption,
            caption_entities=entities,
            reply_markup=read_markup(params),
            **{kind: media},
        )

    def _get_file(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        file_id = params.get("file_id", "")
        upload = self.files.get(file_id)
        if upload is None:
            raise bad_request("wrong file_id or the file is temporarily unavailable")
        if len(upload.data) > LARGEST_DOWNLOAD:
            raise bad_request("file is too big")
        return {
            "file_id": file_id,
            "file_unique_id": f"u-{file_id}",
            "file_size": len(upload.data),
            "file_path": f"files/{file_id}/{upload.name}",
        }

    # --- the rest ---

    def _set_webhook(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        url = params.get("url") or ""
        if url:
            check_webhook(url, params.get("secret_token"))
        bot.webhook, bot.secret = url, params.get("secret_token") or ""
        bot.allow(params.get("allowed_updates"))
        if params.get("drop_pending_updates"):
            bot.waiting.clear()
        bot.news.set()
        return True

    def _delete_webhook(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        bot.webhook = bot.secret = ""
        if params.get("drop_pending_updates"):
            bot.waiting.clear()
        return True

    def _webhook_info(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        made: Json = {
            "url": bot.webhook,
            "has_custom_certificate": False,
            "pending_update_count": len(bot.waiting),
        }
        if bot.webhook:
            made["allowed_updates"] = sorted(bot.allowed)
        if bot.last_error:
            made |= {"last_error_date": 1, "last_error_message": bot.last_error}
        return made

    def _set_commands(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        commands = params.get("commands") or []
        check_commands(commands)
        bot.commands[_scope(params)] = commands
        return True

    def _answer_query(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> bool:
        if params.get("callback_query_id") not in self.queries:
            raise bad_request(
                "query is too old and response timeout expired or query ID is invalid"
            )
        if len(params.get("text") or "") > 200:
            raise bad_request("MESSAGE_TOO_LONG")
        return True

    def _member(self, bot: FakeBot, params: Json, _: dict[str, Upload]) -> Json:
        chat_id, user = self._chat(params), params.get("user_id", 0)
        status = self.members.get((chat_id, user), "member")
        return {"status": status, "user": {"id": user, "is_bot": False, "first_name": "P"}}


def _scope(params: Json) -> str:
    """Return the key of a menu: its scope, its chat, its language."""
    scope = params.get("scope") or {"type": "default"}
    where = scope.get("chat_id", "")
    return f"{scope['type']}:{where}:{params.get('language_code') or ''}"
