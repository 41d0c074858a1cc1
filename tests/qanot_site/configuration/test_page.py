"""The agent's page that gives it as a file."""

import tomllib

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AuditEvent, Membership
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    made = factories.agent(slug="bee")
    account = factories.provider_account(team=made.team, name="Claude")
    factories.chain_link(agent=made, account=account)
    made.speech_account = factories.provider_account(team=made.team, name="Ear", kind="openai")
    made.save()
    factories.provider_account(team=made.team, name="Unused")
    factories.agent(team=made.team, slug="wasp")
    return made


def client_of(agent: Agent, role: str) -> Client:
    user = factories.user(is_staff=True)
    factories.membership(user=user, team=agent.team, role=role)
    client = Client()
    client.force_login(user)
    return client


def test_an_agent_is_sent_with_what_it_asks(agent: Agent) -> None:
    client = client_of(agent, Membership.Role.EDITOR)
    answer = client.get(reverse("admin:agents_agent_export", args=[agent.pk]))
    said = tomllib.loads(answer.content.decode())
    assert answer["Content-Disposition"] == 'attachment; filename="bee.toml"'
    assert set(said["agents"]) == {"bee"}
    assert set(said["accounts"]) == {"Claude", "Ear"}
    event = AuditEvent.objects.get(action="export.made")
    assert event.subject == f"agent:{agent.pk}"
    assert event.actor.startswith("user:")


def test_the_agents_page_leads_to_it(agent: Agent) -> None:
    client = client_of(agent, Membership.Role.EDITOR)
    shown = client.get(reverse("admin:agents_agent_change", args=[agent.pk])).content.decode()
    assert reverse("admin:agents_agent_export", args=[agent.pk]) in shown


def test_another_teams_agent_does_not_exist(agent: Agent) -> None:
    stranger = factories.agent()
    client = client_of(stranger, Membership.Role.OWNER)
    address = reverse("admin:agents_agent_export", args=[agent.pk])
    assert client.get(address).status_code == 404
    assert not AuditEvent.objects.filter(action="export.made").exists()
