"""The Bot API's methods for one chat, by aiogram; imported at its first use only (``outlet``)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramConflictError,
    TelegramEntityTooLarge,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.methods import (
    DeleteMessage,
    EditMessageText,
    SendChatAction,
    SendDocument,
    SendMessage,
    SendMessageDraft,
    SendPhoto,
    SendRichMessage,
    TelegramMethod,
)
from aiogram.types import (
    BufferedInputFile,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputRichMessage,
    LinkPreviewOptions,
    Message,
    MessageEntity,
    ReplyParameters,
)

from sessions.channels.telegram.limits import PACER
from sessions.channels.telegram.outlet import NO_TOKEN_PAUSE_S, Moved, NotModified, Place, Refused
from sessions.channels.telegram.splitting import Formatted
from sessions.channels.telegram.wire import NotReached
from sessions.delivery import NotDelivered, OutcomeUnknown, Undeliverable
from sessions.outbox import Button

R = TypeVar("R")

# Beyond this a row waits instead of its sender.
SHORT_WAIT_S: Final = 1.2
UPLOAD_S: Final = 100
# A page that is fetched for its preview learns what was asked; and answers are full of links.
_NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)
# Servers of an older release know none of these.
_NEWER: Final = (SendRichMessage, SendMessageDraft)
# What 400 means where no other form of the message would be taken either.
_FINAL: Final = {
    "chat not found": "chat_not_found",
    "peer_id_invalid": "chat_not_found",
    "user not found": "chat_not_found",
    "kicked": "blocked",
    "deactivated": "blocked",
    "chat_write_forbidden": "no_rights",
    "not enough rights": "no_rights",
    "have no rights": "no_rights",
    "topic_closed": "no_rights",
}


@dataclass(slots=True)
class Calls:
    """What can be said to one chat.

    Everything raises ``NotDelivered`` (nothing left), ``OutcomeUnknown`` (nobody knows),
    ``Undeliverable`` (it never works) or ``Refused`` (not in this form).
    """

    bot: Bot
    account_id: int
    place: Place

    async def message(
        self, formatted: Formatted, *, reply_to: str = "", buttons: Sequence[Sequence[Button]] = ()
    ) -> str:
        """Send a text; return its number."""
        return await self._post(
            SendMessage(
                chat_id=self.place.chat,
                text=formatted.text,
                entities=entities_of(formatted),
                parse_mode=None,
                link_preview_options=_NO_PREVIEW,
                **self._around(reply_to, buttons),
            )
        )

    async def html(self, html: str, *, reply_to: str = "") -> str:
        """Send a text as HTML; return its number."""
        return await self._post(
            SendMessage(
                chat_id=self.place.chat,
                text=html,
                parse_mode="HTML",
                link_preview_options=_NO_PREVIEW,
                **self._around(reply_to, ()),
            )
        )

    async def rich(self, html: str, *, reply_to: str = "") -> str:
        """Send a rich message; return its number."""
        rich = InputRichMessage(html=html)
        around = self._around(reply_to, ())
        return await self._post(
            SendRichMessage(chat_id=self.place.chat, rich_message=rich, **around)
        )

    async def file(
        self, name: str, data: bytes, caption: Formatted, *, is_photo: bool, reply_to: str = ""
    ) -> str:
        """Send a file; return its message's number."""
        given: dict[str, Any] = {
            "chat_id": self.place.chat,
            "caption": caption.text or None,
            "caption_entities": entities_of(caption),
            "parse_mode": None,
            **self._around(reply_to, ()),
        }
        file = BufferedInputFile(data, filename=name)
        method: TelegramMethod[Message] = (
            SendPhoto(photo=file, **given) if is_photo else SendDocument(document=file, **given)
        )
        return await self._post(method, timeout_s=UPLOAD_S)

    async def edit(
        self, message: str, formatted: Formatted, *, buttons: Sequence[Sequence[Button]] = ()
    ) -> None:
        """Change a message of ours; doing it twice is harmless, so no outcome is unknown.

        Raises:
            NotModified: It looks like this already.
        """
        await self._change(
            EditMessageText(
                chat_id=self.place.chat,
                message_id=int(message),
                text=formatted.text,
                entities=entities_of(formatted),
                parse_mode=None,
                link_preview_options=_NO_PREVIEW,
                reply_markup=_markup(buttons),
            )
        )

    async def edit_html(self, message: str, html: str) -> None:
        """Change a message of ours to HTML, as ``edit``."""
        await self._change(
            EditMessageText(
                chat_id=self.place.chat,
                message_id=int(message),
                text=html,
                parse_mode="HTML",
                link_preview_options=_NO_PREVIEW,
            )
        )

    async def edit_rich(self, message: str, html: str) -> None:
        """Change a message of ours to a rich one, as ``edit``."""
        await self._change(
            EditMessageText(
                chat_id=self.place.chat,
                message_id=int(message),
                rich_message=InputRichMessage(html=html),
                parse_mode=None,
                link_preview_options=None,
            )
        )

    async def draft(self, draft_id: int, formatted: Formatted) -> None:
        """Show a draft of a message in a private chat; Telegram adds a button to stop it."""
        await self._repeatable(
            SendMessageDraft(
                chat_id=int(self.place.chat),
                draft_id=draft_id,
                message_thread_id=self._thread(),
                text=formatted.text,
                entities=entities_of(formatted),
                parse_mode=None,
                can_stop=True,
            )
        )

    async def typing(self) -> None:
        """Show for five seconds that something is being written."""
        await self._repeatable(
            SendChatAction(
                chat_id=self.place.chat, action="typing", message_thread_id=self._thread()
            )
        )

    async def delete(self, message: str) -> None:
        """Take a message of ours back."""
        await self._repeatable(DeleteMessage(chat_id=self.place.chat, message_id=int(message)))

    def without_thread(self) -> "Calls":
        """Return the same chat outside its topics."""
        return self.elsewhere(self.place.chat)

    def elsewhere(self, chat: str) -> "Calls":
        """Return another chat of the same bot."""
        return Calls(self.bot, self.account_id, Place(chat))

    def _thread(self) -> int | None:
        return int(self.place.thread) if self.place.thread else None

    # Any: keyword arguments of several methods.
    def _around(self, reply_to: str, buttons: Sequence[Sequence[Button]]) -> dict[str, Any]:
        reply = (
            ReplyParameters(message_id=int(reply_to), allow_sending_without_reply=True)
            if (reply_to)
            else None
        )
        return {
            "message_thread_id": self._thread(),
            "reply_parameters": reply,
            "reply_markup": _markup(buttons),
        }

    async def _post(self, method: TelegramMethod[Message], *, timeout_s: int | None = None) -> str:
        await self._wait_for_a_place()
        try:
            sent = await self.bot(method, request_timeout=timeout_s)
        except TelegramAPIError as error:
            raised = self._told(error)
        else:
            return str(sent.message_id)
        raise raised from None

    async def _change(self, method: EditMessageText) -> None:
        silence_s = PACER.silence_s(self.account_id, self.place.chat)
        if silence_s:
            raise NotDelivered("paced", retry_after_s=silence_s)
        PACER.take(self.account_id, self.place.chat)
        await self._repeatable(method)

    async def _repeatable(self, method: TelegramMethod[R]) -> R:
        try:
            return cast(R, await self.bot(method))
        except TelegramAPIError as error:
            raised = self._told(error)
        if isinstance(raised, OutcomeUnknown):
            raised = NotDelivered(str(raised))
        raise raised from None

    async def _wait_for_a_place(self) -> None:
        """Wait a moment for this message's place; for a longer time its row waits instead."""
        wait_s = PACER.wait_s(self.account_id, self.place.chat)
        if wait_s > SHORT_WAIT_S:
            raise NotDelivered("paced", retry_after_s=wait_s)
        PACER.take(self.account_id, self.place.chat)
        if wait_s:
            await asyncio.sleep(wait_s)

    def _told(self, error: TelegramAPIError) -> Exception:
        """Return what an error of aiogram's means; no text of it holds token or address."""
        match error:
            case TelegramRetryAfter():
                PACER.silence(self.account_id, self.place.chat, error.retry_after)
                return NotDelivered("429", retry_after_s=error.retry_after)
            case TelegramNotFound() if not isinstance(error.method, _NEWER):
                # All servers know the method, so it is the token that they do not.
                return NotDelivered("404", retry_after_s=NO_TOKEN_PAUSE_S)
            case TelegramBadRequest() | TelegramNotFound():
                return _refusal(error.message.lower())
            case TelegramForbiddenError():
                return Undeliverable("blocked")
            case TelegramMigrateToChat():
                return Moved(str(error.migrate_to_chat_id))
            case TelegramEntityTooLarge():
                return Undeliverable("too_large")
            case TelegramUnauthorizedError():
                return NotDelivered("401", retry_after_s=NO_TOKEN_PAUSE_S)
            case NotReached() | TelegramConflictError():
                return NotDelivered(type(error).__name__)
            case TelegramServerError():
                return OutcomeUnknown("5xx")
            case TelegramNetworkError():
                return OutcomeUnknown("unanswered")
        return OutcomeUnknown(type(error).__name__)


def entities_of(formatted: Formatted) -> list[MessageEntity] | None:
    """Return spans as the Bot API names them; None where there are none."""
    return [
        MessageEntity(
            type=span.kind,
            offset=span.offset,
            length=span.length,
            url=span.url or None,
            language=span.language or None,
        )
        for span in formatted.spans
    ] or None


def _markup(buttons: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    if not buttons:
        return None
    return InlineKeyboardMarkup(
        inline_keyboard=[
            [
                InlineKeyboardButton(
                    text=button.text, callback_data=button.data or None, url=button.url or None
                )
                for button in row
            ]
            for row in buttons
        ]
    )


def _refusal(description: str) -> Exception:
    if "not modified" in description:
        return NotModified()
    for words, code in _FINAL.items():
        if words in description:
            return Undeliverable(code)
    return Refused(description)
