"""What is changed on pages stands in the audit log, with what it said before."""

from typing import Any

import pytest
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from agents.models import (
    Agent,
    AgentDocument,
    ApiToken,
    AuditEvent,
    ChainLink,
    DocumentProposal,
    Membership,
    ProviderAccount,
    Team,
    ToolGrant,
    User,
)
from tests.qanot_site.admin_scene import AGENT_DEFAULTS, PRIVATE, Role, Side, build_side

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


def agent_values(agent: Agent, **changed: Any) -> dict[str, Any]:
    """What the agent's page sends, with its chain and tools as they are."""
    link, grant = agent.chain_links.get(), agent.tool_grants.get()
    return {
        "name": agent.name,
        "slug": agent.slug,
        "language": "en",
        "time_zone": "UTC",
        "prompt_preset": "default",
        "max_iterations": 25,
        **AGENT_DEFAULTS,
        "daily_cap_usd": "5.00",
        "chain_links-TOTAL_FORMS": 1,
        "chain_links-INITIAL_FORMS": 1,
        "chain_links-0-id": link.pk,
        "chain_links-0-agent": agent.pk,
        "chain_links-0-account": link.account_id,
        "chain_links-0-model": link.model,
        "chain_links-0-position": link.position,
        "chain_links-0-window_tokens": link.window_tokens or "",
        "chain_links-0-max_output_tokens": link.max_output_tokens or "",
        "chain_links-0-supports_tools": link.supports_tools,
        "chain_links-0-supports_images": link.supports_images,
        "tool_grants-TOTAL_FORMS": 1,
        "tool_grants-INITIAL_FORMS": 1,
        "tool_grants-0-id": grant.pk,
        "tool_grants-0-agent": agent.pk,
        "tool_grants-0-tool": grant.tool,
        **changed,
    }


