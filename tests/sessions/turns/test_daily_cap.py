"""The daily cap in a turn: the model is not asked, and the person is told why."""

from decimal import Decimal
from functools import partial

import pytest

from agents.models import Agent, ProviderAccount, UsageRecord
from sessions import notices
from sessions.models import Turn
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import Tokens, answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def said(scene: Scene, text: str) -> Turn:
    """Say something and wait for the end of its turn."""
    turn = scene.say(text).turn
    wait_until(partial(ended, turn))
    return turn


def test_fresh_agents_turn_ends_where_its_five_dollars_do(scene: Scene, worker: Worker) -> None:
    # Six dollars, at this model's list price.
    scene.fake.play(answer("Hello", tokens=Tokens(input=1_000_000, output=400_000)))
    assert said(scene, "Hello").state == Turn.State.ANSWERED
    turn = said(scene, "And now?")
    assert turn.state == Turn.State.FAILED
    assert "spending cap of $5.00 for today" in notices.text_of(turn.notice)
    assert len(scene.fake.requests) == 1


def test_free_model_answers_whatever_others_have_cost(scene: Scene, worker: Worker) -> None:
    factories.usage_record(agent_id=scene.agent.pk, cost_usd=Decimal(100))
    ProviderAccount.objects.update(is_free=True)
    scene.fake.play("Hello")
    assert said(scene, "Hello").state == Turn.State.ANSWERED
    assert UsageRecord.objects.get(kind="turn", model="claude-sonnet-5-5").cost_usd == 0


def test_without_a_cap_nothing_ends(scene: Scene, worker: Worker) -> None:
    factories.usage_record(agent_id=scene.agent.pk, cost_usd=Decimal(100))
    Agent.objects.update(daily_cap_usd=None)
    scene.fake.play("Hello")
    assert said(scene, "Hello").state == Turn.State.ANSWERED
