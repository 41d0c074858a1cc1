"""The first hour's checklist: whom it concerns, how it ticks, and how it is put away."""

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent, AgentDocument, Membership, ProviderAccount, User
from agents.services import documents, login_links, people
from qanot_site import first_steps
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return factories.agent()


@pytest.fixture
def owner(agent: Agent) -> User:
    return factories.membership(team=agent.team, role=Membership.Role.OWNER).user


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def ticked(user: User) -> list[str]:
    return [row.step.name for row in first_steps.standings(user) if row.is_done]


def connect(agent: Agent) -> None:
    factories.chain_link(agent=agent)


def write(agent: Agent, user: User) -> None:
    document = AgentDocument(agent=agent, name="SOUL.md")
    documents.save(document, text="Be kind.", author=user, reason="")


def answer(agent: Agent, user: User) -> None:
    person = people.person_of(user, agent.team)
    factories.usage_record(agent_id=agent.pk, team_id=agent.team_id, person_id=person.pk)


def test_each_step_ticks_itself_by_what_its_page_leaves_behind(agent: Agent, owner: User) -> None:
    assert ticked(owner) == []
    write(agent, owner)
    assert ticked(owner) == ["persona"]
    connect(agent)
    assert ticked(owner) == ["model", "persona"]
    answer(agent, owner)
    assert ticked(owner) == ["model", "persona", "try"]


def test_bot_is_a_step_for_those_who_like_and_ticks_once_somebody_is_paired(
    agent: Agent, owner: User
) -> None:
    def address() -> str:
        (row,) = [row for row in first_steps.standings(owner) if row.step.name == "telegram"]
        return row.address

    connect = reverse("admin:bot_sessions_channelaccount_connect")
    assert address() == f"{connect}?agent={agent.pk}"
    bot = factories.telegram_account(agent=agent)
    assert address() == reverse("admin:bot_sessions_channelaccount_change", args=[bot.pk])
    assert ticked(owner) == []
    factories.channel_contact(account=bot, access="allowed")
    assert ticked(owner) == ["telegram"]


def test_a_model_that_is_switched_off_is_none(agent: Agent, owner: User) -> None:
    connect(agent)
    ProviderAccount.objects.update(switched_off_at=factories.NOON)
    assert ticked(owner) == []
    connect(agent)
    assert ticked(owner) == ["model"]


def test_whoever_connected_a_model_is_led_on_to_the_open_steps(agent: Agent, owner: User) -> None:
    client = client_of(owner)
    page = reverse("admin:agents_provideraccount_connect")

    def leads_on() -> bool:
        done = client.get(page).content.decode().split('data-step="done"')[1]
        return f'href="{reverse("first-steps")}"' in done

    assert leads_on()
    connect(agent)
    write(agent, owner)
    assert leads_on()
    answer(agent, owner)
    assert not leads_on()


def test_what_others_did_elsewhere_ticks_nothing(agent: Agent, owner: User) -> None:
    elsewhere = factories.agent()
    stranger = factories.membership(team=elsewhere.team, role=Membership.Role.OWNER).user
    connect(elsewhere)
    write(elsewhere, stranger)
    answer(agent, stranger)
    # The first texts have no author; a test of a model is no conversation.
    documents.save(AgentDocument(agent=agent, name="SOUL.md"), text="First", author=None, reason="")
    person = people.person_of(owner, agent.team)
    factories.usage_record(kind="test", team_id=agent.team_id, person_id=person.pk)
    assert ticked(owner) == []


def test_owners_may_invite_a_colleague_and_need_not(agent: Agent, owner: User) -> None:
    editor = factories.membership(team=factories.agent().team, role=Membership.Role.EDITOR).user
    names = [row.step.name for row in first_steps.standings(editor)]
    assert names == ["model", "persona", "try", "telegram"]
    last = first_steps.standings(owner)[-1]
    assert (last.step.name, last.is_done) == ("colleague", False)
    assert client_of(owner).get(last.address).status_code == 200
    factories.invitation(team=agent.team)
    assert ticked(owner) == ["colleague"]


def test_the_page_shows_the_next_step_and_the_cap(agent: Agent, owner: User) -> None:
    connect(agent)
    page = client_of(owner).get("/start/").content.decode()
    assert "1 of 3 done" in page
    assert "Your agent may spend at most $5.00 a day." in page
    following = page.split('aria-current="step"')[1].split("</li>")[0]
    assert "Give it a persona" in following
    assert reverse("admin:agents_agent_persona", args=[agent.pk]) in following
    assert f"/connect/?agent={agent.pk}&amp;next=%2Fstart%2F" in page


@pytest.mark.parametrize("role", ["owner", "editor"])
def test_the_way_in_leads_editors_to_the_steps(agent: Agent, role: str) -> None:
    user = factories.membership(team=agent.team, role=role).user
    client = Client()
    assert client.get(f"/login/{login_links.issue(user)}/")["Location"] == "/start/"
    assert client.get("/")["Location"] == "/start/"
    assert client.get("/start/").status_code == 200


@pytest.mark.parametrize("role", ["operator", "member"])
def test_others_are_led_to_the_chat(agent: Agent, role: str) -> None:
    user = factories.membership(team=agent.team, role=role).user
    client = client_of(user)
    for address in ("/", "/start/"):
        assert client.get(address)["Location"] == "/chat/"
    assert reverse("first-steps") not in client.get("/admin/").content.decode()


def test_who_has_done_all_is_led_to_the_chat(agent: Agent, owner: User) -> None:
    connect(agent)
    write(agent, owner)
    answer(agent, owner)
    client = client_of(owner)
    assert client.get("/")["Location"] == "/chat/"
    assert "All done" in client.get("/start/").content.decode()


def test_the_steps_are_put_away_for_good(agent: Agent, owner: User) -> None:
    client = client_of(owner)
    assert reverse("first-steps") in client.get("/admin/").content.decode()
    assert client.get("/start/dismiss/").status_code == 405
    assert client.post("/start/dismiss/")["Location"] == "/chat/"
    owner.refresh_from_db()
    assert owner.steps_dismissed_at is not None
    assert client.get("/")["Location"] == "/chat/"
    assert reverse("first-steps") not in client.get("/admin/").content.decode()
    # Who comes back by the address still finds them.
    assert client.get("/start/").status_code == 200


def test_strangers_log_in_first() -> None:
    for answered in (Client().get("/start/"), Client().post("/start/dismiss/")):
        assert answered["Location"].startswith("/login/")
    assert Client().get("/")["Location"] == "/chat/"


def test_a_superuser_of_an_empty_deployment_begins_with_an_agent() -> None:
    root = User.objects.create_superuser("root")
    page = client_of(root).get("/start/").content.decode()
    assert reverse("admin:agents_agent_add") in page
