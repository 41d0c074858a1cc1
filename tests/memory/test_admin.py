"""The admin's pages of memory: documents, and facts as they were noted."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import User
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> User:
    user = factories.user(is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


def page(client: Client, pk: int) -> str:
    address = reverse("admin:memory_memorydocument_change", args=[pk])
    return client.get(address).content.decode()


def test_case_prompt_budget_1_page_warns_with_exact_counts(client: Client, owner: User) -> None:
    document = factories.memory_document(text="w" * 25_000)
    html = page(client, document.pk)
    assert "has 25,000 characters" in html
    assert "7,047 are left out of the middle" in html
    # Whose it is decides who reads it; how long it is does not.
    assert "wwww" not in html


def test_page_of_a_document_that_prompts_show_whole_does_not_warn(
    client: Client, owner: User
) -> None:
    document = factories.memory_document(text="w" * 19_000)
    assert "are left out" not in page(client, document.pk)


def test_a_fact_that_was_taken_back_says_so(client: Client, owner: User) -> None:
    at = datetime(2031, 4, 5, 12, tzinfo=UTC)
    entry = factories.wal_entry(retracted_at=at)
    addresses = (
        reverse("admin:memory_walentry_changelist"),
        reverse("admin:memory_walentry_change", args=[entry.pk]),
    )
    for address in addresses:
        html = client.get(address).content.decode()
        assert "aken back at" in html
        assert "April 5, 2031" in html
