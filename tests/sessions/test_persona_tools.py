"""What a model may write about a person and about itself, and for whom."""

from dataclasses import replace

import pytest

from agents.core.tooling import Tool, ToolContext
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.models import AgentDocument, DocumentProposal
from agents.services import ritual
from agents.tools import registry
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def anna() -> Viewer:
    """A person who talks with an agent alone."""
    person = factories.person()
    agent = factories.agent(team=person.team)
    return Viewer(person.team_id, agent.pk, person.pk, is_private=True)


def tool(name: str) -> Tool:
    found = registry.get(name)
    assert found is not None
    return found


async def call(
    tool_name: str, viewer: Viewer, /, *, turn: str = "turn:81", **arguments: str
) -> str:
    context = ToolContext(
        viewer=viewer,
        agent=f"agent:{viewer.agent_id}",
        session="session:12",
        turn=turn,
        call_id="call_1",
        time_zone="UTC",
        timeout_s=30,
    )
    return await tool(tool_name).run(tool(tool_name).arguments.model_validate(arguments), context)


async def test_user_document_is_the_persons_own_and_each_text_a_version(anna: Viewer) -> None:
    assert await call("update_user_document", anna, text="# Anna") == "USER.md is written."
    await call("update_user_document", anna, turn="turn:82", text="# Anna\n\nLikes it short.")
    again = await call("update_user_document", anna, text="# Anna\n\nLikes it short.")
    assert again == "USER.md said exactly this already."
    document = await AgentDocument.objects.aget(name="USER.md")
    assert (document.agent_id, document.person_id) == (anna.agent_id, anna.person_id)
    versions = [version async for version in document.versions.order_by("number")]
    assert [version.text for version in versions] == ["# Anna", "# Anna\n\nLikes it short."]
    assert "turn:82" in versions[1].reason


async def test_secrets_are_masked_in_what_a_model_writes(anna: Viewer) -> None:
    told = "Her password is hunter2secret"
    await call("update_user_document", anna, text=told)
    await call("propose_document", anna, name="IDENTITY.md", text=told, reason=told)
    assert "hunter2secret" not in (await AgentDocument.objects.aget(name="USER.md")).text
    proposal = await DocumentProposal.objects.aget()
    assert "hunter2secret" not in proposal.text + proposal.reason


async def test_text_that_postgresql_does_not_hold_is_cleaned(anna: Viewer) -> None:
    await call("update_user_document", anna, text="a\x00b")
    assert (await AgentDocument.objects.aget(name="USER.md")).text == "ab"


@pytest.mark.parametrize("who", ["in a group", "unknown", "not alone"])
async def test_nobody_elses_user_document_can_be_written(anna: Viewer, who: str) -> None:
    viewer = {
        "in a group": replace(anna, chat_id=7, is_private=False),
        "unknown": replace(anna, person_id=None),
        "not alone": replace(anna, is_private=False),
    }[who]
    answer = await call("update_user_document", viewer, text="# Somebody")
    assert answer.startswith("Not written")
    assert not await AgentDocument.objects.aexists()


async def test_case_memory_poisoning_3_a_proposal_changes_nothing_until_somebody_accepts(
    anna: Viewer,
) -> None:
    answer = await call(
        "propose_document", anna, name="IDENTITY.md", text="Name: Bee", reason="Anna said so."
    )
    assert answer.startswith("Proposed.")
    assert not await AgentDocument.objects.aexists()
    proposal = await DocumentProposal.objects.aget()
    assert (proposal.agent_id, proposal.person_id) == (anna.agent_id, anna.person_id)
    assert (proposal.name, proposal.text, proposal.source) == (
        "IDENTITY.md",
        "Name: Bee",
        "turn:81",
    )


@pytest.mark.parametrize("name", ["USER.md", "secrets.txt"])
async def test_document_that_cannot_be_proposed_is_refused_with_words(
    anna: Viewer, name: str
) -> None:
    answer = await call("propose_document", anna, name=name, text="x", reason="y")
    assert answer.startswith("Not proposed: ")
    assert not await DocumentProposal.objects.aexists()


async def test_first_conversation_is_finished_by_its_own_session_only(anna: Viewer) -> None:
    document = await AgentDocument.objects.acreate(
        agent_id=anna.agent_id, name="BOOTSTRAP.md", text="Ask."
    )
    assert await call("finish_bootstrap", anna) == "There is no first conversation to finish here."
    assert await in_db(
        ritual.follow, anna.agent_id, session="session:12", person_id=anna.person_id or 0, now=NOON
    )
    assert "is over" in await call("finish_bootstrap", anna)
    await document.arefresh_from_db()
    assert document.archived_at is not None


def test_all_three_may_be_repeated_after_a_crash() -> None:
    assert all(tool(name).safe_to_repeat for name in ritual.TOOLS)
