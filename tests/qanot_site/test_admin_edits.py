"""Changing agents, documents, accounts and memberships in the admin."""

from typing import Any

import pytest
from django.contrib import admin
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from agents.admin import checks
from agents.admin.base import TeamAdmin
from agents.models import (
    Agent,
    AgentDocument,
    ApiToken,
    ChainLink,
    Chat,
    Membership,
    Person,
    ProviderAccount,
    Team,
    User,
)
from agents.services import accounts, documents
from memory.models import WalEntry
from sessions.models import ChatSession
from tests import factories
from tests.qanot_site.admin_scene import AGENT_DEFAULTS, PRIVATE, SHARED, Role, Side, build_side

pytestmark = pytest.mark.django_db


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(row: Model | type[Model], page: str = "change") -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}"
    return reverse(name, args=[row.pk] if isinstance(row, Model) else [])


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def theirs() -> Side:
    return build_side("theirs")


def agent_values(agent: Agent, **chain: Any) -> dict[str, Any]:
    """What the agent's page sends when one model is added to the chain."""
    return {
        "name": agent.name,
        "slug": agent.slug,
        "language": "en",
        "time_zone": "Asia/Tashkent",
        "prompt_preset": "default",
        "max_iterations": 25,
        **AGENT_DEFAULTS,
        "chain_links-TOTAL_FORMS": len(chain) and 1,
        "chain_links-INITIAL_FORMS": 0,
        "tool_grants-TOTAL_FORMS": 0,
        "tool_grants-INITIAL_FORMS": 0,
        **{f"chain_links-0-{name}": value for name, value in chain.items()},
    }


def link_to(account: ProviderAccount) -> dict[str, Any]:
    return {
        "position": 1,
        "account": account.pk,
        "model": "m",
        "window_tokens": 1000,
        "max_output_tokens": 100,
    }


# Documents.

# The list of versions, which the browser sends along though it is only read.
VERSIONS = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}


def test_each_change_of_a_text_is_a_version(ours: Side) -> None:
    editor = ours.users["editor"]
    document = AgentDocument.objects.get(agent__team=ours.team, name="SOUL.md")
    client = client_of(editor)
    page = client.get(address(document)).content.decode()
    assert "qanot-editor" in page
    values = {"text": "one\r\n two \r\n", "reason": "Clearer", **VERSIONS}
    assert client.post(address(document), values).status_code == 302
    document.refresh_from_db()
    newest = document.versions.order_by("-number").first()
    assert newest is not None
    assert (document.text, document.version_number) == ("one\n two \n", 2)
    assert (newest.number, newest.text, newest.author, newest.reason) == (
        2,
        "one\n two \n",
        editor,
        "Clearer",
    )
    page = client.get(address(document)).content.decode()
    assert page.index(">v2<") < page.index(">v1<")
    assert "Clearer" in page
    client.post(address(document), {**values, "reason": "Nothing new"})
    assert document.versions.count() == 2


def test_a_new_document_begins_with_its_first_version(ours: Side, theirs: Side) -> None:
    client = client_of(ours.users["editor"])
    agent = ours.one(Agent)
    values = {"agent": agent.pk, "name": "AGENTS.md", "text": "Hello", "reason": "Start"}
    assert client.post(address(AgentDocument, "add"), values).status_code == 302
    document = AgentDocument.objects.get(agent=agent, name="AGENTS.md")
    assert (document.text, document.version_number) == ("Hello", 1)
    foreign = {**values, "agent": theirs.one(Agent).pk}
    assert client.post(address(AgentDocument, "add"), foreign).status_code == 200
    assert not AgentDocument.objects.filter(agent__team=theirs.team, name="AGENTS.md").exists()


def test_a_persons_document_is_not_overwritten_unseen(ours: Side) -> None:
    document = AgentDocument.objects.get(agent__team=ours.team, name="USER.md")
    answer = client_of(ours.users["owner"]).post(address(document), {"text": "x", "reason": ""})
    assert answer.status_code == 403
    document.refresh_from_db()
    assert document.text == PRIVATE


def test_save_gives_numbers_in_order_and_none_for_the_same_text(ours: Side) -> None:
    document = AgentDocument.objects.get(agent__team=ours.team, name="SOUL.md")
    # Two objects of one row: the second saver read before the first one wrote.
    stale = AgentDocument.objects.get(pk=document.pk)
    first = documents.save(document, text="a", author=None, reason="")
    second = documents.save(stale, text="b", author=None, reason="")
    assert first is not None
    assert second is not None
    assert (first.number, second.number, stale.version_number) == (2, 3, 3)
    assert documents.save(document, text="b", author=None, reason="") is None
    assert (document.text, document.version_number) == ("b", 3)
    assert [row.text for row in stale.versions.order_by("number")] == [SHARED, "a", "b"]


# What belongs to another team.


