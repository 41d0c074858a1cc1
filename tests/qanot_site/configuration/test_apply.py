"""Applying a file: the whole way, from the command to the rows."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from agents.models import (
    Agent,
    AgentDocument,
    AuditEvent,
    ChainLink,
    ProviderAccount,
    Team,
    ToolGrant,
)
from agents.services import documents, managed, secrets
from qanot_site.configuration import applying
from qanot_site.configuration.errors import Overtaken
from qanot_site.configuration.reading import read
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db

FILE = """
[accounts.Claude]
preset = "anthropic"
key_reference = "env:CLAUDE_KEY"
prompt_cache = "1h"

[accounts."On the desk"]
preset = "ollama"

[agents.helper]
name = "Helper"
language = "uz"
time_zone = "Asia/Tashkent"
daily_cap_usd = 2.5
hears_groups = true
speech_account = "On the desk"
speech_model = "whisper-large-v3"
tools = ["remember_fact", "current_time"]

[[agents.helper.chain]]
account = "Claude"
model = "claude-sonnet-5-5"
window_tokens = 1_000_000
effort = "low"

[[agents.helper.chain]]
account = "On the desk"
model = "qwen3:8b"
supports_tools = false

[agents.helper.documents]
"SOUL.md" = \"\"\"
# Soul
Warm.
\"\"\"
"IDENTITY.md" = { file = "persona/IDENTITY.md" }
"""


@pytest.fixture
def team() -> Team:
    return factories.team(name="Qanot", slug="qanot")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a file and what it names."""
    (tmp_path / "persona").mkdir()
    (tmp_path / "persona" / "IDENTITY.md").write_text("Name: Helper\n", encoding="utf-8")
    (tmp_path / "qanot.toml").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def apply(*options: str) -> None:
    call_command("apply", "qanot.toml", *options)


def status(*options: str) -> int:
    """Return the status with which the command ends."""
    try:
        apply(*options)
    except SystemExit as end:
        return int(end.code or 0)
    except CommandError as error:
        return error.returncode
    return 0


