"""An answer while it is written: a draft that grows, a message that is edited, or typing alone.

One task a turn looks at what is to be shown and calls the Bot API, never more often than a step
allows; a thousand pieces of text are one change. Whatever fails here is left: the whole answer is
sent from its row, after this task has ended.
"""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import structlog
from django.utils import translation
from django.utils.translation import gettext

from agents.db import in_db
from sessions import delivery
from sessions.channels import answers
from sessions.channels.telegram import buttons, leaks, outlet
from sessions.channels.telegram.formatting import spans_of
from sessions.channels.telegram.limits import PACER
from sessions.channels.telegram.outlet import NotModified, Place, Refused
from sessions.channels.telegram.splitting import MARKER, TEXT_UNITS, Formatted, ending
from sessions.delivery import NotDelivered, OutcomeUnknown, Undeliverable
from sessions.models import ChannelAccount, ChatSession, InboundMessage, Turn
from sessions.outbox import Button
from sessions.turns.finishing import asked_in

if TYPE_CHECKING:
    from sessions.channels.telegram.calls import Calls

_log = structlog.get_logger(__name__)

Mode = Literal["stream", "partial", "blocked"]

# Between two changes of a draft; drafts are for this and have no limit of their own.
DRAFT_S: Final = 0.8
EDIT_S: Final = 1.0
# Telegram shows "typing" for five seconds.
TYPING_S: Final = 4.5
# A draft is gone after thirty seconds without a change.
REFRESH_S: Final = 22.0
# A turn that takes longer than this gets a button to stop it.
STOP_AFTER_S: Final = 5.0
# Longer texts are shown by their end alone; reading all of it anew each time costs too much.
SHOWN_CHARACTERS: Final = 4_200
# After a failed change, so that a chat which refuses is not asked on and on.
PAUSE_S: Final = 3.0
# The last change of a turn holds its answer up for no longer.
LAST_CHANGE_S: Final = 5.0
# Accounts whose server refuses drafts, until when.
DRAFTS_REFUSED_S: Final = 3_600.0
_without_drafts: dict[int, float] = {}

_REFUSES_DRAFTS: Final = re.compile(r"^not found|method|draft")
_FAILURES: Final = (NotDelivered, OutcomeUnknown, Undeliverable, Refused)
# What this process shows now, by turn.
_shown: dict[int, "asyncio.Task[None]"] = {}


def present(turn: Turn) -> "Showing":
    """Return what shows a turn of a Telegram conversation."""
    return Showing(turn)


async def finished(turn_id: int) -> None:
    """Return once nothing more of a turn is shown, so that its answer can be sent."""
    task = _shown.get(turn_id)
    if task is not None:
        _, late = await asyncio.wait({task}, timeout=LAST_CHANGE_S)
        for each in late:
            each.cancel()


async def close() -> None:
    """Leave everything as it is; the turns that are shown go on elsewhere."""
    tasks = list(_shown.values())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def mode_of(account: ChannelAccount, *, is_private: bool) -> Mode:
    """Return how answers appear in a chat: drafts exist in private ones only."""
    if account.answer_mode == ChannelAccount.AnswerMode.BLOCKED:
        return "blocked"
    if account.answer_mode == ChannelAccount.AnswerMode.PARTIAL or not is_private:
        return "partial"
    refused_until = _without_drafts.get(account.pk, 0.0)
    return "partial" if refused_until > time.monotonic() else "stream"


@dataclass(slots=True)
class _Words:
    """What is said besides the answer, in its person's language.

    Args:
        reply_to: The message that the answer replies to.
        stop: The button that stops it; empty where nobody may.
        waits: Above that button, where there is no text yet.
    """

    reply_to: str
    stop: tuple[tuple[Button, ...], ...]
    waits: str


