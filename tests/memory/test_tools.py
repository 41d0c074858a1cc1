"""What a model gets from the memory tools."""

import json

import pytest
from pydantic import ValidationError

from agents.core.tooling import Tool, ToolContext
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.tools import registry
from memory.index import postings
from memory.models import MemoryDocument, Origin, WalEntry

from .conftest import make_scene

pytestmark = pytest.mark.django_db(transaction=True)


def context(viewer: Viewer, call: str = "call_1") -> ToolContext:
    return ToolContext(
        viewer=viewer,
        agent=f"agent:{viewer.agent_id}",
        session="session:12",
        turn="turn:81",
        call_id=call,
        time_zone="UTC",
        timeout_s=30,
    )


def tool(name: str) -> Tool:
    found = registry.get(name)
    assert found is not None
    return found


async def call(name: str, where: ToolContext, **arguments: str) -> str:
    parsed = tool(name).arguments.model_validate(arguments)
    return await tool(name).run(parsed, where)


@pytest.fixture
def anna() -> Viewer:
    return make_scene().anna


async def test_fact_is_remembered_and_found(anna: Viewer) -> None:
    assert await call("remember_fact", context(anna), fact="Anna plays chess") == "Remembered."
    await in_db(postings.index_waiting)
    found = json.loads(await call("memory_search", context(anna), query="chess"))
    (hit,) = found
    assert (hit["file"], hit["line"]) == ("MEMORY.md", 3)
    assert "Anna plays chess" in hit["content"]
    assert {"id", "score", "why", "source", "at", "kind"} <= set(hit)
    entry = await WalEntry.objects.aget()
    assert (entry.category, entry.origin, entry.source) == (
        "remember",
        Origin.AGENT,
        "turn:81 call_1",
    )


async def test_same_call_writes_once(anna: Viewer) -> None:
    await call("remember_fact", context(anna), fact="Anna plays chess")
    await call("remember_fact", context(anna), fact="Anna plays chess")
    assert await WalEntry.objects.acount() == 1


async def test_known_fact_is_said_to_be_known(anna: Viewer) -> None:
    await call("remember_fact", context(anna), fact="Anna plays chess")
    answer = await call("remember_fact", context(anna, "call_2"), fact="anna plays CHESS")
    assert answer == "It was remembered before; nothing was added."
    document = await MemoryDocument.objects.aget()
    assert document.text.lower().count("chess") == 1


async def test_secret_is_masked(anna: Viewer) -> None:
    await call("remember_fact", context(anna), fact="Anna's password is hunter2secret")
    assert "hunter2secret" not in (await WalEntry.objects.aget()).text
    assert "hunter2secret" not in (await MemoryDocument.objects.aget()).text


async def test_nobodys_fact_is_refused_with_words() -> None:
    answer = await call("remember_fact", context(Viewer(1, 1, is_private=True)), fact="A fact")
    assert answer.startswith("Not remembered")
    assert not await WalEntry.objects.aexists()


def test_only_the_search_may_be_repeated() -> None:
    assert tool("memory_search").safe_to_repeat
    assert tool("memory_search").may_run_in_parallel
    assert not tool("remember_fact").safe_to_repeat


def test_empty_fact_does_not_fit() -> None:
    with pytest.raises(ValidationError):
        tool("remember_fact").arguments.model_validate({"fact": "   "})
