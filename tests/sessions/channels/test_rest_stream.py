"""Following a turn's events over server-sent events."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from redis.exceptions import ConnectionError as RedisAway

from agents.core.messages import JsonObject
from sessions.channels.rest import streaming
from sessions.channels.rest.reading import Watched
from sessions.events import wire
from sessions.events.feed import Feed
from sessions.events.hub import Hub
from sessions.events.redis_client import close_redis_client, redis_client
from sessions.models import Turn
from tests.sessions.channels import rest_rows
from tests.sessions.channels.rest_rows import Client

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event, as a client reads it."""

    id: str
    kind: str
    data: JsonObject


def events_of(chunks: list[bytes]) -> list[Event]:
    found = []
    for block in b"".join(chunks).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[0] != ":")
        if fields:
            found.append(Event(fields["id"], fields["event"], json.loads(fields["data"])))
    return found


def shown(events: list[Event]) -> str:
    """Return the text that a client which follows docs/events.md ends up with."""
    text = ""
    for event in events:
        if event.kind == "turn.started":
            text = ""
        elif event.kind == "snapshot":
            text = str(event.data["text"])
        elif event.kind == "text":
            text += str(event.data["text"])
    return text


@dataclass
class Scene:
    """A running turn, what its worker publishes with, and how to watch it."""

    client: Client
    turn: Turn
    feed: Feed
    hub: Hub

    @property
    def watched(self) -> Watched:
        return Watched(self.turn.pk, self.turn.public_id, self.turn.session.public_id, False)

    def watch(self, last: str = "") -> "asyncio.Task[list[bytes]]":
        return asyncio.create_task(self.collect(last))

    async def collect(self, last: str = "") -> list[bytes]:
        async with asyncio.timeout(15):
            return [chunk async for chunk in streaming.stream(self.watched, last)]

    async def say(self, *texts: str) -> None:
        for text in texts:
            self.feed.text(text)
            await self.hub.flush()

    async def finish(self, *texts: str, is_published: bool = True) -> None:
        await sync_to_async(rest_rows.end)(self.turn, *texts)
        if is_published:
            self.feed.end("answered")
            await self.hub.flush()

    async def watcher_is_there(self) -> None:
        """Return once somebody listens to the session's group."""
        channel = wire.redis_channel_of(wire.group_of(self.turn.session.public_id))
        async with asyncio.timeout(5):
            # Redis tells nobody who subscribes.
            while not dict(await redis_client().pubsub_numsub(channel)).get(channel.encode()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@pytest.fixture
def sardor() -> Client:
    return rest_rows.make_client("Sardor")


@pytest.fixture
def quick() -> Iterator[None]:
    """Silence is distrusted earlier than in life."""
    with mock.patch.multiple(streaming, LIVE_LOOK_S=0.2, AWAY_LOOK_S=0.1, NEWS_LOOK_S=0.1):
        yield


@pytest.fixture
async def scene(async_client: AsyncClient, sardor: Client) -> AsyncIterator[Scene]:
    posted = await async_client.post(
        f"/api/v1/agents/{sardor.agent.public_id}/messages",
        {"text": "Hello"},
        content_type="application/json",
        headers=sardor.headers,
    )
    turn = await sync_to_async(rest_rows.start)(posted.json()["turn"]["id"])
    hub = Hub()
    feed = hub.feed(turn=turn.public_id, session=turn.session.public_id, attempt=1)
    feed.begin()
    await hub.flush()
    yield Scene(sardor, turn, feed, hub)
    await hub.aclose()
    await wire.layer().flush()
    await close_redis_client()


def ids(events: list[Event]) -> list[str]:
    return [event.id for event in events]


async def test_what_was_said_and_what_is_said_comes_once_and_in_order(scene: Scene) -> None:
    await scene.say("One ", "two ")
    watching = scene.watch()
    await scene.watcher_is_there()
    await scene.say("three ", "four")
    await scene.finish("One two three four")

    events = events_of(await watching)

    assert ids(events) == ["1-1", "1-2", "1-3", "1-4", "1-5", "1-6"]
    assert [event.kind for event in events] == ["turn.started", *["text"] * 4, "turn.ended"]
    assert shown(events) == "One two three four"
    assert events[0].data["turn"] == str(scene.turn.public_id)


async def test_a_client_that_comes_back_gets_what_follows(scene: Scene) -> None:
    await scene.say("One ", "two ", "three ")
    watching = scene.watch("1-3")
    await scene.watcher_is_there()
    await scene.say("four")
    await scene.finish("One two three four")

    assert ids(events_of(await watching)) == ["1-4", "1-5", "1-6"]


@pytest.mark.parametrize("last", ["1-99", "7-1", "nonsense", "0-0"])
async def test_an_unknown_last_event_id_gets_everything(scene: Scene, last: str) -> None:
    await scene.say("One ", "two")
    await scene.finish("One two")

    events = events_of(await scene.collect(last))

    assert shown(events) == "One two"
    assert events[-1].kind == "turn.ended"


async def test_events_of_other_turns_are_not_told(scene: Scene) -> None:
    other = scene.hub.feed(turn=uuid.uuid4(), session=scene.turn.session.public_id, attempt=1)
    watching = scene.watch()
    await scene.watcher_is_there()
    other.begin()
    other.text("Somebody else's")
    other.end("answered")
    await scene.hub.flush()
    await scene.say("Mine")
    await scene.finish("Mine")

    assert shown(events_of(await watching)) == "Mine"


async def test_a_later_attempt_replaces_an_earlier_one(scene: Scene) -> None:
    await scene.say("Half an ans")
    watching = scene.watch()
    await scene.watcher_is_there()
    scene.feed = scene.hub.feed(
        turn=scene.turn.public_id, session=scene.turn.session.public_id, attempt=2
    )
    scene.feed.begin()
    await scene.say("A whole answer")
    await scene.finish("A whole answer")

    events = events_of(await watching)

    assert shown(events) == "A whole answer"
    assert ids(events) == ["1-1", "1-2", "2-1", "2-2", "2-3"]


async def test_a_lost_message_is_fetched_from_redis(scene: Scene) -> None:
    watching = scene.watch()
    await scene.watcher_is_there()
    # One frame reaches the stream but not the group, as after a broken connection.
    with mock.patch.object(Feed, "channel", "nobody-listens"):
        await scene.say("One ")
    await scene.say("two")
    await scene.finish("One two")

    events = events_of(await watching)

    assert ids(events) == ["1-1", "1-2", "1-3", "1-4"]
    assert shown(events) == "One two"


async def test_text_that_redis_lost_comes_from_the_transcript(scene: Scene) -> None:
    watching = scene.watch()
    await scene.watcher_is_there()
    await scene.say("One ")
    with mock.patch.object(Feed, "channel", "nobody-listens"):
        await scene.say("two ")
    await redis_client().delete(wire.stream_of(scene.turn.public_id))
    channel = wire.redis_channel_of(wire.group_of(scene.turn.session.public_id))
    late: JsonObject = {
        "v": 1,
        "turn": str(scene.turn.public_id),
        "attempt": 1,
        "n": 4,
        "type": "text",
        "text": "three",
    }
    message = {"type": "turn.event", "id": "1-4", "frame": wire.encode(late)}
    await redis_client().publish(channel, wire.layer().serialize(message))
    await scene.finish("One two three")

    events = events_of(await watching)

    assert shown(events) == "One two three"
    assert events[-1].kind == "turn.ended"
    assert events[-2].kind == "snapshot"


async def test_a_turn_that_is_over_comes_whole(async_client: AsyncClient, scene: Scene) -> None:
    await scene.say("Hello")
    await scene.finish("Hello")

    response = await async_client.get(
        f"/api/v1/turns/{scene.turn.public_id}/events", headers=scene.client.headers
    )
    events = events_of([chunk async for chunk in response.streaming_content])  # type: ignore[attr-defined]

    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    assert [event.kind for event in events] == ["snapshot", "turn.ended"]
    assert events[0].data["text"] == "Hello"
    assert events[1].data["state"] == "answered"


async def test_a_client_that_comes_back_after_the_end_gets_later_ids(
    async_client: AsyncClient, scene: Scene
) -> None:
    await scene.say("Hello")
    await scene.finish("Hello")

    response = await async_client.get(
        f"/api/v1/turns/{scene.turn.public_id}/events",
        headers=scene.client.headers | {"Last-Event-ID": "1-2"},
    )
    events = events_of([chunk async for chunk in response.streaming_content])  # type: ignore[attr-defined]

    assert ids(events) == ["1-3", "1-4"]


@pytest.mark.usefixtures("quick")
async def test_an_end_that_was_never_published_is_found(scene: Scene) -> None:
    await scene.say("Hel")
    watching = scene.watch()
    await scene.watcher_is_there()
    await scene.finish("Hello", is_published=False)

    events = events_of(await watching)

    assert shown(events) == "Hello"
    assert events[-1].kind == "turn.ended"


@asynccontextmanager
async def redis_away() -> AsyncIterator[None]:
    """Neither the stream nor the layer can be reached."""

    async def refuse(*arguments: Any, **named: Any) -> None:
        raise RedisAway("away")

    shard = "channels_redis.pubsub.RedisSingleShardConnection"
    with (
        mock.patch(f"{shard}.subscribe", refuse),
        mock.patch("redis.asyncio.Redis.xrange", refuse),
    ):
        yield


@pytest.mark.usefixtures("quick")
async def test_without_redis_the_answer_still_comes(scene: Scene) -> None:
    async with redis_away():
        watching = scene.watch()
        await asyncio.sleep(0.3)
        assert not watching.done()
        await scene.finish("Hello", is_published=False)
        events = events_of(await watching)

    assert shown(events) == "Hello"
    assert_nothing_is_left()


@pytest.mark.usefixtures("quick")
async def test_when_redis_is_back_the_events_go_on(scene: Scene) -> None:
    async with redis_away():
        watching = scene.watch()
        await asyncio.sleep(0.3)
        await scene.say("Hel")
    await scene.watcher_is_there()
    await scene.say("lo")
    await scene.finish("Hello")

    events = events_of(await watching)

    assert shown(events) == "Hello"
    assert events[-1].kind == "turn.ended"


async def test_silence_is_broken_by_a_comment(scene: Scene) -> None:
    with mock.patch.object(streaming, "HEARTBEAT_S", 0.05):
        async with aclosing(streaming.stream(scene.watched, "")) as chunks:
            first = await anext(chunks)
            second = await anext(chunks)

    assert first.startswith(b"id: 1-1\n")
    assert second.startswith(b":")
    assert second.endswith(b"\n\n")


async def test_a_client_that_goes_away_leaves_nothing(scene: Scene) -> None:
    watching = scene.watch()
    await scene.watcher_is_there()
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)

    assert_nothing_is_left()


async def test_a_client_that_is_done_leaves_nothing(scene: Scene) -> None:
    watching = scene.watch()
    await scene.watcher_is_there()
    await scene.say("Hello")
    await scene.finish("Hello")
    await watching

    assert_nothing_is_left()


def assert_nothing_is_left() -> None:
    layer = wire.layer()
    assert layer.channels == {}
    assert layer.groups == {}
    names = [task.get_name() for task in asyncio.all_tasks()]
    assert [name for name in names if name.startswith("rest.")] == []
