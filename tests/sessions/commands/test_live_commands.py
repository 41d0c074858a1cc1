"""Commands in the web chat and over REST: done once, shown to people, never to the model."""

from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse

from sessions.events import wire
from sessions.events.redis_client import close_redis_client
from sessions.models import Generation, Turn
from sessions.turns import history
from tests.sessions.channels.rest_rows import end, make_client, start
from tests.sessions.channels.webchat_rows import Someone, Tab, make_someone

pytestmark = pytest.mark.django_db(transaction=True)


def post(client: Any, text: str, key: str = "") -> Any:
    """Post a message, and return its turn and status."""
    headers = {**client.headers, **({"Idempotency-Key": key} if key else {})}
    answer = Client().post(
        reverse("api:messages", args=[client.agent.public_id]),
        {"text": text},
        content_type="application/json",
        headers=headers,
    )
    assert answer.status_code in (200, 202), answer.content
    return answer.json()["turn"], answer.status_code


def test_reset_over_rest_is_done_once_a_key() -> None:
    client = make_client()
    first, _ = post(client, "My name is Sardor")
    turn, status = post(client, "/new", "k1")
    assert status == 202
    assert turn["is_over"]
    assert turn["notice"]["code"] == "command"
    assert "new conversation" in turn["notice"]["text"]
    again, status = post(client, "/new", "k1")
    assert (again["id"], status) == (turn["id"], 200)
    assert [row.number for row in Generation.objects.order_by("number")] == [1, 2]
    later, _ = post(client, "Who am I?")
    numbers = {
        str(row.public_id): row.generation.number
        for row in Turn.objects.select_related("generation")
    }
    assert [numbers[row["id"]] for row in (first, turn, later)] == [1, 2, 2]


def test_key_of_a_command_is_refused_for_another_message() -> None:
    client = make_client()
    post(client, "/help", "k1")
    answer = Client().post(
        reverse("api:messages", args=[client.agent.public_id]),
        {"text": "/new"},
        content_type="application/json",
        headers={**client.headers, "Idempotency-Key": "k1"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")
    assert Generation.objects.count() == 1


def test_command_stands_in_the_transcript_and_not_in_the_models_history() -> None:
    client = make_client()
    post(client, "/help")
    asked, _ = post(client, "Hello")
    turn = start(asked["id"])
    own = history.of_turn(turn)
    assert history.chosen(turn, own, window_tokens=100_000).messages == ()
    end(turn, "Hi!")
    answer = (
        Client()
        .get(reverse("api:transcript", args=[turn.session.public_id]), headers=client.headers)
        .json()
    )
    assert [entry["role"] for entry in answer["items"]] == ["user", "notice", "user", "assistant"]
    assert answer["items"][0]["text"] == "/help"


@pytest.fixture
async def _closed():  # type: ignore[no-untyped-def]
    yield
    await close_redis_client()
    await wire.layer().flush()


@pytest.mark.usefixtures("_closed")
async def test_reset_begins_a_new_stretch_in_every_tab() -> None:
    someone = await _someone()
    async with Tab(someone.cookie) as tab, Tab(someone.cookie) as other:
        begun = await tab.begin(someone.agent, "Hello")
        place = begun["conversation"]["id"]
        await other.say(type="open", conversation=place)
        await other.hear("resumed")
        await tab.say(type="send", key="k2", text="/reset", conversation=place)
        accepted = await tab.hear("accepted")
        assert accepted["is_over"]
        shown = (await tab.hear("turn"))["shown"]
        assert shown["begins_anew"]
        assert shown["is_command"]
        assert not shown["can_retry"]
        assert "new conversation" in shown["notice"]
        changed = await other.hear("session.changed")
        assert UUID(changed["turn"]) == UUID(shown["id"])
        await other.say(type="open", conversation=place)
        turns = (await other.hear("opened"))["turns"]
        assert [turn["begins_anew"] for turn in turns] == [False, True]


@pytest.mark.usefixtures("_closed")
async def test_unknown_command_goes_to_the_agent() -> None:
    someone = await _someone()
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "/nonsense please")
        assert not accepted["is_over"]


async def _someone() -> Someone:
    return await sync_to_async(make_someone)()
