"""Bots in the file: applied, exported and watched; a token is at most referred to."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent, AuditEvent, Team
from agents.services import managed
from qanot_site.findings.files import drift
from sessions.channels.telegram import tokens
from sessions.models import ChannelAccount
from tests import factories

pytestmark = pytest.mark.django_db

TOKEN = "123456789:AAsealed-token_of-this-bot"
AGENT = '[agents.bee]\nname = "Bee"\n'
BOT = f"""{AGENT}
[channels."Our bot"]
agent = "bee"
token_reference = "env:OUR_BOT_TOKEN"
access = "allowlist"
groups = "all"
pause_s = 2
bound_channels = ["-100123"]
"""


@pytest.fixture
def team() -> Team:
    return factories.team(name="Qanot", slug="qanot")


def apply(folder: Path, text: str, *options: str) -> None:
    path = folder / "qanot.toml"
    path.write_text(text)
    call_command("apply", str(path), "--team", "qanot", "--yes", *options)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(CommandError) as error:
        apply(folder, text)
    return str(error.value)


def test_bot_of_a_file_is_made_with_what_it_says(team: Team, tmp_path: Path) -> None:
    apply(tmp_path, BOT)
    bot = ChannelAccount.objects.get(team=team, channel="telegram")
    assert (bot.name, bot.agent) == ("Our bot", Agent.objects.get(slug="bee"))
    assert (bot.token_reference, bot.sealed_token) == ("env:OUR_BOT_TOKEN", "")
    assert (bot.access, bot.groups, bot.pause_s) == ("allowlist", "all", 2.0)
    assert bot.bound_channels == ["-100123"]
    assert bot.managed_by
    assert AuditEvent.objects.filter(action="config.applied", subject__contains=str(bot.pk))


def test_what_a_file_leaves_unsaid_is_as_in_a_new_bot(team: Team, tmp_path: Path) -> None:
    apply(tmp_path, BOT)
    short = f'{AGENT}\n[channels."Our bot"]\nagent = "bee"\ntoken_reference = "env:OUR_BOT_TOKEN"\n'
    ChannelAccount.objects.update(update_offset=7, username="our_bot")
    apply(tmp_path, short)
    bot = ChannelAccount.objects.get(team=team, channel="telegram")
    assert (bot.access, bot.groups, bot.bound_channels) == ("pairing", "mention", [])
    assert (bot.update_offset, bot.username) == (7, "our_bot")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('agent = "bea"', "there is no agent “bea”; did you mean “bee”?"),
        ('agent = "bee"\ntoken = "1:AAsecretsecret"', "there is no “token” here"),
        ('agent = "bee"\ngroups = "mentions"', "did you mean “mention”?"),
        ('agent = "bee"\ntoken_reference = "1:AAsecretsecret"', "env:NAME"),
        ('agent = "bee"', "say where its token stands"),
    ],
)
def test_mistakes_are_told_with_their_line(
    team: Team, tmp_path: Path, line: str, said: str
) -> None:
    told = refused(tmp_path, f"{AGENT}\n[channels.x]\n{line}\n")
    assert said in told
    assert not ChannelAccount.objects.exists()


def test_sealed_token_follows_no_change_of_address(team: Team, tmp_path: Path) -> None:
    agent = factories.agent(team=team, slug="bee", name="Bee")
    factories.telegram_account(agent=agent, name="x", sealed_token=tokens.seal_token(TOKEN))
    text = f'{AGENT}\n[channels.x]\nagent = "bee"\nbase_url = "https://bots.example.org"\n'
    assert "the stored token belongs to another address" in refused(tmp_path, text)


def test_export_says_the_same_and_holds_no_token(team: Team, tmp_path: Path) -> None:
    agent = factories.agent(team=team, slug="bee", name="Bee")
    bot = factories.telegram_account(
        agent=agent,
        name='The "first"',
        sealed_token=tokens.seal_token(TOKEN),
        answer_mode="partial",
        pause_s=0.5,
        bound_channels=["-1", "-2"],
    )
    path = tmp_path / "out.toml"
    call_command("export", str(path), "--team", "qanot", "--overwrite")
    text = path.read_text()
    assert TOKEN not in text
    assert bot.sealed_token not in text
    table: dict[str, Any] = tomllib.loads(text)["channels"]['The "first"']
    assert table == {
        "agent": "bee",
        "answer_mode": "partial",
        "access": "open",
        "bound_channels": ["-1", "-2"],
        "pause_s": 0.5,
    }
    with pytest.raises(SystemExit) as end:
        call_command("apply", str(path), "--check")
    assert end.value.code == 0


def test_change_on_the_page_is_drift(team: Team, tmp_path: Path) -> None:
    apply(tmp_path, BOT)
    assert list(drift()) == []
    ChannelAccount.objects.update(groups="off")
    (found,) = drift()
    assert found.code == "files.drift"
    bot = ChannelAccount.objects.get(channel="telegram")
    assert managed.drift(bot) == ("groups",)


def test_bot_that_a_file_forgets_is_released(team: Team, tmp_path: Path) -> None:
    apply(tmp_path, BOT)
    apply(tmp_path, AGENT)
    assert ChannelAccount.objects.get(channel="telegram").managed_by == ""
