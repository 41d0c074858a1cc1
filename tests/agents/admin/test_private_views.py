"""Who was let in reads other people's private texts, and each look is written down."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db import models
from django.test import Client
from django.urls import reverse

from agents.admin.base import TeamAdmin
from agents.models import (
    AgentDocument,
    AgentDocumentVersion,
    AuditEvent,
    File,
    Membership,
    Person,
    User,
)
from memory.models import (
    DailyNote,
    MemoryDocument,
    MemoryDocumentVersion,
    MemoryProposal,
    UploadedDocument,
    WalEntry,
)
from sessions.models import ChatSession, InboundMessage, TranscriptEntry, Turn, TurnStep
from tests.qanot_site.admin_scene import PRIVATE, Side, build_side

pytestmark = pytest.mark.django_db

# Pages that show texts of people, and whether their lists do too.
TEXTS = {
    ChatSession: True,
    InboundMessage: True,
    TranscriptEntry: True,
    TurnStep: False,
    WalEntry: True,
    MemoryDocument: True,
    MemoryDocumentVersion: True,
    DailyNote: True,
    AgentDocument: False,
    AgentDocumentVersion: True,
    File: True,
    MemoryProposal: False,
    UploadedDocument: True,
}


def address(row: models.Model | type[models.Model], page: str = "change") -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}"
    return reverse(name, args=[row.pk] if isinstance(row, models.Model) else [])


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def reader(ours: Side) -> User:
    """Return an operator whom the owners let read private texts."""
    user = ours.users["operator"]
    Membership.objects.filter(user=user).update(may_view_private=True)
    return user


def looks() -> Iterator[AuditEvent]:
    return AuditEvent.objects.filter(action="private.viewed").order_by("id").iterator()


@pytest.mark.parametrize("model", TEXTS)
def test_each_look_is_written_down_once(
    model: type[models.Model], ours: Side, reader: User
) -> None:
    client = client_of(reader)
    person = ours.one(Person)
    found = before = 0
    for row in ours.rows[model]:
        page = client.get(address(row)).content.decode()
        seen = list(looks())[before:]
        before += len(seen)
        if PRIVATE not in page:
            assert seen == []
            continue
        found += 1
        [event] = seen
        assert event.actor == f"user:{reader.pk}"
        assert event.team_id == ours.team.pk
        assert event.subject.endswith(f":{row.pk}")
        assert event.reason == f"person:{person.pk}"
    assert found


@pytest.mark.parametrize("model", TEXTS)
def test_lists_write_down_whose_texts_they_show(
    model: type[models.Model], ours: Side, reader: User
) -> None:
    page = client_of(reader).get(address(model, "changelist")).content.decode()
    seen = list(looks())
    assert bool(seen) == TEXTS[model]
    if model not in (TranscriptEntry, TurnStep, AgentDocument):
        assert (PRIVATE in page) == TEXTS[model]
    for event in seen:
        assert event.reason == f"person:{ours.one(Person).pk}"
        assert event.changes is not None
        assert set(event.changes["fields"]["rows"][1]) <= {row.pk for row in ours.rows[model]}


def test_a_turns_page_shows_its_messages_and_tells(ours: Side, reader: User) -> None:
    turn = next(turn for turn in ours.rows[Turn] if turn.is_private)
    page = client_of(reader).get(address(turn)).content.decode()
    assert PRIVATE in page
    [event] = looks()
    assert event.subject == f"turn:{turn.pk}"


def test_own_and_shared_texts_are_nobodys_business(ours: Side) -> None:
    person = ours.users["person"]
    Membership.objects.filter(user=person).update(may_view_private=True)
    client = client_of(person)
    for model in TEXTS:
        assert PRIVATE in "".join(
            client.get(address(row)).content.decode() for row in ours.rows[model]
        )
        client.get(address(model, "changelist"))
    assert list(looks()) == []


def test_neither_a_superuser_nor_another_teams_reader_gets_in(ours: Side, reader: User) -> None:
    theirs = build_side("theirs")
    root = User.objects.create_superuser("root")
    for user in (root, reader):
        client = client_of(user)
        for model in TEXTS:
            for row in theirs.rows[model]:
                assert PRIVATE not in client.get(address(row)).content.decode()
    assert list(looks()) == []


def test_what_is_anothers_may_be_read_and_not_written(ours: Side) -> None:
    editor = ours.users["editor"]
    Membership.objects.filter(user=editor).update(may_view_private=True)
    document = AgentDocument.objects.get(agent__team=ours.team, name="USER.md")
    client = client_of(editor)
    assert PRIVATE in client.get(address(document)).content.decode()
    assert client.post(address(document), {"text": "x", "reason": ""}).status_code == 403


def test_every_page_with_private_text_is_in_this_test() -> None:
    pages = {
        model
        for model, page in admin.site._registry.items()
        if isinstance(page, TeamAdmin) and hasattr(page, "text_path")
    }
    assert pages == set(TEXTS)