def test_choices_hold_the_own_team_only(ours: Side, theirs: Side) -> None:
    both = ours.users["owner"]
    factories.membership(user=both, team=theirs.team, role=Membership.Role.OWNER)
    for user in (both, User.objects.create_superuser("root")):
        page = client_of(user).get(address(ours.one(Agent)))
        inlines = page.context["inline_admin_formsets"]
        [chain] = [inline for inline in inlines if inline.opts.model is ChainLink]
        field = chain.formset.empty_form.fields["account"]
        assert set(field.queryset) == {ours.one(ProviderAccount)}
    client = client_of(ours.users["editor"])
    form = client.get(address(Agent, "add")).context["adminform"].form
    assert set(form.fields["team"].queryset) == {ours.team}
    assert form.initial["team"] == ours.team.pk


def test_a_foreign_account_does_not_enter_the_chain(ours: Side, theirs: Side) -> None:
    root = User.objects.create_superuser("root")
    agent = ours.one(Agent)
    foreign = agent_values(agent, **link_to(theirs.one(ProviderAccount)))
    for user in (ours.users["editor"], root):
        answer = client_of(user).post(address(agent), foreign)
        assert answer.status_code == 200, user
    assert agent.chain_links.count() == 1
    own = agent_values(agent, **link_to(ours.one(ProviderAccount)))
    assert client_of(ours.users["editor"]).post(address(agent), own).status_code == 302
    assert agent.chain_links.count() == 2
    agent.refresh_from_db()
    assert agent.time_zone == "Asia/Tashkent"


def test_a_row_stays_in_its_team(ours: Side, theirs: Side) -> None:
    root = client_of(User.objects.create_superuser("root"))
    agent = ours.one(Agent)
    root.post(address(agent), {**agent_values(agent), "team": theirs.team.pk})
    agent.refresh_from_db()
    assert agent.team == ours.team


def test_an_operator_elsewhere_adds_nothing_there(ours: Side, theirs: Side) -> None:
    editor = ours.users["editor"]
    Membership.objects.create(user=editor, team=theirs.team, role=Role.OPERATOR)
    client = client_of(editor)
    values = {**agent_values(Agent(name="New", slug="new")), "team": theirs.team.pk}
    assert client.post(address(Agent, "add"), values).status_code == 200
    assert client.post(address(theirs.one(Agent)), values).status_code == 403
    answer = client.post(address(Agent, "add"), {**values, "team": ours.team.pk})
    new = Agent.objects.get(slug="new")
    # On to its page, where the chain and the tools wait.
    assert answer["Location"] == address(new)
    assert new.team == ours.team


def test_autocompletes_know_the_own_team_only(ours: Side, theirs: Side) -> None:
    def found(user: User, model: str, field: str) -> set[str]:
        answer = client_of(user).get(
            reverse("admin:autocomplete"),
            {"app_label": "agents", "model_name": model, "field_name": field, "term": ""},
        )
        assert answer.status_code == 200
        return {item["id"] for item in answer.json()["results"]}

    owner = ours.users["owner"]
    assert found(owner, "agentdocument", "person") == {str(ours.one(Person).pk)}
    users = {str(row.pk) for row in ours.rows[User]}
    assert found(owner, "membership", "user") == users


def test_autocompletes_tell_no_private_title(ours: Side) -> None:
    answer = client_of(ours.users["owner"]).get(
        reverse("admin:autocomplete"),
        {"app_label": "bot_sessions", "model_name": "turn", "field_name": "session", "term": ""},
    )
    assert PRIVATE not in answer.content.decode()


def test_filters_offer_the_own_team_only(ours: Side, theirs: Side) -> None:
    for model in (WalEntry, ChatSession, AgentDocument):
        page = client_of(ours.users["owner"]).get(address(model, "changelist"))
        offered = " ".join(
            str(choice["display"])
            for item in page.context["cl"].filter_specs
            for choice in item.choices(page.context["cl"])
        )
        assert "theirs" not in offered


# People and roles.


def test_owners_give_roles_and_editors_do_not(ours: Side) -> None:
    membership = Membership.objects.get(team=ours.team, role=Role.MEMBER)
    refused = client_of(ours.users["editor"]).post(address(membership), {"role": Role.OWNER})
    assert refused.status_code == 403
    granted = client_of(ours.users["owner"]).post(address(membership), {"role": Role.OPERATOR})
    assert granted.status_code == 302
    membership.refresh_from_db()
    assert membership.role == Role.OPERATOR


def test_nobody_puts_their_login_on_another_person(ours: Side) -> None:
    root = User.objects.create_superuser("root")
    person = ours.one(Person)
    for user in (root, ours.users["owner"]):
        client_of(user).post(
            address(person),
            {
                "display_name": "New name",
                "user": user.pk,
                "identities-TOTAL_FORMS": 0,
                "identities-INITIAL_FORMS": 0,
            },
        )
        person.refresh_from_db()
        assert (person.display_name, person.user) == ("New name", ours.users["person"])


