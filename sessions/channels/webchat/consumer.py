"""The web chat's socket: one for each tab."""

import asyncio
from typing import Final, assert_never
from urllib.parse import parse_qs
from uuid import UUID

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import InterfaceError, OperationalError
from pydantic import ValidationError

from agents.db import in_db
from sessions.channels.webchat import frames
from sessions.channels.webchat.desk import Desk, LoggedOut
from sessions.channels.webchat.watch import Watch
from sessions.events.reader import group_of, read_after

_log = structlog.get_logger(__name__)

# Told to the page, which then shows the login instead of connecting again.
LOGGED_OUT: Final = 4401
# A socket that only listens is asked this often whether its login still holds.
RECHECK_S: Final = 30.0


class WebChatConsumer(AsyncWebsocketConsumer):
    """Parses a frame, has the desk do it, sends the answer; passes live frames on as they are."""

    # No layer has this name: the tab's `Watch` reads the layer, Channels itself must not.
    channel_layer_alias = "none"

    async def connect(self) -> None:
        """Take the socket, or close it with a code that says why."""
        await self.accept()
        self._watch = Watch(self._pass_on)
        self._guard: asyncio.Task[None] | None = None
        self._desk = Desk(
            session_key=self.scope["session"].session_key or "", language=self._language()
        )
        user = self.scope["user"]
        if user is None or not user.is_authenticated:
            await self.close(LOGGED_OUT)
            return
        self._guard = asyncio.create_task(self._check_login())

    async def disconnect(self, code: int) -> None:
        """Stop listening."""
        if self._guard is not None:
            self._guard.cancel()
            await asyncio.gather(self._guard, return_exceptions=True)
        await self._watch.aclose()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Do what one frame asks; whatever it holds, the socket lives on."""
        ask = _parsed(text_data)
        if ask is None:
            await self._say(self._desk.refusal("malformed", None))
            return
        try:
            await self._do(ask)
        except LoggedOut:
            await self.close(LOGGED_OUT)
        except (OperationalError, InterfaceError) as error:
            _log.warning("webchat.unavailable", error=type(error).__name__)
            key = ask.key if isinstance(ask, frames.Send) else None
            await self._say(self._desk.refusal("unavailable", key))

    async def _do(self, ask: frames.FromBrowser) -> None:
        match ask:
            case frames.Send():
                await self._send(ask)
            case frames.Resume():
                await self._resume(ask.turn, ask.after)
            case frames.Open():
                await self._open(ask)
            case frames.Leave():
                await self._watch.switch(None)
            case frames.Stop():
                await in_db(self._desk.stop, ask)
            case frames.Undo():
                await self._say_if(await in_db(self._desk.undo, ask))
            case frames.ListConversations():
                await self._say(await in_db(self._desk.list_conversations, ask))
            case frames.Search():
                await self._say(await in_db(self._desk.search, ask))
            case frames.Rename():
                await self._say(await in_db(self._desk.rename, ask))
            case frames.Archive():
                await self._say(await in_db(self._desk.archive, ask))
            case _:
                assert_never(ask)

    async def _send(self, ask: frames.Send) -> None:
        said = await in_db(self._desk.send, ask)
        await self._say(said)
        if isinstance(said, frames.AcceptedMessage) and said.is_over:
            look = await in_db(self._desk.look, said.turn)
            await self._say_if(look.frame if look is not None else None)

    async def _open(self, ask: frames.Open) -> None:
        found = await in_db(self._desk.open, ask)
        if isinstance(found, frames.Opened):
            # Listening begins before the frames so far are read: none falls between.
            await self._watch.switch(group_of(found.conversation.id))
        await self._say(found)
        if isinstance(found, frames.Opened):
            for turn in found.turns:
                if not turn.is_over:
                    await self._replay(turn.id, None)

    async def _resume(self, turn: UUID, after: str | None) -> None:
        look = await in_db(self._desk.look, turn)
        if look is None:
            return
        await self._say(look.frame)
        if not look.is_over:
            await self._replay(turn, after)

    async def _replay(self, turn: UUID, after: str | None) -> None:
        for _, frame in await read_after(turn, after):
            await self._pass_on(frame)
        await self._say(frames.Resumed(turn=turn))

    async def _pass_on(self, frame: str) -> None:
        await self.send(text_data=frame)

    async def _say(self, frame: frames.ToBrowser) -> None:
        await self._pass_on(frame.encoded())

    async def _say_if(self, frame: frames.ToBrowser | None) -> None:
        if frame is not None:
            await self._say(frame)

    async def _check_login(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_S)
            try:
                await in_db(self._desk.check)
            except LoggedOut:
                await self.close(LOGGED_OUT)
                return
            except (OperationalError, InterfaceError):
                continue

    def _language(self) -> str:
        """Return the page's language, which it names in the address."""
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        language = query.get("language", [""])[0]
        return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def _parsed(text: str | None) -> frames.FromBrowser | None:
    if text is None or len(text) > frames.MAX_FRAME_CHARACTERS:
        return None
    try:
        return frames.FROM_BROWSER.validate_json(text)
    except ValidationError:
        return None
