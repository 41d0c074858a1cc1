"""`manage.py doctor`: what is wrong, with the fix, and nobody's words."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from agents.models import Agent, ProviderAccount
from agents.services import setup
from qanot_site.findings.registry import Finding, find_all
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An agent about which there is nothing to say."""
    monkeypatch.setenv("FAKE_KEY", "sk-fake")
    agent = factories.agent(name="Bee")
    account = factories.provider_account(team=agent.team, name="Work")
    factories.chain_link(agent=agent, account=account, model="claude-sonnet-5-5")
    return agent


def told() -> str:
    out = StringIO()
    call_command("doctor", "--about", "content", stdout=out, no_color=True)
    return out.getvalue()


def only() -> Finding:
    """Return the one finding that there is."""
    (finding,) = find_all("content")
    return finding


def test_healthy_deployment_has_no_findings(healthy: Agent) -> None:
    assert told() == "Nothing is wrong.\n"
    call_command("doctor", "--strict", "--about", "content", stdout=StringIO())


def test_case_prompt_budget_1_doctor_names_exact_counts_and_no_words(healthy: Agent) -> None:
    person = factories.person(team=healthy.team)
    factories.memory_document(agent=healthy, person=person, text="secret" * 4_166 + "mood")
    finding = only()
    assert (finding.code, finding.level) == ("memory.too_long", "warning")
    assert "25,000 characters" in finding.text
    assert "7,047 are left out" in finding.text
    (line, summary) = told().splitlines()
    assert line.startswith("warning memory.too_long  MEMORY.md of Bee about person ")
    assert "→ Have the agent" in line
    assert "secret" not in line
    assert summary == "1 warning · 0 notes"
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor", "--strict", "--about", "content", stdout=StringIO())


def test_persona_document_that_is_cut_is_named_and_an_archived_one_is_not(healthy: Agent) -> None:
    factories.agent_document(agent=healthy, name="SOUL.md", text="s" * 33_000)
    factories.agent_document(agent=healthy, name="SKILL.md", text="s" * 20_000)
    factories.agent_document(
        agent=healthy, name="BOOTSTRAP.md", text="s" * 33_000, archived_at=timezone.now()
    )
    finding = only()
    assert (finding.code, finding.subject) == ("documents.too_long", "SOUL.md of Bee")
    assert "33,000 characters" in finding.text
    assert "15,000 are left out" in finding.text


def test_agent_without_a_model_and_one_whose_accounts_are_off(healthy: Agent) -> None:
    factories.agent(name="Idle", team=healthy.team)
    ProviderAccount.objects.update(switched_off_at=timezone.now(), last_error_code="auth")
    found = {(finding.code, finding.subject): finding for finding in find_all("content")}
    assert set(found) == {
        ("agents.no_model", "Idle"),
        ("agents.no_model", "Bee"),
        ("accounts.switched_off", "Work"),
    }
    assert "no model" in found["agents.no_model", "Idle"].text
    assert "switched off" in found["agents.no_model", "Bee"].text
    assert "“auth”" in found["accounts.switched_off", "Work"].text


def test_account_that_a_person_switched_off_is_a_note_only(healthy: Agent) -> None:
    spare = factories.provider_account(
        team=healthy.team, switched_off_at=timezone.now(), switched_off_by=factories.user()
    )
    finding = only()
    assert (finding.code, finding.level) == ("accounts.switched_off", "note")
    assert finding.subject == str(spare)
    call_command("doctor", "--strict", "--about", "content", stdout=StringIO())


def test_key_that_cannot_be_read_is_named_by_its_place(
    healthy: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAKE_KEY")
    finding = only()
    assert (finding.code, finding.subject) == ("accounts.key_unreadable", "Work")
    assert "FAKE_KEY" in finding.text


def test_account_without_the_key_that_its_provider_wants(healthy: Agent) -> None:
    ProviderAccount.objects.update(preset="ollama", key_reference="")
    assert "accounts.no_key" not in [finding.code for finding in find_all("content")]
    ProviderAccount.objects.update(preset="groq")
    assert "accounts.no_key" in [finding.code for finding in find_all("content")]


@pytest.mark.parametrize(
    ("model", "window", "codes"),
    [
        ("claude-sonnet-5-5", 4_000, ["models.window_too_small"]),
        ("claude-sonnet-5-5", 90_000_000, ["models.window_too_large"]),
        ("our-own-model", 32_000, ["models.window_unknown"]),
    ],
)
def test_window_of_a_chain_is_looked_at(
    healthy: Agent, model: str, window: int, codes: list[str]
) -> None:
    healthy.chain_links.update(model=model, window_tokens=window, max_output_tokens=500)
    assert [finding.code for finding in find_all("content")] == codes


def test_archived_agents_are_left_alone(healthy: Agent) -> None:
    factories.agent(archived_at=timezone.now() - timedelta(days=1))
    assert find_all("content") == []


def test_name_of_somebodys_choosing_stays_in_its_line(healthy: Agent) -> None:
    factories.agent(name="Idle\nwarning x", team=healthy.team)
    assert len(told().splitlines()) == 2


def test_fresh_install_is_told_to_connect_a_model_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for known in setup.KEY_ACCOUNTS:
        monkeypatch.delenv(known.variable, raising=False)
    setup.ensure_first_team()
    assert only().code == "agents.no_model"