def test_only_superusers_change_logins(ours: Side) -> None:
    member = ours.users["member"]
    client = client_of(ours.users["owner"])
    page = client.get(address(member))
    assert page.status_code == 200
    assert "password" not in page.content.decode().split("<form", 1)[1].split("</form>")[0]
    assert client.post(address(member), {"username": "x"}).status_code == 403
    assert client.get(f"/admin/agents/user/{member.pk}/password/").status_code == 403


# Accounts, tokens, archive.


def test_accounts_are_switched_off_and_cleared(ours: Side, theirs: Side) -> None:
    account = ours.one(ProviderAccount)
    client = client_of(ours.users["editor"])
    client.post(
        address(account),
        {
            "name": account.name,
            "prompt_cache": "5m",
            "agents_provideraccount_switch_account_off": "1",
        },
    )
    account.refresh_from_db()
    assert account.switched_off_at is not None
    page = client.get(address(account)).content.decode()
    assert "Switched off by ours-editor" in page
    ProviderAccount.objects.filter(pk=account.pk).update(
        failures=3, cool_until=timezone.now(), last_error_code="auth", last_error="no"
    )
    both = [account.pk, theirs.one(ProviderAccount).pk]
    accounts.switch_off(theirs.one(ProviderAccount), by=None)
    client.post(
        address(ProviderAccount, "changelist"),
        {"action": "clear_selected", "_selected_action": both},
    )
    account.refresh_from_db()
    assert (account.failures, account.cool_until, account.switched_off_at) == (0, None, None)
    assert (account.last_error_code, account.last_error) == ("", "")
    theirs.one(ProviderAccount).refresh_from_db()
    assert theirs.one(ProviderAccount).switched_off_at is not None


def test_editors_revoke_tokens_and_operators_do_not(ours: Side) -> None:
    token = ours.one(ApiToken)
    values = {"action": "revoke_selected", "_selected_action": [token.pk]}
    client_of(ours.users["operator"]).post(address(ApiToken, "changelist"), values)
    token.refresh_from_db()
    assert token.revoked_at is None
    client_of(ours.users["editor"]).post(address(ApiToken, "changelist"), values)
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_agents_are_archived_and_brought_back(ours: Side) -> None:
    agent = ours.one(Agent)
    client = client_of(ours.users["editor"])
    listed = address(Agent, "changelist")
    client.post(listed, {"action": "archive_selected", "_selected_action": [agent.pk]})
    agent.refresh_from_db()
    assert agent.archived_at is not None
    assert not client.get(listed).context["cl"].queryset.exists()
    client.post(
        f"{listed}?archived=yes", {"action": "restore_selected", "_selected_action": [agent.pk]}
    )
    agent.refresh_from_db()
    assert agent.archived_at is None


# A page that does not say how its team is reached.


def test_a_page_without_a_path_to_its_team_is_an_error() -> None:
    class Forgetful(TeamAdmin):
        pass

    class Astray(TeamAdmin):
        team_path = "agent__name"

    assert [error.id for error in checks.check_path(Forgetful, Chat)] == ["agents.E001"]
    assert [error.id for error in checks.check_path(Astray, AgentDocument)] == ["agents.E002"]
    assert [error.id for error in checks.check_inline(admin.TabularInline, Chat)] == ["agents.E003"]
    assert checks.check_team_paths() == []


def test_a_page_without_a_path_shows_nothing(ours: Side) -> None:
    class Forgetful(TeamAdmin):
        pass

    # Unfold has no types, so the checker does not see what a page is made of.
    make: Any = Forgetful
    request = RequestFactory().get("/")
    request.user = ours.users["owner"]
    with pytest.raises(ImproperlyConfigured):
        make(Team, admin.site).get_queryset(request)


def test_only_the_teams_own_compatible_accounts_hear(ours: Side, theirs: Side) -> None:
    agent = ours.one(Agent)
    openai = ProviderAccount.Kind.OPENAI
    own, foreign = (
        ProviderAccount.objects.create(team=side.team, name="Ears", kind=openai)
        for side in (ours, theirs)
    )
    client = Client()
    client.force_login(ours.users["editor"])
    page = reverse("admin:agents_agent_change", args=[agent.pk])
    offered = client.get(page).context["adminform"].form.fields["speech_account"].queryset
    assert list(offered) == [own]
    values = {**agent_values(agent), "hears_groups": "on", "speech_model": "whisper-large"}
    assert client.post(page, {**values, "speech_account": foreign.pk}).status_code == 200
    assert client.post(page, {**values, "speech_account": own.pk}).status_code == 302
    agent.refresh_from_db()
    assert (agent.speech_account, agent.speech_model, agent.hears_groups) == (
        own,
        "whisper-large",
        True,
    )
