"""Stopping a turn: at once, whole, and in nobody's way afterwards."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.core.events import Done, ProviderEvent, TextDelta
from agents.core.protocols import ModelCall
from sessions.models import Content, InboundMessage, Turn
from sessions.turns import stopping
from sessions.turns.worker import Worker
from tests.fakes.script import Say, answer
from tests.fakes.scripted import reply
from tests.fakes.seams import Stubborn
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class StubbornAtFirst(Stubborn):
    """A provider that ignores being cancelled in its first call and answers the next ones.

    Args:
        may_go_on: Set when it has ignored that for long enough, however many seconds are left.
    """

    may_go_on: threading.Event = field(default_factory=threading.Event)

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent]:
        """Be stubborn once."""
        if not self.calls:
            async with aclosing(super().stream(call)) as events:
                async for event in events:
                    yield event
            return
        self.calls.append(call)
        yield TextDelta("Here I am")
        yield Done(reply("Here I am"))

    async def _ignore(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            end = time.monotonic() + self.ignores_s
            # Set from the test's thread, which cannot wake this one's loop.
            while not self.may_go_on.is_set() and time.monotonic() < end:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


def test_case_stop_1_the_lease_is_free_with_the_stop_and_the_next_message_answered_within_2_s(
    scene: Scene, worker: Worker
) -> None:
    scene.fake.play(answer(Say("word " * 100, chunks=100, interval_s=0.05)), "Second answer")
    turn = scene.say("Tell me a long story").turn
    wait_until(lambda: bool(scene.fake.requests) and scene.fake.last.first_sent_at_ns is not None)
    stopping.request(turn)
    stopped_at = time.monotonic()
    # The end and the lease in one snapshot, from the first one on that knows the end.
    over = Turn.objects.filter(pk=turn.pk, committed_at__isnull=False)
    seen: list[tuple[str, object]] = []

    def look() -> bool:
        seen.extend(over.values_list("state", "session__lease_token"))
        return bool(seen)

    wait_until(look)
    assert seen == [(Turn.State.STOPPED, None)]
    wait_until(lambda: time.monotonic() - stopped_at >= 1)
    second = scene.say("And now?").turn
    wait_until(lambda: ended(second))
    assert second.state == Turn.State.ANSWERED
    assert second.committed_at is not None
    assert second.committed_at - second.accepted_at < timedelta(seconds=2)


def test_case_stop_2_a_provider_that_ignores_cancellation_holds_no_message_up(
    scene: Scene, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = StubbornAtFirst(ignores_s=30, goes_on=True)
    monkeypatch.setattr("agents.services.chain.open_provider", lambda *_, **__: provider)
    turn = scene.say("Tell me a long story").turn
    wait_until(lambda: bool(provider.calls))
    stopping.request(turn)
    began = timezone.now()
    turns = [scene.say(f"message {n}").turn for n in range(3)]
    assert InboundMessage.objects.count() == 4
    assert timezone.now() - began < timedelta(seconds=2)
    wait_until(lambda: ended(turn) and all(ended(later) for later in turns))
    assert turn.state == Turn.State.STOPPED
    assert {later.state for later in turns} == {Turn.State.ANSWERED}
    assert not provider.closed.is_set(), "it was answered while the provider still went on"

    provider.may_go_on.set()
    wait_until(provider.closed.is_set)
    assert provider.given_late
    assert not Content.objects.filter(text__contains="late").exists()
    turn.refresh_from_db()
    assert turn.state == Turn.State.STOPPED


def test_stop_that_comes_while_a_turn_is_being_claimed_is_not_forgotten(
    scene: Scene, worker: Worker
) -> None:
    """The nudge overtakes the claim: the turn is not running yet, its row was read before."""
    first = scene.say("Hello").turn
    scene.fake.play("Hi")
    wait_until(lambda: ended(first))
    worker._opened().hear_stop(first.pk + 1)
    turn = scene.say("Never mind").turn
    assert turn.pk == first.pk + 1
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.STOPPED
    assert len(scene.fake.requests) == 1
