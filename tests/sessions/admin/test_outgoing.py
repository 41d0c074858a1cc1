"""The list of what is on its way out: what is held back is sent again or dropped, by its team."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import AuditEvent, Membership, User
from sessions.models import Outgoing
from tests import factories

pytestmark = pytest.mark.django_db

LIST = "admin:bot_sessions_outgoing_changelist"
State = Outgoing.State


def operator_of(row: Outgoing, role: str = "operator") -> Client:
    assert row.account is not None
    user: User = factories.user()
    Membership.objects.create(user=user, team=row.account.team, role=role)
    client = Client()
    client.force_login(user)
    return client


def do(client: Client, action: str, *rows: Outgoing) -> None:
    chosen = [str(row.pk) for row in rows]
    client.post(reverse(LIST), {"action": action, "_selected_action": chosen})


def test_a_notice_without_a_conversation_is_shown_with_its_messages_and_reason() -> None:
    account = factories.telegram_account()
    row = Outgoing.objects.create(
        account=account,
        kind="notice",
        peer="42",
        state=State.FAILED,
        error="blocked",
        created_at=account.created_at,
    )
    factories.outgoing_part(outgoing=row, state=State.FAILED)
    client = operator_of(row)
    page = client.get(reverse(LIST)).content.decode()
    assert "a notice" in page
    assert "They blocked the bot" in page
    assert "0 / 1" in page
    shown = client.get(reverse("admin:bot_sessions_outgoing_change", args=[row.pk]))
    assert "messages on the channel" in shown.content.decode().lower()


def test_what_is_held_back_is_sent_again_or_dropped_and_the_log_says_by_whom() -> None:
    held = factories.outgoing(state=State.UNKNOWN, error="unanswered")
    sent = factories.outgoing(state=State.SENT, account=held.account)
    client = operator_of(held)
    do(client, "send_selected_again", held, sent)
    held.refresh_from_db()
    sent.refresh_from_db()
    assert (held.state, sent.state) == (State.QUEUED, State.SENT)
    do(client, "drop_selected", held, sent)
    held.refresh_from_db()
    sent.refresh_from_db()
    assert (held.state, held.error, sent.state) == (State.FAILED, "dropped", State.SENT)
    acts = AuditEvent.objects.filter(subject=f"outgoing:{held.pk}").order_by("id")
    assert [act.action for act in acts] == ["outgoing.sent_again", "outgoing.dropped"]


def test_nobody_touches_another_teams_rows_and_members_none() -> None:
    held = factories.outgoing(state=State.UNKNOWN)
    stranger = operator_of(factories.outgoing())
    do(stranger, "send_selected_again", held)
    do(operator_of(held, "member"), "send_selected_again", held)
    held.refresh_from_db()
    assert held.state == State.UNKNOWN
