"""The audit log tells what was done, and nothing that is secret or private."""

import pytest
from django.db import IntegrityError, transaction

from agents.models import AuditEvent
from agents.services import audit
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_row_names_who_did_what_and_what_changed() -> None:
    user, team = factories.user(), factories.team()
    changes = audit.changes_between({"name": "Bee"}, {"name": "Ant"}, ["name"])

    audit.record(
        team_id=team.pk, actor=user, action="agent.changed", subject="agent:3", changes=changes
    )

    row = AuditEvent.objects.get()
    assert (row.team_id, row.actor, row.action) == (team.pk, f"user:{user.pk}", "agent.changed")
    assert row.changes == {"v": 1, "fields": {"name": ["Bee", "Ant"]}}


def test_it_is_part_of_what_was_done() -> None:
    team = factories.team()

    @transaction.atomic
    def add_again() -> None:
        audit.record(team_id=team.pk, actor="platform", action="team.added", subject="team:1")
        factories.team(slug=team.slug)

    with pytest.raises(IntegrityError):
        add_again()
    assert not AuditEvent.objects.exists()


def test_what_did_not_change_is_left_out() -> None:
    agent = factories.agent(name="Bee")
    assert audit.changes_between(agent, agent, ["name", "team"]) == {}
    assert audit.changes_between(
        agent, {"name": "Bee", "language": "uz"}, ["name", "language"]
    ) == {"language": ["en", "uz"]}


def test_secrets_and_texts_are_never_told() -> None:
    account = factories.provider_account(sealed_key="old-secret")
    before = audit.values_of(account, ["sealed_key"])
    account.sealed_key = "new-secret"
    changes = audit.changes_between(before, account, ["sealed_key"])
    assert changes == {"sealed_key": ["set", "replaced"]}
    assert audit.changes_between(None, account, ["sealed_key"]) == {"sealed_key": ["", "set"]}
    assert audit.changes_between({"text": "a"}, {"text": "private"}, ["text"]) == {
        "text": ["1 characters", "7 characters"]
    }


def test_rows_are_told_by_name_and_number() -> None:
    one, other = factories.agent(name="Bee"), factories.agent(name="Ant")
    assert audit.changes_between({"agent": one}, {"agent": other}, ["agent"]) == {
        "agent": [f"Bee (agent:{one.pk})", f"Ant (agent:{other.pk})"]
    }
    assert audit.subject_of(one) == f"agent:{one.pk}"


def test_long_values_and_reasons_are_cut() -> None:
    changes = audit.changes_between({"name": ""}, {"name": "x" * 5000}, ["name"])
    row = audit.record(
        team_id=None,
        actor="a" * 100,
        action="agent.changed",
        subject="s" * 200,
        reason="r" * 500,
        changes=changes,
    )
    row.refresh_from_db()
    assert len(str(changes["name"][1])) == audit.MOST_CHARACTERS
    assert (len(row.actor), len(row.subject), len(row.reason)) == (64, 100, 300)
