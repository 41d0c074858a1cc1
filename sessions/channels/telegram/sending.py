"""Sending rows to Telegram: parts of a message's size, each form a fallback of the one before."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import structlog
from django.utils import translation

from agents.db import in_db
from sessions import outbox
from sessions.channels import answers
from sessions.channels.answers import Answer
from sessions.channels.telegram import client, leaks, outlet, places, showing
from sessions.channels.telegram.formatting import to_html, written
from sessions.channels.telegram.outlet import Moved, NotModified, Place, Refused
from sessions.channels.telegram.splitting import (
    CAPTION_UNITS,
    TEXT_UNITS,
    Formatted,
    Span,
    split,
    units,
)
from sessions.delivery import Letter, NotDelivered, OutcomeUnknown, Undeliverable
from sessions.models import Outgoing
from sessions.outbox import Button

if TYPE_CHECKING:
    from sessions.channels.telegram.calls import Calls

_log = structlog.get_logger(__name__)

# What a longer text leaves free, so that a part can say that it comes again.
AGAIN_UNITS: Final = 48
# Servers learn rich messages with a new release; a refusal is forgotten after a while.
RICH_REFUSED_S: Final = 6 * 3_600.0
# How an edit is refused whose message somebody took back.
_GONE: Final = "message to edit not found"
# Telegram shows pictures up to this size; larger ones go as files.
PHOTO_BYTES: Final = 10 * 2**20
PHOTO_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/webp"})

# Accounts whose server knows no rich messages, until when.
_without_rich: dict[int, float] = {}


class TelegramSender:
    """How rows leave for Telegram (``settings.QANOT_CHANNELS``)."""

    is_live = False

    def warm(self) -> None:
        """Import aiogram."""
        outlet.warm()

    async def close(self) -> None:
        """Leave what is shown, and close the bots' connections."""
        await showing.close()
        await client.close_bots()

    async def open(self, outgoing: Outgoing) -> Letter:
        """Return a row cut into messages.

        Raises:
            NotDelivered: Its bot cannot be asked now.
            Undeliverable: Its file is gone.
        """
        if outgoing.account is None:
            raise AssertionError("every row has its account")
        place = Place(outgoing.peer, outgoing.thread)
        calls = await outlet.calls_to(outgoing.account, place)
        if outgoing.turn is not None:
            # Its last change is over before the whole answer is sent.
            await showing.finished(outgoing.turn.pk)
            answer = await in_db(_answer, outgoing)
            # Parsing a long answer takes tens of milliseconds.
            parts = await asyncio.to_thread(_parts_of_answer, answer)
            shown_in = outgoing.turn.shown_in
            return TelegramLetter(calls, outgoing, parts, answer.again, shown_in=shown_in)
        again = await in_db(_again, outgoing)
        text = outgoing.content.text if outgoing.content is not None else ""
        if outgoing.kind == Outgoing.Kind.FILE:
            return TelegramLetter(calls, outgoing, await in_db(_parts_of_file, outgoing), again)
        parts = [TextPart(each) for each in _cut(Formatted(text))]
        buttons = outbox.keyboard_of(outgoing)
        return TelegramLetter(calls, outgoing, parts, again, buttons=buttons)


@dataclass(frozen=True, slots=True)
class TextPart:
    """One message of text.

    Args:
        rich: Its form as a rich message, where that shows more.
    """

    formatted: Formatted
    rich: str = ""


@dataclass(frozen=True, slots=True)
class FilePart:
    """One message with a file."""

    name: str
    data: bytes
    is_photo: bool
    caption: Formatted


