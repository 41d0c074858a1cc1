"""A user with an agent, and their socket as a browser opens it."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.test import Client

from agents.models import Agent, Membership, Team, User
from qanot_site.asgi import application


@dataclass(frozen=True, slots=True)
class Someone:
    """A member of a team of their own, logged in."""

    user: User
    team: Team
    agent: Agent
    client: Client

    @property
    def cookie(self) -> str:
        """The login, as a browser sends it."""
        return self.client.cookies[settings.SESSION_COOKIE_NAME].value


def make_someone(name: str = "sardor", team: Team | None = None) -> Someone:
    """Make a user, in a new team unless one is given, and log them in."""
    team = team or Team.objects.create(name=name, slug=f"team-{uuid.uuid4().hex[:8]}")
    agent = team.agents.first() or Agent.objects.create(team=team, name="Bot", slug="bot")
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, team=team)
    client = Client()
    client.force_login(user)
    return Someone(user, team, agent, client)


class Tab:
    """One socket.

    Channels' own communicator cannot be imported without its server, which we do not use; ours
    stands on the same one of asgiref.
    """

    def __init__(
        self, cookie: str | None, *, origin: str = "http://localhost", language: str = "en"
    ) -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        if cookie:
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()))
        scope = {
            "type": "websocket",
            "path": "/ws/chat/",
            "query_string": f"language={language}".encode(),
            "headers": headers,
            "subprotocols": [],
        }
        # Any: asgiref's test tools have no types.
        self._socket: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]

    async def __aenter__(self) -> "Tab":
        assert await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._socket.wait(timeout=5)

    async def connect(self) -> bool:
        """Whether the server takes the socket at all."""
        await self._socket.send_input({"type": "websocket.connect"})
        message = await self._socket.receive_output(timeout=5)
        return bool(message["type"] == "websocket.accept")

    async def say(self, **frame: Any) -> None:
        """Send a frame; ids may be UUIDs."""
        await self.say_raw(json.dumps(frame, default=str))

    async def say_raw(self, text: str | None = None, data: bytes | None = None) -> None:
        """Send whatever."""
        await self._socket.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    # Any: frames of every shape, which the tests read by name.
    async def hear(self, *types: str) -> Any:
        """The next frame of one of these types; others are passed over."""
        while True:
            frame = await self.hear_next()
            if frame["type"] in types:
                return frame

    async def hear_next(self) -> Any:
        """The next frame, whatever it is."""
        message = await self._socket.receive_output(timeout=5)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def hear_close(self) -> int:
        """The code with which the server closes the socket; frames before it are passed over."""
        while True:
            message = await self._socket.receive_output(timeout=5)
            if message["type"] == "websocket.close":
                return int(message["code"])

    async def is_silent(self) -> bool:
        """Whether nothing more comes."""
        return bool(await self._socket.receive_nothing(timeout=0.2, interval=0.02))

    async def begin(self, agent: Agent, text: str, *, key: str | None = None) -> Any:
        """Say the first words of a new conversation, and open it."""
        thread, key = uuid.uuid4(), key or uuid.uuid4().hex
        await self.say(type="send", key=key, text=text, agent=agent.public_id, thread=thread)
        accepted = await self.hear("accepted")
        await self.say(type="open", conversation=accepted["conversation"]["id"])
        await self.hear("resumed")
        return accepted
