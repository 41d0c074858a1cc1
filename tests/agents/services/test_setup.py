"""What a fresh install begins with, and what a later start leaves alone."""

from pathlib import Path

import pytest

from agents.models import Agent, AgentDocument, ChainLink, Membership, ProviderAccount, Team, User
from agents.services import keys, setup

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in setup.KEY_ACCOUNTS:
        monkeypatch.delenv(known.variable, raising=False)
        monkeypatch.delenv(f"{known.variable}_FILE", raising=False)


def test_first_start_makes_a_team_an_owner_and_an_agent_with_a_persona() -> None:
    made = setup.ensure_first_team()
    membership = Membership.objects.get(user=made.owner, team=made.team)
    assert made.owner.is_superuser
    assert not made.owner.has_usable_password()
    assert membership.role == Membership.Role.OWNER
    assert made.owner.people.get().team == made.team
    names = made.agent.documents.values_list("name", flat=True)
    assert {"SOUL.md", "IDENTITY.md", "TOOLS.md"} <= set(names)
    assert set(made.agent.tool_grants.values_list("tool", flat=True)) == set(setup.FIRST_TOOLS)
    assert not ChainLink.objects.exists()


def test_later_start_changes_nothing_that_was_edited() -> None:
    first = setup.ensure_first_team()
    Agent.objects.update(name="Renamed")
    first.agent.tool_grants.filter(tool="remember_fact").delete()
    AgentDocument.objects.filter(name="TOOLS.md").update(text="Ours.")
    again = setup.ensure_first_team()
    assert (again.team, again.owner, again.agent) == (first.team, first.owner, first.agent)
    assert (Team.objects.count(), User.objects.count(), Agent.objects.count()) == (1, 1, 1)
    assert again.agent.name == "Renamed"
    assert not again.agent.tool_grants.filter(tool="remember_fact").exists()
    assert AgentDocument.objects.get(name="TOOLS.md").text == "Ours."


def test_key_in_the_environment_makes_an_account_that_only_names_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    made = setup.ensure_first_team()
    links = list(made.agent.chain_links.select_related("account"))
    assert [link.account.key_reference for link in links] == [
        "env:ANTHROPIC_API_KEY",
        "env:OPENAI_API_KEY",
    ]
    assert [link.position for link in links] == [0, 1]
    assert "secret" not in str(list(ProviderAccount.objects.values()))


def test_key_that_comes_later_joins_the_chain_once(monkeypatch: pytest.MonkeyPatch) -> None:
    setup.ensure_first_team()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    setup.ensure_first_team()
    ChainLink.objects.update(model="gpt-of-ours")
    setup.ensure_first_team()
    assert ChainLink.objects.get().model == "gpt-of-ours"


def test_key_in_a_file_makes_an_account_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("sk-secret\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "key"))

    made = setup.ensure_first_team()

    account = made.agent.chain_links.get().account
    assert (account.kind, account.sealed_key) == ("openai", "")
    assert keys.key_of(account) == "sk-secret"
