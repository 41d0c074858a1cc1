"""What a file owns is shown by the admin, with where it is changed, and changed nowhere in it."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, AgentDocument, ChainLink, Membership, ProviderAccount, User
from agents.services import documents, managed, secrets
from tests import factories

pytestmark = pytest.mark.django_db

FILE = "deploy/qanot.toml"
SENTENCE = f"This is kept in the file {FILE}. Change it there and apply it again."


@pytest.fixture
def agent() -> Agent:
    """Make an agent that a file owns, with its tool, chain and document."""
    made = factories.agent(name="Bee", slug="bee")
    factories.tool_grant(agent=made)
    account = factories.provider_account(team=made.team, name="Claude", key_reference="env:KEY")
    factories.chain_link(agent=made, account=account)
    soul = AgentDocument(agent=made, name="SOUL.md")
    documents.save(soul, text="Warm.", author=None, reason="")
    for row in (made, account):
        managed.put_mark(row, file=FILE, files={}, now=timezone.now())
    return made


@pytest.fixture
def editor(agent: Agent) -> Client:
    user = factories.user(is_staff=True)
    factories.membership(user=user, team=agent.team, role=Membership.Role.EDITOR)
    return client_of(user)


@pytest.fixture
def root() -> Client:
    return client_of(User.objects.create_superuser("root"))


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page_of(row: object) -> str:
    name = type(row)._meta.model_name  # type: ignore[attr-defined]
    return reverse(f"admin:agents_{name}_change", args=[row.pk])  # type: ignore[attr-defined]


def body(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_the_agents_page_says_which_file_and_offers_no_change(agent: Agent, root: Client) -> None:
    shown = body(root, page_of(agent))
    assert SENTENCE in shown
    assert 'name="name"' not in shown
    assert 'name="_save"' not in shown
    assert "Connect a model</a>" not in shown
    assert "Changed here since" not in shown
    assert "where one does not answer" in shown
    assert "Drag to change the order" not in shown
    assert "x-sort:config" not in shown


def test_a_posted_change_of_an_agent_is_refused(agent: Agent, root: Client) -> None:
    answer = root.post(page_of(agent), {"name": "Wasp", "slug": "bee"})
    assert answer.status_code == 403
    agent.refresh_from_db()
    assert agent.name == "Bee"


def test_what_somebody_changed_meanwhile_is_told(agent: Agent, root: Client) -> None:
    Agent.objects.update(max_iterations=3)
    AgentDocument.objects.update(text="Cold.")
    ChainLink.objects.update(model="another")
    shown = body(root, page_of(agent))
    assert "Changed here since it was applied: chain, SOUL.md, model calls a message." in shown


def test_a_file_that_changed_meanwhile_is_told(agent: Agent, root: Client, tmp_path: Path) -> None:
    file = tmp_path / "qanot.toml"
    file.write_text("a = 1", encoding="utf-8")
    files = {str(file): managed.digest(file.read_bytes())}
    managed.put_mark(agent, file=FILE, files=files, now=timezone.now())
    told = "The file was changed since: it waits to be applied."
    assert told not in body(root, page_of(agent))
    file.write_text("a = 2", encoding="utf-8")
    assert told in body(root, page_of(agent))
    file.unlink()
    # It may lie on another machine.
    assert told not in body(root, page_of(agent))


def test_lists_archive_only_what_people_own(agent: Agent, editor: Client) -> None:
    own = factories.agent(team=agent.team)
    answer = editor.post(
        reverse("admin:agents_agent_changelist"),
        {"action": "archive_selected", "_selected_action": [agent.pk, own.pk]},
        follow=True,
    )
    assert "is kept in a file and stays as it is" in answer.content.decode()
    agent.refresh_from_db()
    own.refresh_from_db()
    assert agent.archived_at is None
    assert own.archived_at is not None


def test_documents_are_shown_and_refused(agent: Agent, root: Client) -> None:
    soul = AgentDocument.objects.get(name="SOUL.md")
    shown = body(root, page_of(soul))
    assert SENTENCE in shown
    assert "Warm." in shown
    assert 'name="text"' not in shown
    assert root.post(page_of(soul), {"text": "Cold."}).status_code == 403
    soul.refresh_from_db()
    assert soul.text == "Warm."


def test_no_way_round_writes_a_document(agent: Agent, root: Client) -> None:
    add = root.post(
        reverse("admin:agents_agentdocument_add"),
        {"agent": agent.pk, "name": "SKILL.md", "text": "New", "reason": ""},
    )
    template = root.post(
        reverse("admin:agents_agent_template", args=[agent.pk]),
        {"template": "faq", "language": "en", "agreed": "on", "confirm": "1"},
    )
    AgentDocument.objects.update(archived_at=timezone.now())
    again = root.post(reverse("admin:agents_agent_use_again", args=[agent.pk]), {"name": "SOUL.md"})
    proposal = factories.document_proposal(agent=agent, name="SOUL.md", text="Mine")
    decide = reverse("admin:agents_documentproposal_decide", args=[proposal.pk])
    accepted = root.post(decide, {"accept": "1", "seen_version": "1"})

    assert [add.status_code, again.status_code, accepted.status_code] == [403, 403, 403]
    assert template.status_code in (200, 403)
    assert AgentDocument.objects.get().text == "Warm."
    proposal.refresh_from_db()
    assert proposal.state == "open"
    assert root.post(decide, {"refuse": "1"}).status_code == 302


def test_an_earlier_version_is_not_restored(agent: Agent, root: Client) -> None:
    soul = AgentDocument.objects.get(name="SOUL.md")
    documents.save(soul, text="Brief.", author=None, reason="", file=FILE)
    first = soul.versions.get(number=1)
    address = reverse("admin:agents_agentdocumentversion_restore", args=[first.pk])
    assert root.post(address).status_code == 403
    soul.refresh_from_db()
    assert soul.text == "Brief."


def test_what_is_one_persons_may_still_be_written(agent: Agent) -> None:
    person = factories.person(team=agent.team)
    about = AgentDocument(agent=agent, name="USER.md", person=person)
    documents.save(about, text="Likes tea.", author=None, reason="")
    assert about.text == "Likes tea."


def test_the_persona_page_says_where_and_offers_nothing(agent: Agent, root: Client) -> None:
    shown = body(root, reverse("admin:agents_agent_persona", args=[agent.pk]))
    assert SENTENCE in shown
    assert "Begin with a template" not in shown
    assert "Write it" not in shown


def test_a_proposal_can_only_be_refused(agent: Agent, root: Client) -> None:
    proposal = factories.document_proposal(agent=agent)
    shown = body(root, page_of(proposal))
    assert SENTENCE in shown
    assert 'name="accept"' not in shown
    assert 'name="refuse"' in shown


def test_no_model_is_connected_to_it(agent: Agent, root: Client) -> None:
    address = reverse("admin:agents_provideraccount_connect_save")
    answer = root.post(
        address,
        {"agent": agent.pk, "preset": "openai", "key": "sk-1", "model": "m", "is_untested": "on"},
    )
    assert answer.status_code == 404
    assert agent.chain_links.count() == 1


def test_an_accounts_page_changes_only_what_the_file_does_not_say(
    agent: Agent, root: Client
) -> None:
    account = ProviderAccount.objects.get(name="Claude")
    shown = body(root, page_of(account))
    assert SENTENCE in shown
    for name in ("name", "base_url", "key_reference", "new_key", "is_free", "first_event_s"):
        assert f'name="{name}"' not in shown

    answer = root.post(
        page_of(account),
        {"name": "Mine", "base_url": "https://evil.example", "new_key": "sk-evil", "is_free": "on"},
    )
    assert answer.status_code == 302
    account.refresh_from_db()
    assert (account.name, account.base_url, account.is_free) == ("Claude", "", False)
    assert (account.sealed_key, account.key_reference) == ("", "env:KEY")


def test_an_account_can_still_be_switched_off_in_a_hurry(agent: Agent, editor: Client) -> None:
    account = ProviderAccount.objects.get(name="Claude")
    editor.post(
        reverse("admin:agents_provideraccount_changelist"),
        {"action": "switch_off_selected", "_selected_action": [account.pk]},
    )
    account.refresh_from_db()
    assert account.switched_off_at is not None
    assert managed.drift(account) == ()


def test_a_key_is_pasted_where_the_file_names_none(agent: Agent, root: Client) -> None:
    account = factories.provider_account(team=agent.team, key_reference="", sealed_key="")
    managed.put_mark(account, file=FILE, files={}, now=timezone.now())
    assert 'name="new_key"' in body(root, page_of(account))
    root.post(page_of(account), {"new_key": "sk-pasted"})
    account.refresh_from_db()
    assert secrets.unseal(account.sealed_key) == "sk-pasted"
    assert managed.drift(account) == ()


def test_what_no_file_owns_is_changed_as_ever(agent: Agent, root: Client) -> None:
    free = factories.agent(team=agent.team)
    shown = body(root, page_of(free))
    assert "is kept in the file" not in shown
    assert "Drag to change the order" in shown
    assert "x-sort:config" in shown
    assert 'name="name"' in shown
