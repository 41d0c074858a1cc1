"""A turn's steps: written by whoever holds the lease, and by nobody else."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.core.errors import LeaseLost, StreamBroken
from agents.core.messages import ToolCall, Usage
from agents.core.protocols import Charge
from agents.core.tooling import ToolOutcome
from agents.models import UsageRecord
from sessions.models import ChatSession, TurnStep
from sessions.turns import leases
from sessions.turns.finishing import Times
from sessions.turns.journal import DatabaseJournal
from tests.fakes.scripted import ScriptedProvider, reply
from tests.fakes.seams import link
from tests.sessions.conftest import Scene

pytestmark = pytest.mark.django_db(transaction=True)

CALL = ToolCall("call-1", "remember_fact", {"fact": "x"})
CHARGE = Charge(1, "account-1", "model-1", Usage(10, 0, 0, 5))

Write = Callable[[DatabaseJournal], Coroutine[object, object, None]]


def claim(scene: Scene) -> leases.Claimed:
    claimed = leases.claim(scene.session.pk, worker_id=99)
    assert claimed is not None
    return claimed


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda j: j.model_started(2, link(ScriptedProvider())), id="model_started"),
        pytest.param(lambda j: j.model_broken(1, CHARGE, StreamBroken("cut")), id="model_broken"),
        pytest.param(lambda j: j.model_finished(1, reply("late"), CHARGE), id="model_finished"),
        pytest.param(lambda j: j.tool_started(2, CALL), id="tool_started"),
        pytest.param(lambda j: j.tool_finished(1, CALL, ToolOutcome("late")), id="tool_finished"),
    ],
)
def test_worker_that_slept_past_its_lease_notes_no_step(scene: Scene, write: Write) -> None:
    scene.say("Hello")
    slept = DatabaseJournal(claim(scene), Times())
    asyncio.run(slept.model_started(1, link(ScriptedProvider())))
    before = TurnStep.objects.values().get()
    ChatSession.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    claim(scene)

    with pytest.raises(LeaseLost):
        asyncio.run(write(slept))

    assert TurnStep.objects.values().get() == before
    assert not UsageRecord.objects.exists()


def test_result_that_no_database_holds_is_cleaned(scene: Scene) -> None:
    scene.say("Hello")
    journal = DatabaseJournal(claim(scene), Times())
    asyncio.run(journal.tool_started(1, CALL))

    asyncio.run(journal.tool_finished(1, CALL, ToolOutcome("a\x00b \ud800c")))

    step = TurnStep.objects.select_related("content").get()
    assert step.content is not None
    assert step.content.text == "ab ?c"
