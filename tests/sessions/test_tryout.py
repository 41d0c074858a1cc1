"""One question, two answers: real calls through the chain, and nothing else than ledger rows."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse
from django.utils import timezone

from agents.models import ChainLink, Person, ProviderAccount, UsageRecord, User
from agents.services import chain, documents
from memory.models import WalEntry
from sessions import tryout
from sessions.models import ChatSession, InboundMessage, Turn
from sessions.tryout import Answered, Event, Failed, Plan, Restarted, Text
from tests import factories
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Refusal, Reset, Say, Silence, Tokens, answer
from tests.fakes.server import FakeServer
from tests.qanot_site.admin_scene import build_side

pytestmark = pytest.mark.django_db(transaction=True)

LIVE = "You speak like a pirate."
DRAFT = "You speak like a poet."


@pytest.fixture(autouse=True)
async def _close() -> AsyncIterator[None]:
    yield
    await tryout.settled()
    await chain.close_providers()


@pytest.fixture
def person() -> Person:
    """An owner whose agent has a soul and no model yet."""
    person = factories.member()
    agent = factories.agent(team=person.team)
    soul = factories.agent_document(agent=agent)
    documents.save(soul, text=LIVE, author=None, reason="")
    return person


@pytest.fixture(params=[FakeAnthropic, FakeOpenAI])
def fake(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    with request.param() as server:
        yield server
        server.assert_done()


@pytest.fixture
def account(
    person: Person, fake: FakeServer, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> ProviderAccount:
    monkeypatch.setenv("FAKE_KEY", "sk-fake")
    settings.QANOT_RETRY_BASE_S = 0.01
    kinds = ProviderAccount.Kind
    made = factories.provider_account(
        team=person.team,
        kind=kinds.ANTHROPIC if isinstance(fake, FakeAnthropic) else kinds.OPENAI,
        base_url=fake.base_url,
        may_reach_private=True,
    )
    factories.chain_link(agent=person.team.agents.get(), account=made, model="claude-sonnet-5-5")
    return made


def planned(person: Person, *, draft: str = DRAFT, name: str = "SOUL.md") -> Plan | None:
    return tryout.plan(
        agent=person.team.agents.get(),
        person=person,
        name=name,
        draft=draft,
        question="What do you see?",
        ref="tryout:1",
    )


async def run(person: Person, **given: float) -> list[Event]:
    plan = await sync_to_async(planned)(person)
    assert plan is not None
    return [event async for event in tryout.run(plan, **given)]


async def rows() -> list[UsageRecord]:
    return [row async for row in UsageRecord.objects.order_by("id")]


def systems(fake: FakeServer) -> list[str]:
    return [json.dumps(request.body) for request in fake.requests]


@pytest.mark.usefixtures("account")
async def test_both_answer_and_nothing_is_left_but_the_ledger(
    person: Person, fake: FakeServer
) -> None:
    for _side in tryout.SIDES:
        fake.play(answer("The ", "sea.", tokens=Tokens(input=100, output=7)))
    events = await run(person)
    for side in tryout.SIDES:
        texts = [event.text for event in events if isinstance(event, Text) and event.side == side]
        assert "".join(texts) == "The sea."
    done = [event for event in events if isinstance(event, Answered)]
    assert {event.side for event in done} == set(tryout.SIDES)
    assert [(event.input_tokens, event.output_tokens) for event in done] == [(100, 7)] * 2
    drafts = [DRAFT in system for system in systems(fake)]
    lives = [LIVE in system for system in systems(fake)]
    assert sorted(drafts) == sorted(lives) == [False, True]
    assert drafts != lives
    assert not any("tools" in request.body for request in fake.requests)
    for row in await rows():
        assert (row.kind, row.origin, row.person_id) == ("tryout", "tryout:1", person.pk)
        assert (row.agent_id, row.channel) == ((await person.team.agents.aget()).pk, "admin")
        assert row.cost_usd == done[0].cost_usd
    assert len(await rows()) == 2
    for model in (ChatSession, Turn, InboundMessage, WalEntry):
        assert not await model.objects.aexists()


@pytest.mark.usefixtures("account")
async def test_what_broke_after_costing_is_in_the_ledger(person: Person, fake: FakeServer) -> None:
    for _side in tryout.SIDES:
        # Neither asks again before the other has asked.
        fake.play(answer("The", Silence(1.5), Reset()))
    for _side in tryout.SIDES:
        fake.play(answer("The sea.", tokens=Tokens(input=100, output=7)))
    events = await run(person)
    assert sum(isinstance(event, Restarted) for event in events) == 2
    assert sum(isinstance(event, Answered) for event in events) == 2
    assert sorted(row.was_broken for row in await rows()) == [False, False, True, True]


async def test_a_refused_account_is_switched_off_like_in_a_turn(
    person: Person, fake: FakeServer, account: ProviderAccount
) -> None:
    for _side in tryout.SIDES:
        fake.play(Refusal(status=401))
    events = await run(person)
    assert [event.code for event in events if isinstance(event, Failed)] == ["auth", "auth"]
    await account.arefresh_from_db()
    assert account.switched_off_at is not None
    assert await rows() == []
    assert {event.code for event in await run(person) if isinstance(event, Failed)} == {
        "no_provider"
    }


@pytest.mark.usefixtures("account", "fake")
async def test_the_daily_cap_holds_here_too(person: Person) -> None:
    agent = await person.team.agents.aget()
    await sync_to_async(factories.usage_record)(agent_id=agent.pk, cost_usd=Decimal(5))
    events = await run(person)
    assert [event.code for event in events if isinstance(event, Failed)] == ["cap_reached"] * 2
    assert len(await rows()) == 1


@pytest.mark.usefixtures("account")
async def test_a_try_out_has_a_time_of_its_own(person: Person, fake: FakeServer) -> None:
    for _side in tryout.SIDES:
        fake.play(answer("The", Silence(60)))
    events = await run(person, longest_s=0.3)
    assert [event.code for event in events if isinstance(event, Failed)] == ["timeout"] * 2
    assert [row.was_broken for row in await rows()] == [True, True]


@pytest.mark.usefixtures("account")
async def test_who_leaves_stops_both_and_pays_what_was_spent(
    person: Person, fake: FakeServer
) -> None:
    for _side in tryout.SIDES:
        fake.play(answer("The", Silence(60)))
    plan = await sync_to_async(planned)(person)
    assert plan is not None
    events = tryout.run(plan)
    heard: set[str] = set()
    async for event in events:
        heard.add(event.side)
        if heard == set(tryout.SIDES):
            break
    await events.aclose()
    async with asyncio.timeout(20):
        await tryout.settled()
    assert [row.was_broken for row in await rows()] == [True, True]


async def test_without_a_model_there_is_nothing_to_ask(person: Person) -> None:
    assert await sync_to_async(planned)(person) is None


# The page.


async def ask(client: AsyncClient, agent_id: int, **values: str) -> Any:
    path = reverse("admin:agents_agent_tryout", args=[agent_id])
    return await client.post(path, {"document": "SOUL.md", "text": DRAFT, **values})


@pytest.fixture
def side() -> Any:
    return build_side("ours")


async def test_the_page_streams_both_answers(
    side: Any, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_KEY", "sk-fake")
    kinds = ProviderAccount.Kind
    link = await ChainLink.objects.select_related("agent").aget()
    await ProviderAccount.objects.filter(pk=link.account_id).aupdate(
        base_url=fake.base_url,
        may_reach_private=True,
        key_reference="env:FAKE_KEY",
        kind=kinds.ANTHROPIC if isinstance(fake, FakeAnthropic) else kinds.OPENAI,
        updated_at=timezone.now(),
    )
    for _side in tryout.SIDES:
        fake.play(answer(Say("Salom."), tokens=Tokens(input=100, output=7)))
    client = AsyncClient()
    await client.aforce_login(side.users["editor"])
    response = await ask(client, link.agent_id, question="Salom")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(part) async for part in response.streaming_content]
    said = {line["side"]: line["said"] for line in lines if line["type"] == "answered"}
    assert set(said) == {"draft", "live"}
    assert "100 tokens in, 7 out · price unknown" in said["draft"]
    assert sum(line["type"] == "text" for line in lines) >= 2


@pytest.mark.parametrize("question", ["", "  ", "x" * 8_001])
async def test_a_question_is_needed(question: str, side: Any) -> None:
    client = AsyncClient()
    await client.aforce_login(side.users["editor"])
    agent = (await ChainLink.objects.aget()).agent_id
    response = await ask(client, agent, question=question)
    assert response.status_code == 400
    assert "8000" in response.json()["said"]


async def test_the_page_says_that_a_model_is_missing(person: Person) -> None:
    await person.team.memberships.aupdate(role="editor")
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget(people=person))
    agent = await person.team.agents.aget()
    response = await ask(client, agent.pk, question="Hello")
    assert response.status_code == 400
    assert "no model yet" in response.json()["said"]
    document = await agent.documents.aget()
    page = await client.get(reverse("admin:agents_agentdocument_change", args=[document.pk]))
    assert reverse("admin:agents_provideraccount_connect") in page.content.decode()
