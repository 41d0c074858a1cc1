"""The audit log's page: read by owners, with what changed, and taken along as a table."""

import csv

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AuditEvent, User
from agents.services import audit
from tests.qanot_site.admin_scene import EVIL, Side, build_side

pytestmark = pytest.mark.django_db

LIST = "/admin/agents/auditevent/"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def event(ours: Side) -> AuditEvent:
    agent = ours.one(Agent)
    return audit.record(
        team_id=ours.team.pk,
        actor=ours.users["editor"],
        action="agent.changed",
        subject=audit.subject_of(agent),
        reason="=1+1",
        changes={"name": ["Bee", EVIL], "max_iterations": [25, 30]},
    )


def body_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_owners_read_who_changed_what(ours: Side, event: AuditEvent) -> None:
    client = client_of(ours.users["owner"])
    listed = body_of(client, LIST)
    assert "ours-editor (user:" in listed
    assert f"/admin/agents/agent/{ours.one(Agent).pk}/change/" in listed
    page = body_of(client, f"{LIST}{event.pk}/change/")
    assert "<del>25</del>" in page
    assert "<ins>30</ins>" in page
    assert "<img src=x" not in page + listed


def test_others_do_not(ours: Side, event: AuditEvent) -> None:
    for role in ("editor", "operator"):
        client = client_of(ours.users[role])
        assert client.get(LIST).status_code == 403
        assert client.post(f"{LIST}export/").status_code == 403
    theirs = build_side("theirs")
    client = client_of(theirs.users["owner"])
    assert "ours-editor" not in body_of(client, LIST)
    assert client.get(f"{LIST}{event.pk}/change/").status_code == 404


def test_what_is_the_deployments_is_for_superusers(ours: Side) -> None:
    row = audit.record(team_id=None, actor="platform", action="config.applied", subject="file:x")
    address = f"{LIST}{row.pk}/change/"
    assert client_of(ours.users["owner"]).get(address).status_code == 404
    assert client_of(User.objects.create_superuser("root")).get(address).status_code == 200


def test_the_list_is_narrowed_by_what_it_is_about(ours: Side, event: AuditEvent) -> None:
    client = client_of(ours.users["owner"])

    def shown(**query: str) -> set[int]:
        rows = client.get(LIST, query).context["cl"].queryset
        return set(rows.values_list("pk", flat=True))

    audit.record(
        team_id=ours.team.pk, actor="user:1", action="account.cleared", subject="account:1"
    )
    assert shown(about="agent,chainlink,toolgrant,document,proposal") == {event.pk}
    assert shown(q="agent.changed") == {event.pk}
    assert shown(q=f"user:{ours.users['editor'].pk}") >= {event.pk}
    assert shown(subject=event.subject) == {event.pk}


@pytest.mark.parametrize("query", ["about=%00", "about=nothing", "subject=%00", "actor=%00"])
def test_an_address_that_no_page_gave_is_no_error(
    ours: Side, event: AuditEvent, query: str
) -> None:
    answer = client_of(ours.users["owner"]).get(f"{LIST}?{query}")
    assert answer.status_code == (400 if "%00" in query else 200)


def test_a_table_is_taken_along_and_that_is_told(ours: Side, event: AuditEvent) -> None:
    build_side("theirs")
    client = client_of(ours.users["owner"])
    assert client.get(f"{LIST}export/").status_code == 405
    answer = client.post(f"{LIST}export/?about=agent,chainlink,toolgrant,document,proposal")
    text = answer.content.decode()
    head, *rows = list(csv.reader(text.splitlines()))
    assert head[:3] == ["Created at", "Actor", "Action"]
    [row] = rows
    assert row[2:5] == ["agent.changed", event.subject, "'=1+1"]
    assert "max_iterations: 25 → 30" in row[5]
    told = AuditEvent.objects.get(action="export.made")
    assert (told.team_id, told.actor) == (ours.team.pk, f"user:{ours.users['owner'].pk}")


def test_it_is_read_by_days(ours: Side, event: AuditEvent) -> None:
    client = client_of(ours.users["owner"])
    today = timezone.localdate()
    asked = f"{LIST}?created_at__year={{}}&created_at__month={today.month}"
    assert event.subject in body_of(client, asked.format(today.year))
    assert event.subject not in body_of(client, asked.format(today.year - 1))
