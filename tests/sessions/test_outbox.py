"""Queueing notices and files: once a key, in the caller's transaction, rung for after commit."""

import pytest
from django.db import transaction
from pytest_django import DjangoCaptureOnCommitCallbacks

from agents import doorbell
from sessions import bells, outbox
from sessions.models import Content, Outgoing
from sessions.outbox import Button
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    bells_rung: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(doorbell, "ring", lambda task, *args: bells_rung.append((task, args)))
    return bells_rung


def test_a_notice_is_queued_once_a_key_and_rung_for_after_commit(
    rung: list[tuple[str, tuple[int, ...]]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    account = factories.telegram_account()
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        first = outbox.queue_notice(
            account,
            "42",
            "Hello\x00",
            key="command:1:2",
            thread="7",
            reply_to="9",
            buttons=[[Button("Stop", data="stop:1"), Button("Docs", url="https://example.org")]],
        )
        again = outbox.queue_notice(account, "42", "Hello", key="command:1:2")
        assert rung == []
    assert again.pk == first.pk
    assert Outgoing.objects.count() == 1
    assert Content.objects.count() == 1
    row = Outgoing.objects.get()
    assert (row.kind, row.peer, row.thread, row.reply_to) == ("notice", "42", "7", "9")
    assert row.content is not None
    assert row.content.text == "Hello"
    assert outbox.keyboard_of(row) == [
        [Button("Stop", data="stop:1"), Button("Docs", url="https://example.org")]
    ]
    assert rung == [(bells.SEND, (first.pk,))]


def test_a_file_is_queued_with_its_caption() -> None:
    account = factories.telegram_account()
    file = factories.file(team=account.team)
    row = outbox.queue_file(account, "42", file, key="turn:1/file:1", caption="Here")
    assert row.kind == Outgoing.Kind.FILE
    assert row.file == file
    assert row.content is not None
    assert row.content.text == "Here"
    assert outbox.keyboard_of(row) == []


def test_what_is_rolled_back_is_neither_queued_nor_rung_for(
    rung: list[tuple[str, tuple[int, ...]]],
) -> None:
    account = factories.telegram_account()
    with transaction.atomic():
        outbox.queue_notice(account, "42", "Hello", key="k")
        transaction.set_rollback(True)
    assert not Outgoing.objects.exists()
    assert rung == []
