"""The prompt for a chosen viewer: its parts, and whose words are shown to whom."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AgentDocument, AuditEvent, Membership, Person, User
from agents.services import documents
from tests import factories
from tests.qanot_site.admin_scene import PRIVATE, SHARED, Side, build_side

pytestmark = pytest.mark.django_db


@pytest.fixture
def ours() -> Side:
    side = build_side("ours")
    # Noted a moment ago, and not durable: it stands in the session state.
    factories.wal_entry(
        agent=side.one(Agent), person=side.one(Person), text=PRIVATE, is_durable=False
    )
    return side


@pytest.fixture
def agent(ours: Side) -> Agent:
    made: Agent = ours.one(Agent)
    return made


def preview(user: User, agent: Agent, **chosen: str) -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(reverse("admin:agents_agent_preview", args=[agent.pk]), chosen)
    assert answer.status_code == 200
    return answer.content.decode()


def status(user: User, agent: Agent, **chosen: str) -> int:
    client = Client()
    client.force_login(user)
    return client.get(reverse("admin:agents_agent_preview", args=[agent.pk]), chosen).status_code


def parts(page: str) -> list[str]:
    return re.findall(r'<span class="qp-name">([^<]+)</span>', page)


def test_the_parts_stand_in_the_order_of_the_prompt(ours: Side, agent: Agent) -> None:
    page = preview(ours.users["person"], agent)
    assert parts(page) == [
        "SOUL.md",
        "tool style",
        "USER.md",
        "MEMORY.md",
        "SESSION-STATE.md",
        "session info",
    ]
    assert "tokens" in page
    assert "v1" in page


def test_ones_own_prompt_is_read_in_full(ours: Side, agent: Agent) -> None:
    page = preview(ours.users["person"], agent)
    assert page.count(PRIVATE) >= 2
    assert SHARED in page
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert(1)&gt;", "")


@pytest.mark.parametrize("role", ["owner", "editor", "operator"])
def test_of_somebody_else_only_sizes_are_shown(role: str, ours: Side, agent: Agent) -> None:
    person = Person.objects.get(user=ours.users["person"])
    page = preview(ours.users[role], agent, viewer=str(person.public_id))
    assert {"USER.md", "MEMORY.md", "SESSION-STATE.md"} <= set(parts(page))
    assert PRIVATE not in page
    assert page.count("Only this person may read it.") == 3
    # The persona is nobody's secret.
    assert SHARED in page


def test_a_superuser_reads_no_more(ours: Side, agent: Agent) -> None:
    person = Person.objects.get(user=ours.users["person"])
    root = User.objects.create_superuser("root")
    assert PRIVATE not in preview(root, agent, viewer=str(person.public_id))
    assert PRIVATE not in preview(root, agent)
    # Looking makes nobody a counterpart of the team.
    assert not Person.objects.filter(user=root).exists()


def test_who_was_let_in_reads_anothers_parts_and_that_is_told(ours: Side, agent: Agent) -> None:
    operator = ours.users["operator"]
    Membership.objects.filter(user=operator).update(may_view_private=True)
    person = ours.one(Person)
    assert PRIVATE in preview(operator, agent, viewer=str(person.public_id))
    event = AuditEvent.objects.get(action="private.viewed")
    assert (event.actor, event.subject, event.reason) == (
        f"user:{operator.pk}",
        f"agent:{agent.pk}/prompt",
        f"person:{person.pk}",
    )
    preview(operator, agent)
    preview(operator, agent, viewer="nobody")
    assert AuditEvent.objects.filter(action="private.viewed").count() == 1


def test_nobody_sees_what_is_shared(ours: Side, agent: Agent) -> None:
    page = preview(ours.users["person"], agent, viewer="nobody")
    assert "USER.md" not in parts(page)
    assert PRIVATE not in page
    assert SHARED in page


def test_by_itself_it_has_the_smallest_prompt(ours: Side, agent: Agent) -> None:
    page = preview(ours.users["person"], agent, mode="minimal")
    assert parts(page) == ["SOUL.md", "session info"]


def test_the_first_conversation_is_offered_while_there_is_one(ours: Side, agent: Agent) -> None:
    user = ours.users["editor"]
    assert "The first conversation" not in preview(user, agent)
    documents.save(
        AgentDocument(agent=agent, name="BOOTSTRAP.md"), text="Ask.", author=None, reason=""
    )
    assert "The first conversation" in preview(user, agent)
    assert "BOOTSTRAP.md" not in parts(preview(user, agent))
    assert "BOOTSTRAP.md" in parts(preview(user, agent, mode="first"))


def test_a_cut_is_counted(ours: Side, agent: Agent) -> None:
    document = AgentDocument(agent=agent, name="SKILL.md")
    documents.save(document, text="x" * 25_000, author=None, reason="")
    assert "7000 characters cut" in preview(ours.users["editor"], agent)


def test_others_do_not_exist(ours: Side, agent: Agent) -> None:
    theirs = build_side("theirs")
    user = ours.users["owner"]
    stranger = Person.objects.get(team=theirs.team)
    gone = factories.person(team=ours.team, merged_into=Person.objects.get(team=ours.team))
    assert status(user, theirs.one(Agent)) == 404
    assert status(user, agent, viewer=str(stranger.public_id)) == 404
    assert status(user, agent, viewer=str(gone.public_id)) == 404
    assert status(user, agent, viewer="x") == 404
    assert status(user, agent, mode="x") == 404
