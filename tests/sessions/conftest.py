"""A team, an agent with a fake model, a person's conversation, and workers in this process."""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import pytest
from django.db import connection
from pytest_django import Settings

from agents.models import Agent, ChainLink, Person, ProviderAccount
from agents.services import setup
from sessions import conversations
from sessions.inbox import Accepted, Inbound, accept
from sessions.models import ChannelAccount, ChatSession, Turn
from sessions.turns.worker import Worker
from tests.fakes.anthropic import FakeAnthropic

# Generous, since a busy machine is no failure.
WAIT_S = 60.0


@dataclass(slots=True)
class Scene:
    """One person's conversation with an agent whose model is a fake."""

    agent: Agent
    person: Person
    session: ChatSession
    account: ProviderAccount
    fake: FakeAnthropic

    def say(
        self, text: str, *, key: str | None = None, session: ChatSession | None = None
    ) -> Accepted:
        """Accept one message as the web chat would."""
        inbound = Inbound(
            text=text,
            sender=f"person:{self.person.public_id}",
            external_id=key or uuid4().hex,
            person=self.person,
        )
        return accept(inbound, session=session or self.session)

    def conversation(self, thread: str) -> ChatSession:
        """Open another conversation of the same person."""
        return conversations.open_direct(
            agent=self.agent, account=self.session.account, person=self.person, thread=thread
        )


@pytest.fixture
def quick(settings: Settings) -> None:
    """Lengths for tests: everything that waits, waits briefly."""
    settings.QANOT_LEASE_S = 1.0
    settings.QANOT_HEARTBEAT_S = 0.2
    settings.QANOT_SWEEP_S = 0.05
    # Texts are indexed by the tests that look for them.
    settings.QANOT_INDEX_S = 0.0
    # So are conversations read for facts.
    settings.QANOT_EXTRACTION_S = 0.0
    settings.QANOT_RETRY_BASE_S = 0.05


@pytest.fixture
def fake() -> Iterator[FakeAnthropic]:
    """A model on loopback; a script that is left over fails the test."""
    with FakeAnthropic() as server:
        yield server
        server.assert_done()


@pytest.fixture
def scene(
    transactional_db: None, quick: None, fake: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> Scene:
    """Make the rows."""
    monkeypatch.setenv("FAKE_KEY", "sk-fake")
    made = setup.ensure_first_team()
    account = ProviderAccount.objects.create(
        team=made.team,
        name="Fake",
        kind=ProviderAccount.Kind.ANTHROPIC,
        base_url=fake.base_url,
        may_reach_private=True,
        key_reference="env:FAKE_KEY",
    )
    ChainLink.objects.create(agent=made.agent, account=account, model="claude-sonnet-5-5")
    person = Person.objects.get(user=made.owner)
    session = conversations.open_direct(
        agent=made.agent,
        account=conversations.channel_account(made.team, ChannelAccount.Channel.WEBCHAT),
        person=person,
        thread="first",
    )
    return Scene(made.agent, person, session, account, fake)


@pytest.fixture
def start_worker(scene: Scene) -> Iterator[Callable[[], Worker]]:
    """Start workers; those that still run are closed at the end."""
    workers: list[Worker] = []

    def start() -> Worker:
        worker = Worker()
        worker.start()
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        if worker.is_running:
            worker.close()
    # What a worker leaves open is reported here, not in a later test.
    gc.collect()


@pytest.fixture
def worker(start_worker: Callable[[], Worker]) -> Worker:
    """One worker."""
    return start_worker()


def wait_until(is_so: Callable[[], bool], *, timeout_s: float = WAIT_S) -> None:
    """Wait for a state; fail if it does not come."""
    end = time.monotonic() + timeout_s
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"the state did not come within {timeout_s} s")
        time.sleep(0.01)


def ended(turn: Turn) -> bool:
    """Return whether a turn is over, by its row."""
    turn.refresh_from_db()
    return turn.is_over


def somebody_waits_for_a_lock() -> bool:
    """Return whether a statement of this database waits for another's lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE NOT l.granted AND a.datname = current_database()"
        )
        return cursor.fetchone() is not None
