"""The web chat's socket: a database, a Valkey and a browser's frames; no worker runs."""

import asyncio
import json
import uuid
from unittest import mock

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.utils import timezone
from pydantic import JsonValue

from agents.core.messages import JsonObject
from agents.models import Agent, Membership
from sessions.channels.webchat import consumer, desk, watch
from sessions.events import wire
from sessions.events.redis_client import close_redis_client, redis_client
from sessions.inbox import MAX_CHARACTERS
from sessions.models import ChatSession, InboundMessage, Turn
from tests.sessions.channels.rest_rows import end, start
from tests.sessions.channels.webchat_rows import Someone, Tab, make_someone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def someone() -> Someone:
    return make_someone()


@pytest.fixture(autouse=True)
async def _close_connections():  # type: ignore[no-untyped-def]
    yield
    await close_redis_client()
    await wire.layer().flush()


async def publish(turn: Turn, attempt: int, n: int, **fields: JsonValue) -> None:
    """Publish a frame as a worker does."""
    head: JsonObject = {"v": 1, "turn": str(turn.public_id), "attempt": attempt, "n": n}
    text = wire.encode(head | fields)
    await redis_client().xadd(wire.stream_of(turn.public_id), {"f": text}, id=f"{attempt}-{n}")
    await wire.layer().group_send(
        wire.group_of(turn.session.public_id),
        {"type": "turn.event", "id": f"{attempt}-{n}", "frame": text},
    )


# --- who may ------------------------------------------------------------------------------


async def test_socket_without_login_is_closed_with_a_code_that_says_so() -> None:
    async with Tab(None) as tab:
        assert await tab.hear_close() == consumer.LOGGED_OUT


async def test_socket_from_another_site_is_refused(someone: Someone) -> None:
    assert not await Tab(someone.cookie, origin="http://evil.example").connect()


