"""Running a session's turns: what ends with a turn, and what must not."""

import asyncio

import pytest
from pytest_django import Settings

from agents.db import in_db
from agents.services import chain
from sessions.courier import Courier
from sessions.events.hub import Hub
from sessions.events.redis_client import close_redis_client
from sessions.models import ChatSession, Turn
from sessions.turns.runner import Runner
from tests.fakes.script import Say, answer
from tests.sessions.conftest import Scene, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


async def test_loss_that_is_noticed_late_does_not_break_off_the_next_attempt(
    scene: Scene, settings: Settings
) -> None:
    settings.QANOT_LEASE_S = 30.0
    slow = Say("a" * 20, chunks=20, interval_s=0.05)
    scene.fake.play(answer(slow), answer(slow))
    turn = (await in_db(scene.say, "Hello")).turn
    hub = Hub()
    runner = Runner(hub, worker_id=99, courier=Courier(99))
    run = asyncio.create_task(runner.run_session(scene.session.pk))
    await asyncio.to_thread(wait_until, lambda: turn.pk in runner.running)
    first = runner.running[turn.pk]
    await in_db(ChatSession.objects.update, lease_token=None)
    # The reply's own write finds the lease gone, before a heartbeat does.
    await asyncio.to_thread(wait_until, lambda: runner.running.get(turn.pk) not in (None, first))
    first.lose()
    await run

    await in_db(turn.refresh_from_db)
    assert (turn.state, turn.attempt) == (Turn.State.ANSWERED, 2)
    await hub.aclose()
    await chain.close_providers()
    await close_redis_client()