def rewrite(folder: Path, old: str, new: str) -> None:
    text = (folder / "qanot.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "qanot.toml").write_text(text.replace(old, new), encoding="utf-8")


def helper() -> Agent:
    return Agent.objects.get(slug="helper")


def text_of(name: str) -> str:
    return AgentDocument.objects.get(agent=helper(), name=name).text


def test_a_file_makes_agents_with_all_that_it_says(team: Team, folder: Path) -> None:
    apply()

    agent = helper()
    assert (agent.team, agent.name, agent.language) == (team, "Helper", "uz")
    assert (agent.time_zone, agent.daily_cap_usd) == ("Asia/Tashkent", Decimal("2.5"))
    assert agent.managed_by == "qanot.toml"
    assert agent.speech_account is not None
    assert (agent.speech_account.name, agent.speech_model) == ("On the desk", "whisper-large-v3")
    assert agent.hears_groups
    tools = ToolGrant.objects.filter(agent=agent).values_list("tool", flat=True)
    assert sorted(tools) == ["current_time", "remember_fact"]
    first, second = ChainLink.objects.filter(agent=agent).order_by("position")
    assert (first.account.name, first.model, first.effort) == (
        "Claude",
        "claude-sonnet-5-5",
        "low",
    )
    assert (second.account.name, second.supports_tools) == ("On the desk", False)
    assert text_of("SOUL.md") == "# Soul\nWarm.\n"
    assert text_of("IDENTITY.md") == "Name: Helper\n"
    claude = ProviderAccount.objects.get(name="Claude")
    assert (claude.kind, claude.key_reference) == ("anthropic", "env:CLAUDE_KEY")
    assert (claude.prompt_cache, claude.managed_by) == ("1h", "qanot.toml")
    desk = ProviderAccount.objects.get(name="On the desk")
    # What the file leaves unsaid is as the preset has it.
    assert (desk.base_url, desk.is_free) == ("http://127.0.0.1:11434/v1", True)
    # Its own address is on this machine; another one would need the word of the file.
    assert desk.may_reach_private


def test_applying_twice_changes_nothing(
    team: Team, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apply()
    edited = ProviderAccount.objects.get(name="Claude").updated_at
    events = AuditEvent.objects.count()
    capsys.readouterr()

    apply()

    assert "Nothing to do." in capsys.readouterr().out
    assert ProviderAccount.objects.get(name="Claude").updated_at == edited
    assert AuditEvent.objects.count() == events
    assert AgentDocument.objects.get(agent=helper(), name="SOUL.md").version_number == 1


def test_a_check_tells_drift_by_its_status_and_writes_nothing(team: Team, folder: Path) -> None:
    assert status("--check") == 1
    assert not Agent.objects.exists()
    apply()
    assert status("--check") == 0

    Agent.objects.update(max_iterations=3)
    assert status("--check") == 1
    assert helper().max_iterations == 3
    apply()
    assert helper().max_iterations == 25

    (folder / "persona" / "IDENTITY.md").write_text("Name: Bee\n", encoding="utf-8")
    assert status("--check") == 1


def test_the_plan_shows_old_and_new_before_anything_is_written(
    team: Team, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apply()
    rewrite(folder, 'name = "Helper"', 'name = "Bee"')
    rewrite(folder, "Warm.", "Warm and brief.")
    rewrite(folder, '"remember_fact", ', "")
    rewrite(folder, 'model = "qwen3:8b"', 'model = "qwen3:14b"')
    capsys.readouterr()

    status("--check")

    plan = capsys.readouterr().out
    assert "~ agent helper" in plan
    assert "name: Helper → Bee" in plan
    assert "SOUL.md: 1 added, 1 removed" in plan
    assert "- Warm." in plan
    assert "+ Warm and brief." in plan
    assert "tools: - remember_fact" in plan
    assert "- 2. On the desk · qwen3:8b" in plan
    assert "+ 2. On the desk · qwen3:14b" in plan
    assert "= account Claude: the same" in plan
    assert "0 to add, 1 to change, 2 the same, 0 no longer in the file." in plan


def test_an_agent_without_a_cap_is_told(
    team: Team, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, "daily_cap_usd = 2.5", 'daily_cap_usd = "none"')
    apply()
    plan = capsys.readouterr().out
    assert "    daily_cap_usd: none\n" in plan
    assert "first_event_s: none" not in plan
    assert helper().daily_cap_usd is None


def test_one_mistake_and_nothing_is_written(team: Team, folder: Path) -> None:
    rewrite(folder, '\naccount = "On the desk"', '\naccount = "On the desks"')
    with pytest.raises(CommandError, match=r"qanot.toml:27: there is no account “On the desks”"):
        apply()
    assert not Agent.objects.exists()
    assert not ProviderAccount.objects.exists()


def test_what_somebody_changes_after_the_plan_stops_it(team: Team, folder: Path) -> None:
    apply()
    rewrite(folder, 'name = "Helper"', 'name = "Bee"')
    file = read(Path("qanot.toml"), name="qanot.toml")
    plan = applying.plan(file, team)
    Agent.objects.update(description="changed meanwhile")

    with pytest.raises(Overtaken):
        applying.apply(file, team, plan)

    assert helper().name == "Helper"


def test_a_stored_key_stays_unless_the_file_says_where_another_stands(
    team: Team, folder: Path
) -> None:
    sealed = secrets.seal("sk-stored")
    account = factories.provider_account(
        team=team, name="Claude", sealed_key=sealed, key_reference="", preset="anthropic"
    )
    rewrite(folder, 'key_reference = "env:CLAUDE_KEY"\n', "")
    apply()
    account.refresh_from_db()
    assert (account.sealed_key, account.managed_by) == (sealed, "qanot.toml")

    rewrite(
        folder, 'preset = "anthropic"', 'preset = "anthropic"\nbase_url = "https://evil.example"'
    )
    with pytest.raises(CommandError, match=r"qanot.toml:4: the stored key belongs to another addr"):
        apply()

    rewrite(folder, 'https://evil.example"', 'https://house.example"\nkey_reference = "env:HOUSE"')
    apply()
    account.refresh_from_db()
    assert (account.sealed_key, account.key_reference) == ("", "env:HOUSE")


def test_what_the_file_no_longer_names_goes_back_to_people(
    team: Team, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apply()
    (folder / "qanot.toml").write_text("", encoding="utf-8")
    assert status("--check") == 1
    assert "no longer in the file" in capsys.readouterr().out

    apply()

    agent = helper()
    assert (agent.managed_by, agent.managed_mark, agent.archived_at) == ("", None, None)
    assert text_of("SOUL.md") == "# Soul\nWarm.\n"
    assert status("--check") == 0


def test_missing_agents_are_archived_only_when_asked(team: Team, folder: Path) -> None:
    apply()
    text = (folder / "qanot.toml").read_text(encoding="utf-8")
    (folder / "qanot.toml").write_text("", encoding="utf-8")
    apply("--archive-missing")
    assert helper().archived_at is not None

    (folder / "qanot.toml").write_text(text, encoding="utf-8")
    assert status("--check") == 1
    apply()
    assert helper().archived_at is None
    assert status("--check") == 0


def test_a_document_that_leaves_the_file_is_put_away_with_its_versions(
    team: Team, folder: Path
) -> None:
    apply()
    rewrite(folder, '"IDENTITY.md" = { file = "persona/IDENTITY.md" }', "")
    apply()
    identity = AgentDocument.objects.get(agent=helper(), name="IDENTITY.md")
    assert identity.archived_at is not None
    assert identity.text == "Name: Helper\n"
    assert status("--check") == 0

    rewrite(folder, "[agents.helper.documents]", '[agents.helper.documents]\n"IDENTITY.md" = "New"')
    apply()
    identity.refresh_from_db()
    assert (identity.archived_at is None, identity.text) == (True, "New")


def test_the_first_conversation_puts_its_text_away_and_that_is_no_drift(
    team: Team, folder: Path
) -> None:
    rewrite(folder, "[agents.helper.documents]", '[agents.helper.documents]\n"BOOTSTRAP.md" = "Hi"')
    apply()
    agent = helper()
    AgentDocument.objects.filter(agent=agent, name="BOOTSTRAP.md").update(archived_at=NOON)

    assert managed.drift(agent) == ()
    assert status("--check") == 0
    apply()
    bootstrap = AgentDocument.objects.get(agent=agent, name="BOOTSTRAP.md")
    assert bootstrap.archived_at == NOON


def test_what_is_one_persons_stays_theirs(team: Team, folder: Path) -> None:
    apply()
    agent = helper()
    person = factories.person(team=team)
    about = AgentDocument(agent=agent, name="USER.md", person=person)
    documents.save(about, text="Likes tea.", author=None, reason="told")
    apply()
    about.refresh_from_db()
    assert (about.text, about.archived_at) == ("Likes tea.", None)
    assert status("--check") == 0


def test_another_files_rows_change_hands_only_when_told(team: Team, folder: Path) -> None:
    apply()
    (folder / "other.toml").write_text('[agents.helper]\nname = "Mine"\n', encoding="utf-8")
    with pytest.raises(CommandError, match=r"Other files own agent “helper” \(qanot.toml\)"):
        call_command("apply", "other.toml")
    call_command("apply", "other.toml", "--take-over")
    assert (helper().name, helper().managed_by) == ("Mine", "other.toml")
    assert AgentDocument.objects.get(agent=helper(), name="SOUL.md").archived_at is not None


def test_one_spelling_of_a_path_is_one_file(team: Team, folder: Path) -> None:
    apply()
    call_command("apply", "./qanot.toml")
    assert helper().managed_by == "qanot.toml"


def test_a_team_must_be_named_where_there_are_several(team: Team, folder: Path) -> None:
    other = factories.team(slug="other")
    with pytest.raises(CommandError, match="Say which team"):
        apply()
    rewrite(folder, "[accounts.Claude]", 'team = "qanot"\n[accounts.Claude]')
    apply()
    assert helper().team == team
    apply("--team", "other")
    assert Agent.objects.filter(team=other, slug="helper").exists()
    with pytest.raises(CommandError, match="no team “qanto”; did you mean “qanot”"):
        apply("--team", "qanto")


def test_another_teams_account_is_unknown(team: Team, folder: Path) -> None:
    stranger = factories.team()
    factories.provider_account(team=stranger, name="Theirs")
    rewrite(folder, '\naccount = "On the desk"', '\naccount = "Theirs"')
    assert status("--team", "qanot") == 2


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            "On the dsk",
            "qanot.toml:16: there is no account “On the dsk”; did you mean “On the desk”",
        ),
        ("Claude", "voice messages are heard by OpenAI-compatible accounts only"),
    ],
)
def test_voice_messages_need_an_account_that_hears(
    team: Team, folder: Path, named: str, said: str
) -> None:
    rewrite(folder, 'speech_account = "On the desk"', f'speech_account = "{named}"')
    with pytest.raises(CommandError, match=said):
        apply()
    assert not Agent.objects.exists()


def test_who_hears_changes_with_the_file(team: Team, folder: Path) -> None:
    apply()
    rewrite(folder, 'speech_account = "On the desk"\n', "")
    assert status("--check") == 1
    apply()
    assert helper().speech_account is None


def test_applying_is_told_in_the_audit_log_without_texts_and_keys(team: Team, folder: Path) -> None:
    apply()
    event = AuditEvent.objects.get(action="config.applied", subject=f"agent:{helper().pk}")
    assert (event.team_id, event.actor, event.reason) == (team.pk, "command:apply", "qanot.toml")
    fields = (event.changes or {})["fields"]
    assert fields["name"] == [None, "Helper"]
    assert fields["managed_by"] == ["", "qanot.toml"]
    assert fields["documents/SOUL.md"] == ["", "13 characters"]
    assert "Warm" not in str(event.changes)


def test_a_refusal_and_a_difference_have_statuses_of_their_own(team: Team, folder: Path) -> None:
    rewrite(folder, 'language = "uz"', 'langauge = "uz"')
    assert status("--check") == 2
    with pytest.raises(CommandError, match=r"qanot.toml:12: .*“langauge”.*“language”"):
        apply()


def test_a_database_that_is_away_is_no_difference(
    team: Team, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: object) -> Team:
        raise OperationalError("connection refused")

    monkeypatch.setattr("qanot_site.management.commands.apply.team_of", away)
    assert status("--check") == 2


def test_people_are_asked_before_anything_is_written(
    team: Team, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal:
        def __init__(self, answer: str) -> None:
            self.answer = answer

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self.answer

    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert status() == 1
    assert not Agent.objects.exists()
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert status() == 0
    assert helper().name == "Helper"