async def test_logout_ends_an_open_socket(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        await tab.say(type="conversations")
        await tab.hear("conversations")
        await sync_to_async(someone.client.logout)()
        await tab.say(type="send", key="k", text="hi", agent=someone.agent.public_id)
        assert await tab.hear_close() == consumer.LOGGED_OUT
    assert not await InboundMessage.objects.aexists()


async def test_switched_off_user_is_noticed_though_they_only_listen(
    someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "RECHECK_S", 0.05)
    async with Tab(someone.cookie) as tab:
        someone.user.is_active = False
        await someone.user.asave()
        assert await tab.hear_close() == consumer.LOGGED_OUT


async def test_conversation_of_a_colleague_is_not_there(someone: Someone) -> None:
    colleague = await sync_to_async(make_someone)("bobur", someone.team)
    async with Tab(someone.cookie) as mine, Tab(colleague.cookie) as theirs:
        accepted = await mine.begin(someone.agent, "my secret")
        await theirs.say(type="open", conversation=accepted["conversation"]["id"])
        assert (await theirs.hear_next())["type"] == "missing"
        await theirs.say(
            type="send", key="k", text="hi", conversation=accepted["conversation"]["id"]
        )
        assert (await theirs.hear_next())["code"] == "missing"
        await theirs.say(type="resume", turn=accepted["turn"])
        await theirs.say(type="stop", turn=accepted["turn"])
        await theirs.say(type="conversations")
        assert (await theirs.hear_next())["conversations"] == []
    turn = await Turn.objects.aget(public_id=accepted["turn"])
    assert turn.state == Turn.State.QUEUED
    assert turn.stop_requested_at is None


async def test_agent_of_another_team_cannot_be_talked_to(someone: Someone) -> None:
    stranger = await sync_to_async(make_someone)("bobur")
    async with Tab(someone.cookie) as tab:
        await tab.say(
            type="send",
            key="k",
            text="hi",
            agent=stranger.agent.public_id,
            thread=uuid.uuid4(),
        )
        assert (await tab.hear_next())["code"] == "agent_gone"
    assert not await ChatSession.objects.aexists()


async def test_who_leaves_a_team_loses_its_conversations(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
        await Membership.objects.all().adelete()
        await tab.say(type="open", conversation=accepted["conversation"]["id"])
        assert (await tab.hear_next())["type"] == "missing"


async def test_archived_agent_takes_no_messages_but_can_be_read(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
        await Agent.objects.aupdate(archived_at=timezone.now())
        place = accepted["conversation"]["id"]
        await tab.say(type="send", key="k2", text="hi", conversation=place)
        assert (await tab.hear("accepted", "refused"))["code"] == "agent_gone"
        await tab.say(type="open", conversation=place)
        assert (await tab.hear("opened"))["turns"]


# --- sending ------------------------------------------------------------------------------


async def test_first_words_make_a_conversation_with_a_title(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "Plan my week")
        assert accepted["conversation"]["title"] == "Plan my week"
        assert accepted["conversation"]["agent_name"] == "Bot"
        await tab.say(type="conversations")
        listed = (await tab.hear("conversations"))["conversations"]
    assert [row["title"] for row in listed] == ["Plan my week"]
    assert listed[0]["is_running"]
    session = await ChatSession.objects.select_related("agent", "account").aget()
    assert session.key.split(":")[2:4] == ["webchat", "direct"]


async def test_message_sent_again_after_a_lost_answer_is_one_row(someone: Someone) -> None:
    """webchat-1: the socket closes before the answer; the browser sends the same key again."""
    frame = {
        "type": "send",
        "key": "same-key",
        "text": "hello",
        "agent": someone.agent.public_id,
        "thread": uuid.uuid4(),
    }
    async with Tab(someone.cookie) as tab:
        await tab.say(**frame)
        first = await tab.hear("accepted")
    async with Tab(someone.cookie) as tab:
        await tab.say(**frame)
        again = await tab.hear("accepted")
    assert again["message"] == first["message"]
    assert again["turn"] == first["turn"]
    assert await InboundMessage.objects.acount() == 1
    assert await Turn.objects.acount() == 1


async def test_key_of_another_message_is_refused(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello", key="k")
        place = accepted["conversation"]["id"]
        await tab.say(type="send", key="k", text="other words", conversation=place)
        assert (await tab.hear("accepted", "refused"))["code"] == "key_reused"


@pytest.mark.parametrize("text", ["", "  ", "\n\t \u200a"])
async def test_blank_message_is_refused_and_leaves_nothing(someone: Someone, text: str) -> None:
    """webchat-3."""
    async with Tab(someone.cookie) as tab:
        await tab.say(
            type="send", key="k", text=text, agent=someone.agent.public_id, thread=uuid.uuid4()
        )
        refused = await tab.hear_next()
    assert (refused["type"], refused["code"], refused["key"]) == ("refused", "empty", "k")
    assert refused["text"]
    assert not await Turn.objects.aexists()
    assert not await ChatSession.objects.aexists()


async def test_message_over_the_limit_is_refused_with_the_limit(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        await tab.say(
            type="send",
            key="k",
            text="a" * (MAX_CHARACTERS + 1),
            agent=someone.agent.public_id,
            thread=uuid.uuid4(),
        )
        refused = await tab.hear_next()
    assert refused["code"] == "too_long"
    assert str(MAX_CHARACTERS) in refused["text"]


async def test_longest_message_fits_into_a_frame_however_json_writes_it(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "🪶" * MAX_CHARACTERS)
        assert accepted["type"] == "accepted"


async def test_what_was_noted_stands_under_the_message(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "My name is Sardor")
        assert len(accepted["noted"]) == 1
        assert accepted["noted"][0]["words"] == "noted: My name is Sardor"
        assert accepted["noted"][0]["is_undone"] is False
        await tab.say(type="open", conversation=accepted["conversation"]["id"])
        (turn,) = (await tab.hear("opened"))["turns"]
    assert turn["messages"][0]["noted"] == accepted["noted"]


async def test_database_that_is_away_is_worth_another_try(someone: Someone) -> None:
    with mock.patch.object(desk.Desk, "send", side_effect=OperationalError("away")):
        async with Tab(someone.cookie) as tab:
            await tab.say(type="send", key="k", text="hi", agent=someone.agent.public_id)
            refused = await tab.hear_next()
    assert (refused["code"], refused["key"]) == ("unavailable", "k")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"type":"fly"}',
        '{"type":"send"}',
        '{"type":"send","key":"","text":"a"}',
        '{"type":"send","key":"k k","text":"a"}',
        '{"type":"send","key":"k","text":5}',
        '{"type":"send","key":"k","text":"\\ud800"}',
        '{"type":"open","conversation":"1; drop table"}',
        '{"type":"resume","turn":"0","after":"x"}',
        '{"type":"stop","turn":null}',
        "[" * 100_000,
        '{"type":"send","text":"' + "a" * 2_000_000 + '"}',
    ],
)
async def test_malformed_frame_is_refused_and_the_socket_lives_on(
    someone: Someone, text: str
) -> None:
    async with Tab(someone.cookie) as tab:
        await tab.say_raw(text)
        assert (await tab.hear_next())["code"] == "malformed"
        await tab.say(type="conversations")
        assert (await tab.hear_next())["type"] == "conversations"


async def test_binary_frame_is_refused(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        await tab.say_raw(data=b"\x00\xff")
        assert (await tab.hear_next())["code"] == "malformed"


# --- following ----------------------------------------------------------------------------


async def test_live_frames_reach_every_tab_as_they_were_published(someone: Someone) -> None:
    async with Tab(someone.cookie) as one, Tab(someone.cookie) as two:
        accepted = await one.begin(someone.agent, "hello")
        await two.say(type="open", conversation=accepted["conversation"]["id"])
        assert (await two.hear("opened"))["turns"][0]["messages"][0]["text"] == "hello"
        await two.hear("resumed")
        turn = await sync_to_async(start)(accepted["turn"])
        await publish(turn, 1, 1, type="turn.started")
        await publish(turn, 1, 2, type="text", text="Salom")
        for tab in (one, two):
            assert (await tab.hear("turn.started"))["n"] == 1
            assert await tab.hear("text") == {
                "v": 1,
                "turn": accepted["turn"],
                "attempt": 1,
                "n": 2,
                "type": "text",
                "text": "Salom",
            }


async def test_message_of_one_tab_is_announced_to_the_other(someone: Someone) -> None:
    async with Tab(someone.cookie) as one, Tab(someone.cookie) as two:
        accepted = await one.begin(someone.agent, "hello")
        place = accepted["conversation"]["id"]
        await two.say(type="open", conversation=place)
        await two.hear("opened")
        await one.say(type="send", key="k2", text="and this", conversation=place)
        second = await one.hear("accepted")
        changed = await two.hear("session.changed")
        while changed["turn"] != second["turn"]:
            changed = await two.hear("session.changed")
        await two.say(type="resume", turn=changed["turn"])
        shown = (await two.hear("turn"))["shown"]
    assert [message["text"] for message in shown["messages"]] == ["and this"]
    assert not shown["is_over"]


async def test_tab_that_comes_late_gets_what_ran_already(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
    turn = await sync_to_async(start)(accepted["turn"])
    await publish(turn, 1, 1, type="turn.started")
    await publish(turn, 1, 2, type="text", text="Sa")
    async with Tab(someone.cookie) as late:
        await late.say(type="open", conversation=accepted["conversation"]["id"])
        kinds = [(await late.hear_next())["type"] for _ in range(4)]
        await publish(turn, 1, 3, type="text", text="lom")
        assert (await late.hear("text"))["n"] == 3
    assert kinds == ["opened", "turn.started", "text", "resumed"]


async def test_resume_brings_only_what_was_missed(someone: Someone) -> None:
    """webchat-2: an event got lost; the browser asks from the last one it saw."""
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
    turn = await sync_to_async(start)(accepted["turn"])
    for n in range(1, 5):
        await publish(turn, 1, n, type="text", text=str(n))
    async with Tab(someone.cookie) as tab:
        await tab.say(type="resume", turn=accepted["turn"], after="1-2")
        assert (await tab.hear_next())["type"] == "turn"
        assert [(await tab.hear_next()).get("n") for _ in range(3)] == [3, 4, None]


async def test_turn_that_ended_meanwhile_comes_from_the_transcript(someone: Someone) -> None:
    """webchat-4: the browser comes back and the answer is there, once."""
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
    turn = await sync_to_async(start)(accepted["turn"])
    await sync_to_async(end)(turn, "**Done** <img src=x onerror=alert(1)>")
    async with Tab(someone.cookie) as tab:
        await tab.say(type="resume", turn=accepted["turn"], after="1-2")
        shown = (await tab.hear_next())["shown"]
        assert await tab.is_silent()
    assert shown["is_over"]
    assert shown["state"] == "answered"
    (part,) = shown["parts"]
    assert "<strong>Done</strong>" in part["html"]
    assert "<img" not in part["html"]


async def test_stop_marks_the_turn_for_its_worker(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "hello")
        await sync_to_async(start)(accepted["turn"])
        await tab.say(type="stop", turn=accepted["turn"])
        await tab.say(type="conversations")
        await tab.hear("conversations")
    turn = await Turn.objects.aget(public_id=accepted["turn"])
    assert turn.stop_requested_at is not None


async def test_only_the_open_conversation_is_heard(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        first = await tab.begin(someone.agent, "one")
        await tab.begin(someone.agent, "two")
        turn = await sync_to_async(start)(first["turn"])
        await publish(turn, 1, 1, type="turn.started")
        while not await tab.is_silent():
            assert (await tab.hear_next())["type"] == "session.changed"


async def test_long_conversation_comes_in_pages(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        accepted = await tab.begin(someone.agent, "0")
        place = accepted["conversation"]["id"]
        for number in range(1, 25):
            await tab.say(type="send", key=f"k{number}", text=str(number), conversation=place)
            await tab.hear("accepted")
        await tab.say(type="open", conversation=place)
        newest = await tab.hear("opened")
        await tab.say(type="open", conversation=place, before=newest["turns"][0]["id"])
        oldest = await tab.hear("earlier")
    said = [turn["messages"][0]["text"] for turn in oldest["turns"] + newest["turns"]]
    assert said == [str(number) for number in range(25)]
    assert newest["has_earlier"]
    assert not oldest["has_earlier"]


# --- while Redis is away --------------------------------------------------------------------


async def test_without_redis_messages_are_taken_and_answers_come_from_the_database(
    someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = wire.layer()
    away = mock.AsyncMock(side_effect=ConnectionError("away"))
    monkeypatch.setattr(layer, "group_add", away, raising=False)
    monkeypatch.setattr(layer, "receive", away, raising=False)
    monkeypatch.setattr(redis_client(), "xrange", away)
    monkeypatch.setattr(watch, "JOIN_WAIT_S", 0.05)
    async with Tab(someone.cookie) as tab:
        async with asyncio.timeout(3):
            accepted = await tab.begin(someone.agent, "hello")
            turn = await sync_to_async(start)(accepted["turn"])
            await sync_to_async(end)(turn, "answer")
            await tab.say(type="resume", turn=accepted["turn"])
            shown = (await tab.hear("turn"))["shown"]
    assert shown["parts"][0]["html"].strip() == "<p>answer</p>"


async def test_closed_tabs_leave_nothing_in_the_layer(someone: Someone) -> None:
    layer = wire.layer()._get_layer()
    for _ in range(3):
        async with Tab(someone.cookie) as tab:
            accepted = await tab.begin(someone.agent, "hello")
            turn = await sync_to_async(start)(accepted["turn"])
            await publish(turn, 1, 1, type="turn.started")
            await tab.hear("turn.started")
    assert not layer.groups
    assert not layer.channels


def test_texts_are_in_the_tabs_language() -> None:
    refused = desk.Desk(session_key="", language="en").refusal("malformed", None)
    assert json.loads(refused.encoded())["text"].startswith("The server did not")
