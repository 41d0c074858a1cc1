"""Versions of a persona document, and bringing back what it said."""

import pytest
from django.utils import timezone

from agents.models import BootstrapRitual
from agents.services import documents
from tests import factories

pytestmark = pytest.mark.django_db


def test_restoring_writes_a_new_version_and_leaves_the_history_alone() -> None:
    author = factories.user()
    document = factories.agent_document()
    first = documents.save(document, text="one", author=None, reason="First text")
    documents.save(document, text="two", author=author, reason="")
    assert first is not None
    restored = documents.restore(first, author=author)
    assert restored is not None
    document.refresh_from_db()
    assert (document.text, document.version_number) == ("one", 3)
    assert (restored.number, restored.author, restored.reason) == (3, author, "Restored version 1")
    told = document.versions.order_by("number").values_list("number", "text", "reason")
    assert list(told)[:2] == [(1, "one", "First text"), (2, "two", "")]


def test_restoring_what_stands_there_makes_no_version() -> None:
    document = factories.agent_document()
    newest = documents.save(document, text="one", author=None, reason="")
    assert newest is not None
    assert documents.restore(newest, author=None) is None
    assert document.versions.count() == 1


def test_using_the_ritual_again_lets_it_begin_anew() -> None:
    agent = factories.agent()
    document = factories.agent_document(
        agent=agent, name="BOOTSTRAP.md", archived_at=timezone.now()
    )
    factories.bootstrap_ritual(agent=agent)
    other = factories.bootstrap_ritual()
    assert documents.use_again(document)
    assert not documents.use_again(document)
    document.refresh_from_db()
    assert document.archived_at is None
    assert list(BootstrapRitual.objects.all()) == [other]


def test_using_another_document_again_leaves_the_ritual_alone() -> None:
    ritual = factories.bootstrap_ritual()
    document = factories.agent_document(agent=ritual.agent, archived_at=timezone.now())
    assert documents.use_again(document)
    assert BootstrapRitual.objects.filter(pk=ritual.pk).exists()
