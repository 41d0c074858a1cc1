"""What is exported can be applied again, and says the same; no key and no person is in it."""

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent, AgentDocument, AuditEvent, ChainLink, ProviderAccount, Team
from agents.services import documents, managed, secrets, setup
from tests import factories

pytestmark = pytest.mark.django_db

EXAMPLE = Path(__file__).resolve().parents[3] / "deploy" / "qanot.toml.example"


@pytest.fixture
def team() -> Team:
    return factories.team(name="Qanot", slug="qanot")


def exported(team: Team, folder: Path) -> Path:
    path = folder / "out.toml"
    call_command("export", str(path), "--team", team.slug, "--overwrite")
    return path


def check(path: Path, *options: str) -> int:
    with pytest.raises(SystemExit) as end:
        call_command("apply", str(path), "--check", *options)
    return int(end.value.code or 0)


def contents(team: Team) -> list[tuple[str, managed.Parts]]:
    """Return all that a file may say of a team."""
    agents = Agent.objects.filter(team=team).order_by("slug")
    accounts = ProviderAccount.objects.filter(team=team).order_by("name")
    return [
        *((row.slug, managed.agent_parts(row)) for row in agents),
        *((row.name, managed.account_parts(row)) for row in accounts),
    ]


def scene(team: Team) -> Agent:
    """Make rows with all that is awkward to write down."""
    claude = factories.provider_account(
        team=team,
        name='The "first"',
        preset="anthropic",
        key_reference="",
        sealed_key=secrets.seal("sk-hidden-key"),
    )
    desk = factories.provider_account(
        team=team,
        name="On the desk",
        kind="openai",
        preset="ollama",
        key_reference="",
        base_url="",
        is_free=False,
        first_event_s=None,
        may_reach_private=True,
    )
    agent = factories.agent(
        team=team,
        name="Bee \\ “Ari”",
        slug="bee",
        description="# no comment",
        daily_cap_usd=None,
        max_iterations=7,
        prompt_preset="qanot",
        language="uz",
        time_zone="Asia/Tashkent",
        hears_groups=True,
        speech_account=desk,
        speech_model="whisper-large-v3",
    )
    for tool in ("remember_fact", "current_time"):
        factories.tool_grant(agent=agent, tool=tool)
    factories.chain_link(
        agent=agent,
        account=desk,
        position=5,
        model="qwen3:8b",
        effort="high",
        supports_tools=False,
        input_usd_mtok=Decimal("0.0500"),
        output_usd_mtok=Decimal(0),
    )
    factories.chain_link(agent=agent, account=claude, position=2, model="claude-sonnet-5-5")
    texts = {
        "SOUL.md": '\n\n"""quoted""" \\ and \\n\r\ttail  \n""',
        "IDENTITY.md": "'''one line'''",
        "X_TOOLS.md": "",
        "AGENTS.md": "# [agents.bee]\nname = 'no'\n",
    }
    for name, text in texts.items():
        document = AgentDocument(agent=agent, name=name)
        documents.save(document, text=text, author=None, reason="")
    person = factories.person(team=team)
    documents.save(
        AgentDocument(agent=agent, name="USER.md", person=person),
        text="Likes green tea.",
        author=None,
        reason="",
    )
    return agent


def test_what_is_exported_differs_in_nothing(team: Team, tmp_path: Path) -> None:
    scene(team)
    before = contents(team)
    path = exported(team, tmp_path)

    assert check(path) == 0
    call_command("apply", str(path), "--yes")

    assert contents(team) == before
    assert check(path) == 0


def test_another_team_made_from_it_exports_the_same(team: Team, tmp_path: Path) -> None:
    scene(team)
    text = exported(team, tmp_path).read_text(encoding="utf-8")
    other = factories.team(slug="other")
    call_command("apply", str(tmp_path / "out.toml"), "--team", "other")

    again = exported(other, tmp_path).read_text(encoding="utf-8")

    said, said_again = tomllib.loads(text), tomllib.loads(again)
    assert said.pop("team") == "qanot"
    assert said_again.pop("team") == "other"
    assert said_again == said
    # Where a key was sealed, nothing came along.
    assert not ProviderAccount.objects.filter(team=other).exclude(sealed_key="").exists()


def test_no_key_and_nobodys_private_text_is_in_it(team: Team, tmp_path: Path) -> None:
    agent = scene(team)
    text = exported(team, tmp_path).read_text(encoding="utf-8")
    assert "sk-hidden" not in text
    for account in ProviderAccount.objects.exclude(sealed_key=""):
        assert account.sealed_key not in text
    assert "green tea" not in text
    assert '# key_reference = "env:NAME_OF_A_VARIABLE"' in text
    event = AuditEvent.objects.get(action="export.made")
    assert (event.team_id, event.actor) == (agent.team_id, "command:export")


def test_archived_agents_and_documents_are_left_out(team: Team, tmp_path: Path) -> None:
    agent = scene(team)
    AgentDocument.objects.filter(name="AGENTS.md").update(archived_at=factories.NOON)
    factories.agent(team=team, slug="gone", archived_at=factories.NOON)
    said = tomllib.loads(exported(team, tmp_path).read_text(encoding="utf-8"))
    assert set(said["agents"]) == {agent.slug}
    assert "AGENTS.md" not in said["agents"]["bee"]["documents"]
    assert check(tmp_path / "out.toml") == 0


def test_a_file_is_not_replaced_by_accident(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("# mine", encoding="utf-8")
    with pytest.raises(CommandError, match="exists"):
        call_command("export", str(path))
    assert path.read_text(encoding="utf-8") == "# mine"


def test_the_export_is_shown_where_no_file_is_wished(
    team: Team, capsys: pytest.CaptureFixture[str]
) -> None:
    factories.agent(team=team, slug="bee")
    call_command("export", "-")
    assert tomllib.loads(capsys.readouterr().out)["agents"]["bee"]


def test_the_example_can_be_applied_to_an_empty_database(team: Team) -> None:
    call_command("apply", str(EXAMPLE))
    assert Agent.objects.filter(team=team).count() == 2
    assert ChainLink.objects.count() == 4
    helper = Agent.objects.get(slug="helper")
    assert set(managed.shared_documents(helper)) == {"SOUL.md", "IDENTITY.md", "TOOLS.md"}
    assert check(EXAMPLE) == 0


def test_the_example_can_be_applied_after_a_first_start() -> None:
    first = setup.ensure_first_team()
    call_command("apply", str(EXAMPLE))
    assert check(EXAMPLE) == 0
    # What the file does not name is people's.
    first.agent.refresh_from_db()
    assert first.agent.managed_by == ""
    setup.ensure_first_team()
    assert check(EXAMPLE) == 0


def test_a_fresh_team_can_be_taken_into_a_file(tmp_path: Path) -> None:
    first = setup.ensure_first_team()
    path = exported(first.team, tmp_path)
    assert check(path) == 0
    call_command("apply", str(path))
    first.agent.refresh_from_db()
    assert first.agent.managed_by == str(path)
    assert check(path) == 0


def test_a_first_start_with_a_key_adds_nothing_to_what_a_file_owns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = setup.ensure_first_team()
    path = exported(first.team, tmp_path)
    call_command("apply", str(path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    setup.ensure_first_team()
    assert ProviderAccount.objects.filter(team=first.team).exists()
    assert not first.agent.chain_links.exists()