@dataclass(eq=False)
class Showing:
    """Shows one attempt (``sessions.presenting.Presenter``)."""

    turn: Turn
    _pieces: list[str] = field(default_factory=list)
    _tools: set[str] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _is_ended: bool = False
    # The next change is planned already: more text changes nothing about it.
    _is_planned: bool = False
    # In this turn's message, or beside its draft.
    _message: str = ""
    _stop_message: str = ""
    _typing: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        """Find out where and how."""
        session = self.turn.session
        self._account = session.account
        self._place = Place(session.peer, session.thread)
        self._mode = mode_of(self._account, is_private=self._place.is_private)
        self._message = self.turn.shown_in
        now = time.monotonic()
        self._began_at = now
        self._last_sign_at = 0.0
        self._changed_at = 0.0
        self._next_at = now
        self._seen: str | None = None
        self._has_button = False

    # --- the turn's side: returns at once ---

    def begin(self, text: str) -> None:
        """Begin to show."""
        self._pieces = [text]
        turn_id = self.turn.pk
        task = asyncio.create_task(self._run(), name=f"show turn {turn_id}")
        _shown[turn_id] = task
        task.add_done_callback(lambda ended: _forget(turn_id, ended))

    def text(self, delta: str) -> None:
        """Add a piece of the answer."""
        self._pieces.append(delta)
        if not self._is_planned:
            self._wake.set()

    def restart(self, kept: str) -> None:
        """Take back what came since ``kept``."""
        self._pieces = [kept]
        self._wake.set()

    def tool_started(self, call_id: str) -> None:
        """Rest while a tool runs."""
        self._tools.add(call_id)

    def tool_finished(self, call_id: str) -> None:
        """Go on."""
        self._tools.discard(call_id)
        self._wake.set()

    def end(self) -> None:
        """Show nothing more."""
        self._is_ended = True
        self._wake.set()

    # --- beside the turn ---

    async def _run(self) -> None:
        try:
            calls = await outlet.calls_to(self._account, self._place)
            words = await in_db(_words, self.turn)
            await self._show(calls, words)
        except _FAILURES as error:
            _log.warning("showing.left", turn=self.turn.pk, error=str(error)[:200])
        except Exception:
            _log.exception("showing.failed", turn=self.turn.pk)

    async def _show(self, calls: "Calls", words: _Words) -> None:
        while not self._is_ended:
            self._wake.clear()
            try:
                await self._look(calls, words)
            except _FAILURES as error:
                self._fail(error)
                if isinstance(error, Refused) and "thread not found" in error.description:
                    # The topic is gone; the answer goes to the chat as well.
                    calls = calls.without_thread()
            await self._rest()
        if self._typing is not None:
            self._typing.cancel()
        if self._stop_message:
            await calls.delete(self._stop_message)

    async def _rest(self) -> None:
        """Wait until something is due, or happens."""
        now = time.monotonic()
        moments = [self._last_sign_at + TYPING_S, self._began_at + STOP_AFTER_S]
        if self._has_news:
            if self._next_at <= now:
                return
            self._is_planned = True
            moments.append(self._next_at)
        if self._seen is not None and self._mode == "stream":
            moments.append(self._changed_at + REFRESH_S)
        wait_s = min((moment for moment in moments if moment > now), default=now + 1.0) - now
        try:
            async with asyncio.timeout(wait_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._is_planned = False

    def _read(self) -> str:
        """Return the answer as far as it has come."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def _has_news(self) -> bool:
        """Return whether there is text to show that is not shown."""
        return self._mode != "blocked" and not self._tools and self._read() != (self._seen or "")

    async def _look(self, calls: "Calls", words: _Words) -> None:
        now = time.monotonic()
        if self._has_news and now >= self._next_at and await self._is_free(now):
            await self._change(calls, words)
        elif self._seen is not None and self._mode == "stream" and not self._silence_s():
            if now - self._changed_at >= REFRESH_S:
                await self._change(calls, words)
        await self._offer_stop(calls, words)
        if time.monotonic() - self._last_sign_at >= TYPING_S and not self._silence_s():
            self._type(calls)

    async def _is_free(self, now: float) -> bool:
        """Return whether a message may appear now: after the answers before this one."""
        wait_s = self._silence_s()
        if self._mode == "partial":
            is_edit = bool(self._message)
            wait_s = PACER.wait_s(self._account.pk, self._place.chat, is_edit=is_edit)
        if not wait_s and self._seen is None:
            peer = self._place.chat
            if await in_db(delivery.is_waiting, self._account.pk, peer):
                wait_s = EDIT_S
        if wait_s:
            self._next_at = now + wait_s
        return not wait_s

    def _silence_s(self) -> float:
        return PACER.silence_s(self._account.pk, self._place.chat)

    async def _change(self, calls: "Calls", words: _Words) -> None:
        """Show the text as it is now."""
        text = self._read()
        formatted = progress_of(text)
        now = time.monotonic()
        self._next_at = now + (DRAFT_S if self._mode == "stream" else EDIT_S)
        if self._mode == "stream":
            await calls.draft(self.turn.pk, formatted)
        elif self._message:
            try:
                await calls.edit(self._message, formatted, buttons=self._buttons(words))
            except NotModified:
                pass
        elif formatted.text.strip():
            await self._begin_message(calls, words, formatted)
        if self._seen is None:
            _log.info("draft.sent", turn=self.turn.pk, mode=self._mode)
        self._seen, self._changed_at, self._last_sign_at = text, now, now

    async def _begin_message(self, calls: "Calls", words: _Words, formatted: Formatted) -> None:
        self._message = await calls.message(
            formatted, reply_to=words.reply_to, buttons=self._buttons(words)
        )
        # So that a later attempt, in whichever process, goes on in the same message.
        await in_db(_note_message, self.turn.pk, self._message)

    def _buttons(self, words: _Words) -> tuple[tuple[Button, ...], ...]:
        is_long = time.monotonic() - self._began_at >= STOP_AFTER_S
        self._has_button = is_long and bool(words.stop)
        return words.stop if is_long else ()

    async def _offer_stop(self, calls: "Calls", words: _Words) -> None:
        """Let a long turn be stopped.

        Drafts have Telegram's own button, and an empty one shows it too; a message beside a
        draft would end the draft.
        """
        if self._has_button or not words.stop or self._silence_s():
            return
        if time.monotonic() - self._began_at < STOP_AFTER_S:
            return
        self._has_button = True
        if self._mode == "stream":
            if self._seen is None:
                await calls.draft(self.turn.pk, Formatted(""))
                self._seen, self._changed_at = "", time.monotonic()
        elif self._mode == "partial" and self._message:
            # Where text flows, its next change brings the button along.
            self._has_button = False
            if await self._is_free(time.monotonic()):
                await self._change(calls, words)
        elif self._mode == "partial":
            await self._begin_message(calls, words, Formatted(words.waits))
        else:
            self._stop_message = await calls.message(Formatted(words.waits), buttons=words.stop)

    def _type(self, calls: "Calls") -> None:
        """Show that something is being written; nothing waits for it."""
        self._last_sign_at = time.monotonic()
        if self._typing is None or self._typing.done():
            self._typing = asyncio.create_task(_typing(calls))

    def _fail(self, error: Exception) -> None:
        """Show less, or nothing, after a refusal; the answer itself is sent whatever happens."""
        _log.warning("showing.refused", turn=self.turn.pk, error=str(error)[:200])
        now = time.monotonic()
        # A draft that could not be refreshed is left to its end as well.
        self._next_at, self._changed_at = now + PAUSE_S, now
        match error:
            case NotDelivered():
                self._next_at = now + (error.retry_after_s or PAUSE_S)
            case Refused() if "thread not found" in error.description:
                self._next_at = now
            case Refused() if self._mode == "stream":
                if _REFUSES_DRAFTS.search(error.description):
                    # This server knows none.
                    _without_drafts[self._account.pk] = now + DRAFTS_REFUSED_S
                self._mode, self._seen, self._next_at = "partial", None, now
            case Undeliverable():
                self._is_ended = True
            case _ if self._mode != "stream":
                # Of unknown outcome the message may be there, and another would stand beside it.
                self._mode = "blocked"


def progress_of(text: str) -> Formatted:
    """Return how an unfinished answer looks: of a long one, its end."""
    clean = leaks.without_calls(text)
    if len(clean) > SHOWN_CHARACTERS:
        formatted = spans_of(clean[-SHOWN_CHARACTERS:])
        formatted = Formatted(f"{MARKER}{formatted.text}") if not formatted.spans else formatted
    else:
        formatted = spans_of(clean)
    return ending(formatted, TEXT_UNITS)


def _forget(turn_id: int, ended: "asyncio.Task[None]") -> None:
    if _shown.get(turn_id) is ended:
        del _shown[turn_id]


async def _typing(calls: "Calls") -> None:
    try:
        await calls.typing()
    except _FAILURES as error:
        _log.info("showing.not_typing", error=str(error)[:200])


def _words(turn: Turn) -> _Words:
    account, session = turn.session.account, turn.session
    with translation.override(answers.language_of(turn)):
        label, waits = gettext("Stop"), gettext("Working on it …")
    asker = (
        InboundMessage.objects.filter(turn=turn, person__isnull=False)
        .order_by("-id")
        .values_list("person_id", flat=True)
        .first()
    )
    stop: tuple[tuple[Button, ...], ...] = ()
    if asker is not None:
        data = buttons.sign(buttons.STOP, str(turn.pk), account=account, person_id=asker)
        stop = ((Button(label, data=data),),)
    reply_to = asked_in(turn) if session.kind == ChatSession.Kind.GROUP else ""
    return _Words(reply_to, stop, waits)


def _note_message(turn_id: int, message: str) -> None:
    Turn.objects.filter(pk=turn_id).update(shown_in=message)