@dataclass(slots=True)
class TelegramLetter:
    """One row's messages.

    Args:
        again: The words for a part that may have been sent before.
        shown_in: The message in which the answer grew; it becomes the first part.
    """

    calls: "Calls"
    outgoing: Outgoing
    parts: Sequence[TextPart | FilePart]
    again: str
    shown_in: str = ""
    buttons: Sequence[Sequence[Button]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return how many messages there are."""
        return len(self.parts)

    async def send(self, number: int, *, again: bool) -> str:
        """Send one message; return its number in the chat."""
        try:
            return await self._send(number, again=again)
        except Moved as moved:
            await self._follow(moved.chat)
        return await self._send(number, again=again)

    async def _follow(self, chat: str) -> None:
        """Go on in the supergroup that a group became; the old one's messages are not there."""
        row = self.outgoing
        if row.account is None:
            raise AssertionError("every row has its account")
        await in_db(places.move, row.peer, chat, row.account)
        self.calls = self.calls.elsewhere(chat)
        self.shown_in = row.reply_to = ""

    async def _send(self, number: int, *, again: bool) -> str:
        part = self.parts[number - 1]
        # Only the first one quotes what it replies to.
        reply_to = self.outgoing.reply_to if number == 1 else ""
        if number == 1 and self.shown_in and isinstance(part, TextPart):
            edited = await self._edit(part)
            if edited:
                return self.shown_in
        if again:
            part = await self._marked(part)
        if isinstance(part, FilePart):
            return await self._in_topic(lambda calls: _send_file(calls, part, reply_to))
        buttons = self.buttons if number == self.count else ()
        return await self._in_topic(lambda calls: self._say(calls, part, reply_to, buttons))

    async def _edit(self, part: TextPart) -> bool:
        """Make the growing message the answer's first part; False where that cannot be.

        Half a text beside the whole one would look like another answer: it goes.
        """
        for edit in self._edits(part):
            try:
                await edit
            except NotModified:
                return True
            except Refused as error:
                _log.warning("delivery.edit_refused", reason=error.description[:200])
                if _GONE in error.description:
                    return False
            else:
                return True
        try:
            await self.calls.delete(self.shown_in)
        except (NotDelivered, OutcomeUnknown, Undeliverable, Refused) as error:
            _log.info("delivery.half_text_left", error=str(error)[:200])
        return False

    def _edits(self, part: TextPart) -> Iterator[Awaitable[None]]:
        """Return the forms that an edit may have, each a fallback of the one before."""
        message, formatted = self.shown_in, part.formatted
        if part.rich and _has_rich(self.calls.account_id):
            yield self._edit_rich(part.rich)
        yield self.calls.edit(message, formatted)
        if formatted.spans:
            yield self.calls.edit_html(message, to_html(formatted))
            yield self.calls.edit(message, Formatted(formatted.text))

    async def _edit_rich(self, html: str) -> None:
        try:
            await self.calls.edit_rich(self.shown_in, html)
        except Refused as error:
            # A server that knows none looks for a text.
            if "text is empty" in error.description:
                _note_without_rich(self.calls.account_id)
            raise

    async def _marked(self, part: TextPart | FilePart) -> TextPart | FilePart:
        if isinstance(part, FilePart):
            caption = _with_line(part.caption, self.again)
            fits = units(caption.text) <= CAPTION_UNITS
            return replace(part, caption=caption) if fits else part
        marked = _with_line(part.formatted, self.again)
        if units(marked.text) > TEXT_UNITS:
            # It fills its message: the mark is one before it.
            await self._in_topic(lambda calls: calls.message(Formatted(self.again)))
            return part
        return TextPart(marked)

    async def _in_topic(self, send: Callable[["Calls"], Awaitable[str]]) -> str:
        """Send; where the topic is gone, once more into the chat itself."""
        try:
            return await send(self.calls)
        except Refused as error:
            if "thread not found" not in error.description or not self.calls.place.thread:
                raise Undeliverable("refused") from error
        self.calls = self.calls.without_thread()
        try:
            return await send(self.calls)
        except Refused as error:
            raise Undeliverable("refused") from error

    async def _say(
        self,
        calls: "Calls",
        part: TextPart,
        reply_to: str,
        buttons: Sequence[Sequence[Button]],
    ) -> str:
        """Send a text in the first form that the server takes."""
        account_id = calls.account_id
        if part.rich and _has_rich(account_id):
            try:
                return await calls.rich(part.rich, reply_to=reply_to)
            except Refused as error:
                _may_go_on(error)
                if "not found" in error.description:
                    _note_without_rich(account_id)
        try:
            return await calls.message(part.formatted, reply_to=reply_to, buttons=buttons)
        except Refused as error:
            _may_go_on(error)
            if not part.formatted.spans:
                raise
        try:
            return await calls.html(to_html(part.formatted), reply_to=reply_to)
        except Refused as error:
            _may_go_on(error)
        plain = Formatted(part.formatted.text)
        return await calls.message(plain, reply_to=reply_to, buttons=buttons)


def _has_rich(account_id: int) -> bool:
    """Return whether an account's server may know rich messages."""
    return _without_rich.get(account_id, 0.0) < time.monotonic()


def _note_without_rich(account_id: int) -> None:
    _without_rich[account_id] = time.monotonic() + RICH_REFUSED_S


def _may_go_on(error: Refused) -> None:
    """Raise a refusal that another form of the text would not change."""
    if "thread not found" in error.description:
        raise error
    _log.warning("delivery.form_refused", reason=error.description[:200])


async def _send_file(calls: "Calls", part: FilePart, reply_to: str) -> str:
    return await calls.file(
        part.name, part.data, part.caption, is_photo=part.is_photo, reply_to=reply_to
    )


def _answer(outgoing: Outgoing) -> Answer:
    if outgoing.turn is None or outgoing.session is None:
        raise AssertionError("an answer has its turn and session")
    outgoing.turn.session = outgoing.session
    outgoing.turn.refresh_from_db(fields=["shown_in"])
    return answers.answer_of(outgoing.turn)


def _again(outgoing: Outgoing) -> str:
    with translation.override(answers.language_of_row(outgoing)):
        return answers.marked_again()


def _parts_of_answer(answer: Answer) -> list[TextPart]:
    forms = written(leaks.without_calls(answer.markdown))
    whole = forms.formatted
    if answer.notice:
        whole = _with_line(whole, answer.notice)
    parts = [TextPart(each) for each in _cut(whole)]
    if forms.rich and not answer.notice and len(parts) == 1:
        return [replace(parts[0], rich=forms.rich)]
    return parts


def _parts_of_file(outgoing: Outgoing) -> list[TextPart | FilePart]:
    file = outgoing.file
    if file is None:
        raise Undeliverable("no_file")
    try:
        with file.content.open("rb") as content:
            data = content.read()
    except OSError as error:
        raise Undeliverable("no_file") from error
    is_photo = file.media_type in PHOTO_TYPES and len(data) <= PHOTO_BYTES
    text = outgoing.content.text if outgoing.content is not None else ""
    # What a caption cannot hold follows it.
    first, *rest = split(Formatted(text), CAPTION_UNITS) or [Formatted("")]
    if rest:
        rest = _cut(Formatted(text[len(first.text) :].lstrip("\n")))
    return [FilePart(file.name, data, is_photo, first), *(TextPart(each) for each in rest)]


def _cut(whole: Formatted) -> list[Formatted]:
    if units(whole.text) <= TEXT_UNITS:
        return split(whole)
    return split(whole, TEXT_UNITS - AGAIN_UNITS)


def _with_line(whole: Formatted, line: str) -> Formatted:
    """Return a text with words of the platform's below it, in italics."""
    before = f"{whole.text}\n\n" if whole.text else ""
    span = Span("italic", units(before), units(line))
    return Formatted(f"{before}{line}", (*whole.spans, span))
