"""Blanking what was said: by the database's own function alone, and never unnoticed."""

import pytest
from django.db import connection

from agents.models import AuditEvent
from sessions.models import Content
from tests import factories

pytestmark = pytest.mark.django_db


def erase(content: Content) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT qanot_erase_content(%s, %s, %s)", [content.pk, "user:3", "asked by the person"]
        )
        (erased,) = cursor.fetchone()
    return bool(erased)


def test_content_is_blanked_by_the_applications_role_and_leaves_an_audit_row() -> None:
    content, other = factories.content(text="My secret"), factories.content(text="Another")

    assert erase(content)

    content.refresh_from_db()
    assert content.text == ""
    assert content.erased_at is not None
    other.refresh_from_db()
    assert (other.text, other.erased_at) == ("Another", None)
    event = AuditEvent.objects.get()
    assert (event.team_id, event.actor, event.action, event.subject, event.reason) == (
        content.team_id,
        "user:3",
        "content.erase",
        f"content:{content.pk}",
        "asked by the person",
    )


def test_content_is_blanked_once() -> None:
    content = factories.content(text="My secret")
    assert erase(content)
    content.refresh_from_db()
    erased_at = content.erased_at

    assert not erase(content)

    content.refresh_from_db()
    assert content.erased_at == erased_at
    assert AuditEvent.objects.count() == 1


def test_content_that_is_not_there_leaves_no_audit_row() -> None:
    assert not erase(Content(pk=2**40))
    assert not AuditEvent.objects.exists()
