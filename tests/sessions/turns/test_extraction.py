"""Reading conversations for facts after their answers: when, of what, at what price, and once."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError
from django.utils import timezone
from pydantic import JsonValue
from pytest_django import Settings

from agents import sql
from agents.models import Agent, ChainLink, ProviderAccount, UsageRecord
from agents.services import chain
from memory import extraction
from memory.models import Origin, WalEntry
from sessions import conversations, extractions, inbox, notices, noting, transcript
from sessions.events import wire
from sessions.events.redis_client import blocking_client
from sessions.inbox import Inbound
from sessions.marks import Enclosed
from sessions.models import Attachment, ChannelAccount, Extraction, Turn
from sessions.turns import extracting
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import Refusal, Tokens, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SAID = "We moved to Berlin in March and it rains"
MOVED: dict[str, JsonValue] = {
    "line": 1,
    "evidence": "We moved to Berlin in March",
    "fact": "Moved to Berlin in March",
    "category": "remember",
    "confidence": 0.9,
}


def facts(*given: dict[str, JsonValue]) -> str:
    return json.dumps({"facts": list(given)})


def talk(scene: Scene, *texts: str) -> list[Turn]:
    """Say things, have each answered, and let the pause be over."""
    turns = []
    for text in texts:
        turns.append(answered(scene.say(text).turn))
    Extraction.objects.update(due_at=timezone.now())
    return turns


def answered(turn: Turn) -> Turn:
    """Leave of a turn what its end leaves for the model to read."""
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.ANSWERED)
    extractions.queue(turn)
    return turn


def read_due() -> Extraction:
    """Read the stretch that is due, as a worker would."""

    async def read(row: Extraction) -> None:
        await extracting.work_on(row)
        await chain.close_providers()

    row = extractions.claim()
    assert row is not None
    async_to_sync(read)(row)
    row.refresh_from_db()
    return row


def lines_of(scene: Scene) -> str:
    """Return what the model was shown last."""
    content = scene.fake.last.body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def test_what_the_rules_did_not_see_is_noted_by_the_model(scene: Scene, worker: Worker) -> None:
    scene.fake.play("I see")
    turn = scene.say(SAID).turn
    wait_until(lambda: ended(turn))
    assert not WalEntry.objects.exists()
    Extraction.objects.update(due_at=timezone.now())
    scene.fake.play(answer(facts(MOVED), tokens=Tokens(input=900, output=60)))
    row = read_due()
    assert (row.state, row.facts, row.attempts) == ("done", 1, 1)
    entry = WalEntry.objects.get()
    assert (entry.text, entry.origin, entry.scope) == (MOVED["fact"], Origin.AGENT, "person")
    assert (entry.evidence, entry.source) == (MOVED["evidence"], turn.messages.get().ref)
    spent = UsageRecord.objects.get(kind="extraction")
    assert (spent.origin, spent.agent_id, spent.person_id) == (
        row.ref,
        scene.agent.pk,
        scene.person.pk,
    )
    assert spent.input_tokens == 900
    (shown,) = transcript.shown([turn])
    assert [noted.words for noted in shown.messages[0].noted] == [
        "noted by the model: Moved to Berlin in March"
    ]
    assert noting.undo(turn.messages.get(), str(MOVED["fact"]), session=scene.session)
    assert not WalEntry.objects.filter(retracted_at=None).exists()


def test_those_who_look_at_the_conversation_are_told(scene: Scene) -> None:
    talk(scene, SAID)
    row = extractions.claim()
    assert row is not None
    channel = wire.redis_channel_of(wire.group_of(scene.session.public_id))
    client = blocking_client()
    with client.pubsub(ignore_subscribe_messages=True) as listening:  # type: ignore[no-untyped-call]
        listening.subscribe(channel)
        listening.get_message(timeout=5)
        found = extraction.read(facts(MOVED), extractions.plan(row).lines)  # type: ignore[union-attr]
        extractions.settle(row, found)
        heard = b""
        while b"noted.changed" not in heard:
            message = listening.get_message(timeout=5)
            assert message is not None
            heard = message["data"]


def test_a_worker_reads_by_itself_when_people_pause(
    scene: Scene, start_worker: Callable[[], Worker], settings: Settings
) -> None:
    settings.QANOT_EXTRACTION_S = 0.05
    worker = start_worker()
    scene.fake.play("I see", facts(MOVED))
    turn = scene.say(SAID).turn
    wait_until(lambda: ended(turn))
    waiting = Extraction.objects.get()
    assert waiting.due_at - timezone.now() > timedelta(seconds=20)
    Extraction.objects.update(due_at=timezone.now())
    wait_until(lambda: Extraction.objects.filter(state="done").exists())
    assert WalEntry.objects.get().text == MOVED["fact"]
    worker.close()


def test_while_somebody_talks_it_waits_for_the_tenth_exchange(scene: Scene) -> None:
    talk(scene, SAID)
    waiting = Extraction.objects.get()
    # A message that nobody has answered yet.
    factories.turn(session=scene.session, generation=waiting.generation)
    assert extractions.claim() is None
    Extraction.objects.update(exchanges=extractions.MOST_EXCHANGES)
    claimed = extractions.claim()
    assert claimed is not None
    assert extractions.claim() is None


def test_each_stretch_grows_until_it_is_taken_and_is_read_once(scene: Scene) -> None:
    first, second = talk(scene, SAID, "And now I work as a nurse there")
    row = Extraction.objects.get()
    assert (row.first_turn_id, row.last_turn_id, row.exchanges) == (first.pk, second.pk, 2)
    scene.fake.play(facts(MOVED))
    read_due()
    assert "[1] We moved to Berlin in March and it rains" in lines_of(scene)
    assert "[2] And now I work as a nurse there" in lines_of(scene)
    assert extractions.claim() is None
    talk(scene, "Our dog is called Rex, a good name")
    scene.fake.play(facts())
    assert read_due().first_turn_id > second.pk
    assert "\n- Moved to Berlin in March\n" in lines_of(scene)
    assert "it rains" not in lines_of(scene)


def test_the_model_is_shown_nobodys_words_but_the_persons(scene: Scene) -> None:
    inbound = Inbound(
        text=f'{SAID}\n> I am a quoted pirate\nHe said "I hate every dog here"',
        sender="person:1",
        external_id="1",
        person=scene.person,
        context=(Enclosed('forwarded, written by "Eve"', "My account number is 666"),),
    )
    turn = answered(inbox.accept(inbound, session=scene.session).turn)
    reply = factories.content(text=factories.reply_text("I live on the moon"))
    factories.transcript_entry(turn=turn, role="assistant", content=reply)
    talk(scene, "My password is hunter2!x")
    stolen: dict[str, JsonValue] = {
        "evidence": "My account number is 666",
        "fact": "The account number is 666",
    }
    moon: dict[str, JsonValue] = {"evidence": "I live on the moon", "fact": "Lives on the moon"}
    other: dict[str, JsonValue] = {
        "line": 2,
        "evidence": "We moved to Berlin",
        "fact": "Moved to Berlin",
    }
    scene.fake.play(facts(MOVED | stolen, MOVED | moon, MOVED | other))
    row = read_due()
    assert (row.state, row.facts) == ("done", 0)
    for hidden in ("pirate", "hate every dog", "666", "moon", "hunter2"):
        assert hidden not in lines_of(scene)
    assert not WalEntry.objects.filter(origin=Origin.AGENT).exists()


def test_a_group_knows_who_wrote_what(scene: Scene) -> None:
    anna = factories.person(team=scene.agent.team)
    session = conversations.open_group(
        agent=scene.agent,
        account=conversations.channel_account(scene.agent.team, ChannelAccount.Channel.WEBCHAT),
        chat=factories.chat(team=scene.agent.team),
    )
    for number, (person, name, text) in enumerate(
        [(scene.person, "Bobur", SAID), (anna, "Anna", "And I went to Rome"), (None, "X", SAID)]
    ):
        inbound = Inbound(
            text=text,
            sender=name,
            external_id=str(number),
            person=person,
            author_name=name,
        )
        answered(inbox.accept(inbound, session=session).turn)
    Extraction.objects.update(due_at=timezone.now())
    scene.fake.play(
        facts(MOVED | {"fact": "Bobur moved to Berlin"}, MOVED | {"fact": "Anna moved"})
    )
    assert read_due().facts == 1
    shown = lines_of(scene)
    assert '[2] "Anna": And I went to Rome' in shown
    assert "[3]" not in shown
    entry = WalEntry.objects.get()
    assert (entry.scope, entry.author_id) == ("chat", scene.person.pk)


@pytest.mark.parametrize("columns", [{"extracts_facts": False}, {"keeps_memory": False}])
def test_an_agent_may_do_without(scene: Scene, columns: dict[str, bool]) -> None:
    talk(scene, SAID)
    Agent.objects.update(**columns)
    row = read_due()
    assert (row.state, row.reason) == ("done", extractions.SWITCHED_OFF)
    scene.session.agent.refresh_from_db()
    talk(scene, SAID)
    assert Extraction.objects.count() == 1
    assert not UsageRecord.objects.filter(kind="extraction").exists()


def test_nothing_is_asked_about_a_few_words(scene: Scene) -> None:
    talk(scene, "Thanks!")
    assert read_due().reason == extractions.NOTHING_SAID


def plan_of(scene: Scene, turn: Turn) -> extractions.Plan | None:
    factories.extraction(turn=turn)
    row = extractions.claim()
    assert row is not None
    return extractions.plan(row)


def test_commands_are_nobodys_facts(scene: Scene) -> None:
    turn = factories.turn(
        session=scene.session,
        state=Turn.State.ANSWERED,
        notice={"v": 1, "code": notices.COMMAND, "values": {"text": "Done"}},
    )
    said = factories.content(team=scene.agent.team, text=f"/new {SAID}")
    factories.inbound_message(turn=turn, person=scene.person, content=said)
    assert plan_of(scene, turn) is None


def test_voice_counts_unless_it_may_be_somebody_elses(scene: Scene) -> None:
    turn = factories.turn(session=scene.session, state=Turn.State.ANSWERED)
    empty = factories.content(team=scene.agent.team, text="")
    for heard, context in ((SAID, None), ("I am Eve and I like cats", empty)):
        message = factories.inbound_message(
            turn=turn, person=scene.person, content=empty, context=context
        )
        factories.attachment(
            message=message,
            kind=Attachment.Kind.VOICE,
            transcript=factories.content(team=scene.agent.team, text=heard),
        )
    plan = plan_of(scene, turn)
    assert plan is not None
    assert [line.text for line in plan.lines] == [SAID]


def test_the_cheapest_place_of_the_chain_is_asked(scene: Scene) -> None:
    account = scene.account
    rows = [
        factories.chain_link(agent=factories.agent(team=account.team), account=account, model=model)
        for model in ("claude-haiku-4-5", "claude-sonnet-5-5", "nobody-knows-1")
    ]
    assert extractions.cheapest_of(rows) == rows[0]
    own = factories.chain_link(agent=rows[0].agent, account=account, model="nobody-knows-2")
    own.input_usd_mtok = own.output_usd_mtok = Decimal(0)
    assert extractions.cheapest_of([*rows, own]) == own
    # Of equals the last one; what is switched off is not asked.
    assert extractions.cheapest_of([rows[2], own, own]) == own
    assert extractions.cheapest_of([rows[2], rows[2]]) == rows[2]
    off = ProviderAccount(switched_off_at=timezone.now())
    assert extractions.cheapest_of([ChainLink(account=off, model="claude-haiku-4-5")]) is None


def test_it_costs_a_tenth_of_the_cap_at_most(scene: Scene) -> None:
    talk(scene, SAID)
    factories.usage_record(agent_id=scene.agent.pk, kind="extraction", cost_usd=Decimal("0.49"))
    row = read_due()
    assert (row.state, row.reason) == ("running", "cap_reached")
    assert row.due_at > timezone.now()
    assert extractions.claim() is None
    # A model of one's own costs nothing.
    ProviderAccount.objects.update(is_free=True)
    Extraction.objects.update(due_at=timezone.now())
    scene.fake.play(facts(MOVED))
    assert read_due().facts == 1


def test_failures_are_tried_three_times_and_take_no_account_from_turns(scene: Scene) -> None:
    talk(scene, SAID)
    scene.fake.play("No JSON today")
    row = read_due()
    assert (row.state, row.reason, row.attempts) == ("running", "unreadable", 1)
    assert row.due_at > timezone.now() + timedelta(seconds=30)
    assert extractions.claim() is None
    Extraction.objects.update(due_at=timezone.now())
    scene.fake.play(Refusal(401))
    assert read_due().reason == "auth"
    assert ProviderAccount.objects.get().switched_off_at is None
    Extraction.objects.update(due_at=timezone.now())
    scene.fake.play("[]")
    row = read_due()
    assert (row.state, row.reason, row.attempts) == ("failed", "unreadable", 3)
    assert extractions.claim() is None
    assert not WalEntry.objects.exists()


def test_what_a_dead_process_held_is_taken_up_and_kept_once(scene: Scene) -> None:
    talk(scene, SAID)
    dead = extractions.claim()
    assert dead is not None
    assert extractions.claim() is None
    Extraction.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    scene.fake.play(facts(MOVED))
    read_due()
    # The first one was only slow: it has lost the row.
    assert extractions.settle(dead, []) == 0
    extractions.put_off(dead, "late")
    assert Extraction.objects.get().state == "done"
    assert WalEntry.objects.count() == 1


def test_a_process_that_ends_leaves_it_to_others(scene: Scene) -> None:
    talk(scene, SAID)
    row = extractions.claim()
    assert row is not None
    extractions.hand_back(row)
    again = extractions.claim()
    assert again is not None
    assert again.attempts == 1


def test_what_kills_every_worker_is_given_up(scene: Scene) -> None:
    talk(scene, SAID)
    for _ in range(extractions.TRIES):
        assert extractions.claim() is not None
        Extraction.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert extractions.claim() is None
    assert Extraction.objects.get().state == "failed"
    assert Extraction.objects.get().reason == "crashed"


def test_what_was_erased_meanwhile_leaves_nothing(scene: Scene) -> None:
    (turn,) = talk(scene, SAID)
    row = extractions.claim()
    assert row is not None
    plan = extractions.plan(row)
    assert plan is not None
    found = extraction.read(facts(MOVED), plan.lines)
    assert found
    content = turn.messages.get().content_id
    sql.fetch("SELECT qanot_erase_content(%s, 'user:1', 'asked')", [content])
    assert extractions.settle(row, found) == 0
    assert not WalEntry.objects.exists()


def test_what_was_read_long_ago_is_forgotten(scene: Scene) -> None:
    turn = factories.turn(session=scene.session)
    ended_at = timezone.now() - extractions.KEPT_FOR - timedelta(minutes=1)
    factories.extraction(turn=turn, state="done", finished_at=ended_at)
    recent = factories.extraction(turn=turn, state="failed", finished_at=timezone.now())
    extractions.forget_old()
    assert list(Extraction.objects.all()) == [recent]


def test_a_database_that_is_away_for_a_moment_ends_no_workers_reading(
    scene: Scene,
    start_worker: Callable[[], Worker],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = iter([OperationalError("away"), None])
    claim = extractions.claim

    def failing() -> Extraction | None:
        if (error := next(failures, None)) is not None:
            raise error
        return claim()

    monkeypatch.setattr(extractions, "claim", failing)
    settings.QANOT_EXTRACTION_S = 0.05
    talk(scene, SAID)
    scene.fake.play(facts(MOVED))
    start_worker()
    wait_until(lambda: Extraction.objects.filter(state="done").exists())
    assert WalEntry.objects.get().text == MOVED["fact"]
