"""The first conversation follows BOOTSTRAP.md, from the first message to the archived document."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import (
    AgentDocument,
    BootstrapRitual,
    ChainLink,
    DocumentProposal,
)
from agents.services import ritual, setup
from sessions.models import ChatSession, Turn, TurnFreeze
from sessions.turns import freeze, leases
from sessions.turns.worker import Worker
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.script import CallTool, Say, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "Greet them, and ask their name."


@pytest.fixture
def first(scene: Scene) -> Scene:
    """A scene whose agent has not had its first conversation."""
    AgentDocument.objects.update_or_create(
        agent=scene.agent, name="BOOTSTRAP.md", defaults={"text": TEXT}
    )
    return scene


def said(scene: Scene, text: str, *, session: ChatSession | None = None) -> Turn:
    """Say something and wait for the end of its turn."""
    turn = scene.say(text, session=session).turn
    wait_until(partial(ended, turn))
    return turn


def is_shown(fake: FakeAnthropic) -> bool:
    """Return whether the last request's prompt has the ritual."""
    return TEXT in str(fake.last.body["system"])


def tools_of(fake: FakeAnthropic) -> set[str]:
    return {tool["name"] for tool in fake.last.body["tools"]}


def document(scene: Scene) -> AgentDocument:
    return AgentDocument.objects.get(agent=scene.agent, name="BOOTSTRAP.md")


def test_first_conversation_leads_to_user_md_a_proposal_and_an_archived_document(
    first: Scene, worker: Worker
) -> None:
    first.agent.tool_grants.filter(tool__in=ritual.TOOLS).delete()
    first.fake.play(
        "What is your name?",
        answer(
            CallTool("update_user_document", {"text": "# Bobur\n\nShort answers."}),
            CallTool(
                "propose_document",
                {"name": "IDENTITY.md", "text": "Name: Bee", "reason": "Bobur said so."},
            ),
            CallTool("finish_bootstrap", {}),
        ),
        "Thank you, Bobur.",
        "Of course.",
    )
    said(first, "Hello")
    assert is_shown(first.fake)
    assert set(ritual.TOOLS) < tools_of(first.fake)
    said(first, "I am Bobur")
    user = AgentDocument.objects.get(agent=first.agent, name="USER.md")
    assert (user.person_id, user.text) == (first.person.pk, "# Bobur\n\nShort answers.")
    assert DocumentProposal.objects.get(agent=first.agent).text == "Name: Bee"
    assert AgentDocument.objects.get(agent=first.agent, name="IDENTITY.md").text != "Name: Bee"
    assert document(first).archived_at is not None

    turn = said(first, "Can you help me?")
    assert not is_shown(first.fake)
    assert "Short answers." in str(first.fake.last.body["system"])
    assert not tools_of(first.fake) & set(ritual.TOOLS)
    assert turn.manifest is not None
    assert "BOOTSTRAP.md" not in [part["part"] for part in turn.manifest["parts"]]


def test_other_conversations_go_on_as_if_there_were_none(first: Scene, worker: Worker) -> None:
    first.agent.tool_grants.filter(tool__in=ritual.TOOLS).delete()
    first.fake.rule = lambda request: answer("Hello")
    said(first, "Hello")
    said(first, "Hello", session=first.conversation("second"))
    assert not is_shown(first.fake)
    assert not tools_of(first.fake) & set(ritual.TOOLS)
    said(first, "Hello again")
    assert is_shown(first.fake)
    assert BootstrapRitual.objects.get(agent=first.agent).turns == 2


def test_turn_that_is_tried_again_counts_once_and_keeps_prompt_and_tools(
    first: Scene, start_worker: Callable[[], Worker]
) -> None:
    first.fake.play(answer(Say("a" * 50, chunks=50, interval_s=0.1)), "Whole answer")
    worker = start_worker()
    turn = first.say("Hello").turn
    wait_until(lambda: bool(first.fake.requests) and first.fake.last.first_sent_at_ns is not None)
    worker.close()
    assert TurnFreeze.objects.filter(turn=turn).exists()
    start_worker()
    wait_until(lambda: ended(turn))
    assert turn.attempt == 2
    assert is_shown(first.fake)
    assert set(ritual.TOOLS) < tools_of(first.fake)
    assert BootstrapRitual.objects.get(agent=first.agent).turns == 1


@pytest.mark.parametrize("why", ["no model", "no tools"])
def test_ritual_waits_for_a_model_that_can_follow_it(
    first: Scene, worker: Worker, why: str
) -> None:
    if why == "no model":
        ChainLink.objects.all().delete()
    else:
        ChainLink.objects.update(supports_tools=False)
        first.fake.play("Hello")
    said(first, "Hello")
    assert not BootstrapRitual.objects.exists()
    assert document(first).archived_at is None


def test_agent_whose_first_conversation_is_over_pays_no_statement_for_it(scene: Scene) -> None:
    AgentDocument.objects.filter(name="BOOTSTRAP.md").update(archived_at=timezone.now())
    turn = scene.say("Hello").turn
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        claimed = leases.claim(turn.session_id, worker_id=1)
        assert claimed is not None
        prepared = freeze.prepare(claimed)
    assert prepared.tool_names == tuple(sorted(setup.FIRST_TOOLS))
    assert not [q["sql"] for q in captured.captured_queries if "bootstrapritual" in q["sql"]]


def test_first_agent_may_write_about_its_people_after_the_ritual(scene: Scene) -> None:
    grants = set(scene.agent.tool_grants.values_list("tool", flat=True))
    assert {"update_user_document", "propose_document"} <= grants
    assert "finish_bootstrap" not in grants
    assert grants == set(setup.FIRST_TOOLS)
