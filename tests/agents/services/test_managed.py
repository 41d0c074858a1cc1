"""What a row keeps of the file that owns it."""

import json
from decimal import Decimal

import pytest
from django.utils import timezone

from agents.models import Agent, ProviderAccount
from agents.services import documents, managed
from agents.services.managed import ManagedByFile
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db

# As the first release with files wrote it: rows that have it must stay readable.
FIRST_MARK = json.loads(
    '{"v": 1, "applied_at": "2026-11-30T12:00:00Z", "parts": {"name": "00ff"}, '
    '"files": {"/srv/qanot.toml": "11ee"}}'
)


def test_a_mark_of_the_first_release_is_read() -> None:
    agent = factories.agent(managed_mark=FIRST_MARK)
    mark = managed.mark_of(agent)
    assert mark is not None
    assert mark.applied_at == NOON
    assert "name" in managed.drift(agent)


def test_parts_are_called_as_people_know_them() -> None:
    agent = factories.agent()
    parts = ("max_iterations", "documents/SOUL.md", "chain", "tools", "gone_since")
    assert [managed.part_in_words(agent, part) for part in parts] == [
        "model calls a message",
        "SOUL.md",
        "chain",
        "tools",
        "gone_since",
    ]


def test_a_mark_that_nobody_can_read_is_none() -> None:
    agent = factories.agent(managed_mark={"v": 9, "other": True})
    assert managed.mark_of(agent) is None
    assert managed.drift(agent) == ()
    assert managed.changed_files(agent) == ()


def test_a_price_written_otherwise_is_no_drift() -> None:
    agent = factories.agent(daily_cap_usd=Decimal(5))
    managed.put_mark(agent, file="q.toml", files={}, now=NOON)
    stored = Agent.objects.get()
    assert stored.daily_cap_usd == Decimal("5.00")
    assert managed.drift(stored) == ()


def test_marking_twice_writes_once() -> None:
    account = factories.provider_account()
    assert managed.put_mark(account, file="q.toml", files={}, now=NOON)
    edited = ProviderAccount.objects.get().updated_at
    assert not managed.put_mark(account, file="q.toml", files={}, now=timezone.now())
    assert managed.put_mark(account, file="q.toml", files={"/a": "b"}, now=timezone.now())
    # Its open connections are not outdated by a mark.
    assert ProviderAccount.objects.get().updated_at == edited


def test_only_the_file_itself_writes_its_documents() -> None:
    agent = factories.agent(managed_by="q.toml")
    soul = factories.agent_document(agent=agent)
    with pytest.raises(ManagedByFile, match=r"kept in the file q\.toml"):
        documents.save(soul, text="Mine", author=None, reason="")
    with pytest.raises(ManagedByFile):
        documents.save(soul, text="Mine", author=None, reason="", file="other.toml")
    assert documents.save(soul, text="Theirs", author=None, reason="", file="q.toml")
