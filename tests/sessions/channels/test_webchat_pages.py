"""The chat's page: who gets it, what it may load, how much that is."""

import gzip
import re
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone

from agents.models import Agent, Membership
from agents.services import people
from sessions import conversations
from sessions.channels.webchat.views import MODULES
from sessions.models import ChannelAccount, ChatSession
from tests import factories
from tests.sessions.channels.webchat_rows import Someone, make_someone

pytestmark = pytest.mark.django_db

FIRST_LOAD_BYTES = 150_000
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def someone() -> Someone:
    return make_someone()


def conversation_of(someone: Someone) -> ChatSession:
    return conversations.open_direct(
        agent=someone.agent,
        account=conversations.channel_account(someone.team, ChannelAccount.Channel.WEBCHAT),
        person=people.person_of(someone.user, someone.team),
        thread=str(uuid4()),
    )


def test_stranger_is_led_to_the_login(client: Client) -> None:
    assert client.get("/chat/")["Location"] == "/login/?next=/chat/"


def test_own_conversation_is_shown(someone: Someone) -> None:
    session = conversation_of(someone)
    answer = someone.client.get(f"/chat/{session.public_id}/")
    assert answer.status_code == 200
    assert str(session.public_id) in answer.content.decode()


def test_conversation_of_another_team_is_not_there(someone: Someone) -> None:
    session = conversation_of(make_someone("bobur"))
    assert someone.client.get(f"/chat/{session.public_id}/").status_code == 404


def test_conversation_of_a_colleague_is_not_there(someone: Someone) -> None:
    session = conversation_of(make_someone("bobur", someone.team))
    assert someone.client.get(f"/chat/{session.public_id}/").status_code == 404


def test_superuser_does_not_read_others_conversations_here(someone: Someone) -> None:
    session = conversation_of(make_someone("bobur"))
    someone.user.is_superuser = True
    someone.user.save()
    assert someone.client.get(f"/chat/{session.public_id}/").status_code == 404


def test_conversation_is_gone_with_the_membership(someone: Someone) -> None:
    session = conversation_of(someone)
    Membership.objects.all().delete()
    assert someone.client.get(f"/chat/{session.public_id}/").status_code == 404


def test_unknown_conversation_is_not_there_and_the_page_is_ours(someone: Someone) -> None:
    answer = someone.client.get(f"/chat/{uuid4()}/")
    assert answer.status_code == 404
    assert b"There is nothing here" in answer.content


def test_agents_are_those_of_ones_teams(someone: Someone) -> None:
    make_someone("bobur")
    Agent.objects.create(team=someone.team, name="Old", slug="old", archived_at=timezone.now())
    page = someone.client.get("/chat/").context["page"]
    assert [agent["id"] for agent in page["agents"]] == [str(someone.agent.public_id)]


def test_without_an_agent_the_page_says_whom_to_ask(someone: Someone) -> None:
    Agent.objects.update(archived_at=timezone.now())
    assert b"Ask an owner of your team" in someone.client.get("/chat/").content


@pytest.mark.parametrize("role", [Membership.Role.OWNER, Membership.Role.EDITOR])
def test_page_knows_whether_an_agent_has_a_model_and_who_may_give_it_one(
    someone: Someone, role: str
) -> None:
    def agent() -> dict[str, object]:
        (found,) = someone.client.get("/chat/").context["page"]["agents"]
        return {name: found[name] for name in ("hasModel", "mayConnect")}

    assert agent() == {"hasModel": False, "mayConnect": False}
    Membership.objects.update(role=role)
    factories.chain_link(agent=someone.agent)
    assert agent() == {"hasModel": True, "mayConnect": True}


def test_names_are_escaped(someone: Someone) -> None:
    """web-security-1."""
    Agent.objects.update(name=HOSTILE, description=HOSTILE)
    Agent.objects.create(team=someone.team, name=HOSTILE, slug="two")
    someone.user.first_name = HOSTILE
    someone.user.save()
    someone.team.name = HOSTILE
    someone.team.save()
    content = someone.client.get("/chat/").content.decode()
    assert "<img src=x" not in content
    assert "&lt;img src=x" in content


def test_page_has_no_inline_code_and_a_strict_policy(someone: Someone) -> None:
    answer = someone.client.get("/chat/")
    content = answer.content.decode()
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy
    assert not re.search(r"\son\w+=|\sstyle=|<style", content)
    for attributes in re.findall(r"<script([^>]*)>", content):
        assert "src=" in attributes or 'type="application/json"' in attributes
    assert "http:" not in re.sub(r'xmlns="[^"]*"', "", content)


def test_first_load_is_small(someone: Someone) -> None:
    answer = someone.client.get("/chat/")
    content = answer.content.decode()
    addresses = set(re.findall(rf'(?:src|href)="{settings.STATIC_URL}([^"]+)"', content))
    files = [Path(str(finders.find(address))) for address in addresses]
    size = sum(len(gzip.compress(file.read_bytes())) for file in files)
    assert {f"chat/{name}.js" for name in ("main", "live", "answer")} <= addresses
    assert size + len(gzip.compress(answer.content)) <= FIRST_LOAD_BYTES


def test_every_module_that_is_imported_is_named_ahead() -> None:
    folder = Path(str(finders.find("chat/main.js"))).parent
    imported = {
        name
        for file in folder.glob("*.js")
        for name in re.findall(r'from "\.\.?/([^"]+)"', file.read_text())
    }
    named = {module.removeprefix("chat/") for module in MODULES}
    assert imported == named


def test_words_of_the_scripts_are_all_given(someone: Someone) -> None:
    texts = someone.client.get("/chat/").context["page"]["texts"]
    folder = Path(str(finders.find("chat/main.js"))).parent
    code = "".join(file.read_text() for file in folder.glob("*.js"))
    assert set(re.findall(r'\bt\("(\w+)"', code)) <= set(texts)
    assert {name for name in texts if f'"{name}"' not in code} == {"offline"}
