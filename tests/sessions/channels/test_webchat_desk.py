"""What a tab does with its conversations and noted facts; other people's are out of reach."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from memory.models import MemoryDocument, WalEntry
from sessions.events import wire
from sessions.events.redis_client import close_redis_client
from sessions.models import ChatSession
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


async def titles(tab: Tab, **ask: object) -> list[str]:
    """Ask for a list of conversations, and return their titles."""
    await tab.say(**{"type": "conversations", **ask})
    answer = await tab.hear("conversations", "found")
    return [row["title"] for row in answer["conversations"]]


# --- titles -------------------------------------------------------------------------------


async def test_conversation_gets_another_title(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Hello")
        place = begun["conversation"]["id"]
        await tab.say(type="rename", conversation=place, title="  Trip to\n Samarqand ")
        answer = await tab.hear("conversation")
        assert answer["conversation"]["title"] == "Trip to Samarqand"
        await tab.say(type="send", key="k2", text="And then?", conversation=place)
        assert (await tab.hear("accepted"))["conversation"]["title"] == "Trip to Samarqand"
        assert await titles(tab) == ["Trip to Samarqand"]


async def test_title_of_nothing_is_refused_with_words(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Hello")
        await tab.say(type="rename", conversation=begun["conversation"]["id"], title=" \u0000 ")
        refused = await tab.hear("refused")
        assert (refused["key"], refused["code"]) == (None, "empty")
        assert await titles(tab) == ["Hello"]


async def test_title_over_the_limit_is_refused(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Hello")
        place = begun["conversation"]["id"]
        await tab.say(type="rename", conversation=place, title="x" * 201)
        assert (await tab.hear("refused"))["code"] == "malformed"
        await tab.say(type="rename", conversation=place, title="x" * 200)
        assert len((await tab.hear("conversation"))["conversation"]["title"]) == 200


async def test_secret_in_a_title_is_masked(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Hello")
        await tab.say(
            type="rename",
            conversation=begun["conversation"]["id"],
            title="my password is hunter2secret",
        )
        assert "hunter2secret" not in (await tab.hear("conversation"))["conversation"]["title"]


# --- archive ------------------------------------------------------------------------------


async def test_archived_conversation_is_listed_apart_and_still_opens(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Old matter")
        place = begun["conversation"]["id"]
        await tab.begin(someone.agent, "New matter")
        await tab.say(type="archive", conversation=place, archived=True)
        assert (await tab.hear("conversation"))["conversation"]["is_archived"] is True
        await tab.say(type="conversations")
        listed = await tab.hear("conversations")
        assert [row["title"] for row in listed["conversations"]] == ["New matter"]
        assert listed["has_archived"] is True
        assert await titles(tab, archived=True) == ["Old matter"]
        await tab.say(type="open", conversation=place)
        assert (await tab.hear("opened"))["conversation"]["is_archived"] is True
    page = await sync_to_async(someone.client.get)(f"/chat/{place}/")
    assert page.status_code == 200


async def test_archived_conversation_comes_back(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Old matter")
        place = begun["conversation"]["id"]
        for _ in range(2):
            await tab.say(type="archive", conversation=place, archived=True)
            await tab.hear("conversation")
        await tab.say(type="archive", conversation=place, archived=False)
        assert (await tab.hear("conversation"))["conversation"]["is_archived"] is False
        assert await titles(tab) == ["Old matter"]


async def test_new_message_brings_an_archived_conversation_back(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Old matter")
        place = begun["conversation"]["id"]
        await ChatSession.objects.aupdate(archived_at=timezone.now())
        await tab.say(type="send", key="k2", text="One more thing", conversation=place)
        assert (await tab.hear("accepted"))["conversation"]["is_archived"] is False
        assert await titles(tab) == ["Old matter"]


# --- search -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["o'zbek", "OʻZBEK", "o‘zbek  tili", "tili oʼzbek", "kafe", "  Café"]
)
async def test_search_minds_neither_case_nor_accents_nor_apostrophes(
    someone: Someone, query: str
) -> None:
    async with Tab(someone.cookie) as tab:
        await tab.begin(someone.agent, "Oʻzbek tili kafé café")
        await tab.begin(someone.agent, "Something else")
        assert await titles(tab, type="search", query=query) == ["Oʻzbek tili kafé café"]


async def test_search_finds_archived_ones_and_those_beyond_the_list(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Needle")
        first = await ChatSession.objects.aget(public_id=begun["conversation"]["id"])
        later = timezone.now()
        await ChatSession.objects.abulk_create(
            ChatSession(
                team=someone.team,
                agent=someone.agent,
                account_id=first.account_id,
                kind=first.kind,
                peer=first.peer,
                thread=str(uuid4()),
                person_id=first.person_id,
                title=f"Straw {number}",
                last_interaction_at=later,
                archived_at=later if number % 2 else None,
            )
            for number in range(250)
        )
        assert "Needle" not in await titles(tab)
        assert await titles(tab, type="search", query="needle") == ["Needle"]
        assert await titles(tab, type="search", query="straw 249") == ["Straw 249"]
        assert len(await titles(tab, type="search", query="straw")) == 50
        assert await titles(tab, type="search", query=" ") == []


# --- what was noted -----------------------------------------------------------------------


async def test_noted_line_is_taken_back_in_every_tab(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab, Tab(someone.cookie) as other:
        begun = await tab.begin(someone.agent, "My name is Sardor")
        await other.say(type="open", conversation=begun["conversation"]["id"])
        await other.hear("resumed")
        (noted,) = begun["noted"]
        for _ in range(2):
            await tab.say(type="undo", message=begun["message"], fact=noted["fact"])
            shown = (await tab.hear("turn"))["shown"]
            (line,) = shown["messages"][0]["noted"]
            assert line["is_undone"] is True
            assert line["words"] == "forgotten: My name is Sardor"
        assert (await other.hear("noted.changed"))["turn"] == begun["turn"]
        await other.say(type="resume", turn=begun["turn"])
        assert (await other.hear("turn"))["shown"] == shown
        await tab.say(type="open", conversation=begun["conversation"]["id"])
        assert (await tab.hear("opened"))["turns"][0]["messages"] == shown["messages"]
    assert not await WalEntry.objects.filter(retracted_at=None).aexists()
    assert "Sardor" not in (await MemoryDocument.objects.aget()).text


async def test_message_sent_again_shows_what_was_taken_back(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "My name is Sardor", key="k1")
        await tab.say(type="undo", message=begun["message"], fact=begun["noted"][0]["fact"])
        await tab.hear("turn")
        place = begun["conversation"]["id"]
        await tab.say(type="send", key="k1", text="My name is Sardor", conversation=place)
        assert (await tab.hear("accepted"))["noted"][0]["is_undone"] is True


async def test_failed_turn_offers_another_try(someone: Someone) -> None:
    async with Tab(someone.cookie) as tab:
        begun = await tab.begin(someone.agent, "Hi")
        turn = await sync_to_async(start)(begun["turn"])
        await sync_to_async(end)(turn, state="failed", notice={"v": 1, "code": "overloaded"})
        await tab.say(type="resume", turn=begun["turn"])
        shown = (await tab.hear("turn"))["shown"]
        assert shown["can_retry"] is True
        assert "busy" in shown["notice"]


# --- other people's -----------------------------------------------------------------------

Try = Callable[[Tab, Any], Awaitable[None]]
STRANGERS: dict[str, Try] = {
    "rename": lambda tab, begun: tab.say(
        type="rename", conversation=begun["conversation"]["id"], title="Mine"
    ),
    "archive": lambda tab, begun: tab.say(
        type="archive", conversation=begun["conversation"]["id"], archived=True
    ),
    "open": lambda tab, begun: tab.say(type="open", conversation=begun["conversation"]["id"]),
    "undo": lambda tab, begun: tab.say(
        type="undo", message=begun["message"], fact=begun["noted"][0]["fact"]
    ),
    "stop": lambda tab, begun: tab.say(type="stop", turn=begun["turn"]),
    "resume": lambda tab, begun: tab.say(type="resume", turn=begun["turn"]),
}


@pytest.mark.parametrize("relation", ["colleague", "other team", "superuser"])
@pytest.mark.parametrize("attempt", STRANGERS)
async def test_strangers_conversation_is_as_if_it_were_not_there(
    someone: Someone, attempt: str, relation: str
) -> None:
    team = someone.team if relation == "colleague" else None
    stranger = await sync_to_async(make_someone)("bobur", team)
    if relation == "superuser":
        stranger.user.is_superuser = True
        await stranger.user.asave()
    async with Tab(someone.cookie) as mine, Tab(stranger.cookie) as theirs:
        begun = await mine.begin(someone.agent, "My name is Sardor")
        await STRANGERS[attempt](theirs, begun)
        await theirs.say(type="search", query="sardor")
        answer = await theirs.hear_next()
        if attempt in {"rename", "archive", "open"}:
            assert answer == {"type": "missing", "conversation": begun["conversation"]["id"]}
            answer = await theirs.hear_next()
        assert (answer["type"], answer["conversations"]) == ("found", [])
        assert await titles(theirs, archived=True) == []
    session = await ChatSession.objects.aget()
    assert (session.title, session.archived_at) == ("My name is Sardor", None)
    assert await WalEntry.objects.filter(retracted_at=None).acount() == 1
    turn = await session.turns.aget()
    assert turn.stop_requested_at is None