def told(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


def fields(event: AuditEvent) -> dict[str, list[Any]]:
    assert event.changes is not None
    found: dict[str, list[Any]] = event.changes["fields"]
    return found


def test_a_changed_agent_is_told_with_before_and_after(ours: Side) -> None:
    agent, editor = ours.one(Agent), ours.users["editor"]
    values = agent_values(agent, max_iterations=30)
    assert client_of(editor).post(address(agent), values).status_code == 302

    event = told("agent.changed")
    assert (event.team_id, event.actor, event.subject) == (
        ours.team.pk,
        f"user:{editor.pk}",
        f"agent:{agent.pk}",
    )
    assert fields(event) == {"max_iterations": [25, 30]}
    assert not AuditEvent.objects.filter(action__startswith="chainlink").exists()


def test_saving_without_a_change_tells_nothing(ours: Side) -> None:
    agent = ours.one(Agent)
    client = client_of(ours.users["editor"])
    before = AuditEvent.objects.count()
    answer = client.post(address(agent), agent_values(agent))
    assert answer.status_code == 302
    assert AuditEvent.objects.count() == before


def test_rows_of_inlines_are_told_one_by_one(ours: Side) -> None:
    agent = ours.one(Agent)
    grant, link = ours.one(ToolGrant), ours.one(ChainLink)
    values = agent_values(
        agent, **{"chain_links-0-model": "claude-y", "tool_grants-0-DELETE": "on"}
    )
    assert client_of(ours.users["editor"]).post(address(agent), values).status_code == 302

    changed, deleted = told("chainlink.changed"), told("toolgrant.deleted")
    assert fields(changed) == {"model": ["claude-x", "claude-y"]}
    assert (changed.subject, changed.reason) == (f"chainlink:{link.pk}", f"agent:{agent.pk}")
    assert deleted.subject == f"toolgrant:{grant.pk}"
    assert "current_time" in deleted.reason
    assert deleted.team_id == ours.team.pk


def test_a_new_agent_is_told_with_what_was_filled_in(ours: Side) -> None:
    values = {
        "team": ours.team.pk,
        "name": "New",
        "slug": "new",
        "language": "en",
        "time_zone": "UTC",
        "prompt_preset": "default",
        "max_iterations": 25,
        **AGENT_DEFAULTS,
    }
    client_of(ours.users["editor"]).post(address(Agent, "add"), values)
    event = told("agent.added")
    assert fields(event)["name"] == [None, "New"]
    assert fields(event)["team"][1] == f"{ours.team} (team:{ours.team.pk})"
    assert event.team_id == ours.team.pk


def test_a_refused_change_is_not_told(ours: Side) -> None:
    agent = ours.one(Agent)
    client = client_of(ours.users["editor"])
    before = AuditEvent.objects.count()
    refused = agent_values(agent, max_iterations=1000)
    assert client.post(address(agent), refused).status_code == 200
    assert AuditEvent.objects.count() == before


def test_a_new_key_is_told_without_the_key(ours: Side) -> None:
    account = ours.one(ProviderAccount)
    values = {"name": account.name, "prompt_cache": "5m", "new_key": "sk-zaytun-canary"}
    answer = client_of(ours.users["editor"]).post(address(account), values)
    assert answer.status_code == 302
    event = told("account.changed")
    assert fields(event) == {"new_key": ["", "set"]}
    assert "canary" not in str(AuditEvent.objects.values_list().order_by("-id")[:3])


def test_a_saved_document_is_told_by_version_and_length(ours: Side) -> None:
    document = AgentDocument.objects.get(agent__team=ours.team, name="SOUL.md")
    editor = ours.users["editor"]
    values = {"text": f"{PRIVATE} words", "reason": "Clearer"}
    assert client_of(editor).post(address(document), values).status_code == 302
    event = told("document.saved")
    assert fields(event)["version_number"] == [1, 2]
    assert PRIVATE not in str(event.changes) + event.reason
    # Once, not once more by the page.
    assert AuditEvent.objects.filter(action__startswith="document.").count() == 1


def test_decided_proposals_are_told(ours: Side) -> None:
    proposal = ours.one(DocumentProposal)
    decide = reverse("admin:agents_documentproposal_decide", args=[proposal.pk])
    client_of(ours.users["editor"]).post(decide, {"accept": "1", "seen_version": "0"})
    assert told("proposal.accepted").subject == f"proposal:{proposal.pk}"
    assert told("document.saved").actor == f"user:{ours.users['editor'].pk}"


def test_accounts_tokens_and_archived_rows_are_told(ours: Side) -> None:
    client = client_of(ours.users["owner"])
    for model, action in (
        (ProviderAccount, "switch_off_selected"),
        (ProviderAccount, "clear_selected"),
        (ApiToken, "revoke_selected"),
        (Agent, "archive_selected"),
    ):
        values = {"action": action, "_selected_action": [ours.one(model).pk]}
        client.post(address(model, "changelist"), values)
    for action in ("account.switched_off", "account.cleared", "token.revoked", "agent.archived"):
        event = told(action)
        assert (event.actor, event.team_id) == (f"user:{ours.users['owner'].pk}", ours.team.pk)


def test_memberships_are_told_when_changed_and_deleted(ours: Side) -> None:
    membership = Membership.objects.get(team=ours.team, role=Role.MEMBER)
    client = client_of(ours.users["owner"])
    client.post(address(membership), {"role": Role.OPERATOR, "may_view_private": "on"})
    event = told("membership.changed")
    # Whose it was can be read later, too.
    assert membership.user.username in event.reason
    assert fields(event) == {"role": ["member", "operator"], "may_view_private": [False, True]}
    client.post(address(membership, "delete"), {"post": "yes"})
    assert told("membership.deleted").subject == f"membership:{membership.pk}"
    assert told("membership.deleted").team_id == ours.team.pk


def test_a_team_is_told_under_itself(ours: Side) -> None:
    root = User.objects.create_superuser("root")
    values = {"name": "Third", "slug": "third", "time_zone": "UTC"}
    client_of(root).post(address(Team, "add"), values)
    assert told("team.added").team_id == Team.objects.get(slug="third").pk


def test_a_password_that_a_superuser_sets_is_told_without_it(ours: Side) -> None:
    root, member = User.objects.create_superuser("root"), ours.users["member"]
    page = reverse("admin:auth_user_password_change", args=[member.pk])
    secret = "quite another 1"
    answer = client_of(root).post(page, {"password1": secret, "password2": secret})
    assert answer.status_code == 302
    member.refresh_from_db()
    assert member.check_password(secret)
    event = told("password.changed")
    assert (event.team_id, event.actor) == (ours.team.pk, f"user:{root.pk}")
    assert not AuditEvent.objects.filter(changes__icontains=secret).exists()


def test_owners_let_others_read_private_texts_and_nobody_themselves(ours: Side) -> None:
    owner = ours.users["owner"]
    own = Membership.objects.get(user=owner)
    other = Membership.objects.get(user=ours.users["editor"])
    client = client_of(owner)

    refused = client.post(address(own), {"role": Role.OWNER, "may_view_private": "on"})
    assert refused.status_code == 200
    assert "Another owner" in refused.content.decode()
    granted = client.post(address(other), {"role": Role.EDITOR, "may_view_private": "on"})
    assert granted.status_code == 302
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.may_view_private, other.may_view_private) == (False, True)

    editors = client_of(ours.users["editor"]).post(
        address(own), {"role": Role.OWNER, "may_view_private": "on"}
    )
    assert editors.status_code == 403
