"""The admin's pages of memory: documents, and facts as they were noted."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from agents.core.viewer import Viewer
from agents.models import Agent, User
from memory import documents, uploads, wal
from memory.index.work import finish
from memory.models import MemorySettings, Origin, UploadedDocument, WalEntry
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
    listed = client.get(reverse("admin:memory_walentry_changelist")).content.decode()
    assert "aken back" in listed
    html = client.get(reverse("admin:memory_walentry_change", args=[entry.pk])).content.decode()
    assert "aken back at" in html
    assert "April 5, 2031" in html


def test_a_models_fact_says_that_it_is_one(client: Client, owner: User) -> None:
    entry = factories.wal_entry(origin=Origin.AGENT, confidence=0.9)
    listed = client.get(reverse("admin:memory_walentry_changelist")).content.decode()
    page = client.get(reverse("admin:memory_walentry_change", args=[entry.pk])).content.decode()
    assert "noted by the model" in listed
    assert "noted by the model" in page


def test_a_fact_is_replaced_shared_and_forgotten_by_its_person(client: Client) -> None:
    user = factories.user()
    agent = factories.agent()
    person = factories.person(team=agent.team, user=user)
    factories.membership(user=user, team=agent.team, role="operator")
    entry = factories.wal_entry(agent=agent, person=person, text="The gate is green")
    client.force_login(user)

    def act(pk: int, name: str, **given: str) -> None:
        address = reverse(f"admin:memory_walentry_{name}", args=[pk])
        assert client.post(address, given).status_code == 302

    act(entry.pk, "replace", text="The gate is blue")
    new = WalEntry.objects.get(text="The gate is blue")
    act(new.pk, "share", to="team")
    shared = WalEntry.objects.get(shared_from=new)
    assert shared.scope == "team"
    page = client.get(reverse("admin:memory_walentry_change", args=[new.pk])).content.decode()
    assert "Share with the whole team" not in page
    act(new.pk, "forget")
    shared.refresh_from_db()
    assert shared.retracted_at is not None


def test_who_is_not_its_person_changes_nothing(client: Client, owner: User) -> None:
    entry = factories.wal_entry(text="The gate is green")
    for name in ("replace", "share", "unshare", "forget", "decide"):
        address = reverse(f"admin:memory_walentry_{name}", args=[entry.pk])
        assert client.post(address, {"text": "x", "to": "team"}).status_code == 403
    entry.refresh_from_db()
    assert (entry.retracted_at, entry.superseded_at) == (None, None)


def test_versions_are_compared_and_restored_by_their_person(client: Client) -> None:
    user = factories.user()
    agent = factories.agent()
    person = factories.person(team=agent.team, user=user)
    factories.membership(user=user, team=agent.team, role="operator")
    home = {"team_id": agent.team_id, "agent_id": agent.pk, "scope": "person"}
    home |= {"person_id": person.pk}
    document = documents.save(home, "MEMORY.md", "first line", source="x")
    documents.replace(document.pk, text="second line", source="x")
    version = document.versions.get(number=1)
    client.force_login(user)
    address = reverse("admin:memory_memorydocumentversion_change", args=[version.pk])
    html = client.get(address, {"against": "current"}).content.decode()
    assert "second" in html
    assert "Restore this version" in html
    client.post(reverse("admin:memory_memorydocumentversion_restore", args=[version.pk]))
    document.refresh_from_db()
    assert document.text == "first line"


def test_search_shows_scores_and_never_as_somebody_else(client: Client) -> None:
    user = factories.user()
    agent = factories.agent()
    own = factories.person(team=agent.team, user=user)
    other = factories.person(team=agent.team)
    factories.membership(user=user, team=agent.team, role="owner")
    MemorySettings.objects.create(team=agent.team, embedder=MemorySettings.Embedder.NONE)
    for person, word in ((own, "green"), (other, "hidden")):
        viewer = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
        at = datetime(2031, 4, 5, 12, tzinfo=UTC)
        wal.note(f"The gate is {word}", viewer=viewer, source=word, thread="x", at=at)
    finish()
    client.force_login(user)
    address = reverse("admin:agents_agent_memory_search", args=[agent.pk])
    html = client.get(address, {"q": "gate"}).content.decode()
    assert "The gate is green" in html
    assert "score" in html
    as_other = client.get(address, {"q": "gate", "as": f"person:{other.pk}"}).content.decode()
    assert "The gate is hidden" not in html + as_other
    assert "The gate is" not in client.get(address, {"q": "gate", "as": "nobody"}).content.decode()


# --- uploaded documents --------------------------------------------------------------------------


def documents_page(agent: Agent, name: str = "documents") -> str:
    return reverse(f"admin:agents_agent_{name}", args=[agent.pk])


def drop(client: Client, agent: Agent, whose: str, *files: SimpleUploadedFile) -> Any:
    given = {"whose": whose, "files": list(files)}
    return client.post(documents_page(agent), given, headers={"Accept": "application/json"})


def test_documents_are_dropped_watched_and_removed(client: Client) -> None:
    agent = factories.agent()
    MemorySettings.objects.create(team=agent.team, embedder=MemorySettings.Embedder.NONE)
    user = factories.membership(team=agent.team, role="editor").user
    client.force_login(user)
    assert "may not use the tool rag_search" in client.get(documents_page(agent)).content.decode()
    good = SimpleUploadedFile("rules.md", b"# Rules\nBe kind")
    bad = SimpleUploadedFile("photo.png", b"\x89PNG")
    answer = drop(client, agent, "agent", good, bad)
    assert (answer.status_code, answer.json()["added"]) == (422, 1)
    assert answer.json()["refused"][0].startswith("photo.png: Files of this kind")
    live = documents_page(agent, "documents_live")
    assert "data-moving" in client.get(live).content.decode()
    document = uploads.read_one()
    assert document is not None
    assert document.author == user
    finish()
    html = client.get(live).content.decode()
    assert "data-moving" not in html
    assert "ready" in html
    client.post(documents_page(agent, "documents_remove"), {"document": document.pk})
    assert not UploadedDocument.objects.exists()


def test_who_may_bring_and_remove_documents(client: Client) -> None:
    agent = factories.agent()
    user = factories.membership(team=agent.team, role="operator").user
    person = factories.person(team=agent.team, user=user)
    client.force_login(user)
    shared = factories.uploaded_document(team=agent.team, scope="agent", agent=agent)
    others = factories.uploaded_document(agent=agent, name="private-plan.txt")
    assert drop(client, agent, "agent", SimpleUploadedFile("a.txt", b"x")).status_code == 403
    assert drop(client, agent, "chat:1", SimpleUploadedFile("a.txt", b"x")).status_code == 403
    assert drop(client, agent, "me", SimpleUploadedFile("a.txt", b"x")).status_code == 200
    own = UploadedDocument.objects.get(person=person)
    assert "private-plan" not in client.get(documents_page(agent)).content.decode()
    remove = documents_page(agent, "documents_remove")
    for document, status in ((shared, 403), (others, 404), (own, 302)):
        assert client.post(remove, {"document": document.pk}).status_code == status
    assert set(UploadedDocument.objects.all()) == {shared, others}


def test_a_document_that_failed_is_tried_again(client: Client, owner: User) -> None:
    agent = factories.agent()
    failed = factories.uploaded_document(
        team=agent.team, scope="agent", agent=agent, state="failed", error="encrypted"
    )
    html = client.get(documents_page(agent)).content.decode()
    assert "protected by a password" in html
    client.post(documents_page(agent, "documents_again"), {"document": failed.pk})
    failed.refresh_from_db()
    assert (failed.state, failed.error) == ("waiting", "")
