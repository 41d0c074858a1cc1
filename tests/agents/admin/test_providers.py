"""An account's own page: how it stands, and its key, which nobody sees again."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.core.errors import AuthenticationFailed, Overloaded
from agents.models import Agent, Membership, ProviderAccount, User
from agents.services import cool_downs, keys, secrets
from tests import factories
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Refusal

pytestmark = pytest.mark.django_db

KEY = "sk-zaytun-0123456789ab12"
MOVED = "https://elsewhere.example/v1"


@pytest.fixture
def agent() -> Agent:
    return factories.agent()


@pytest.fixture
def account(agent: Agent) -> ProviderAccount:
    return factories.provider_account(
        team=agent.team,
        kind=ProviderAccount.Kind.OPENAI,
        base_url="https://house.example/v1",
        key_reference="",
        sealed_key=secrets.seal(KEY),
    )


@pytest.fixture
def root() -> Client:
    return client_of(User.objects.create_superuser("root"))


@pytest.fixture
def editor(agent: Agent) -> Client:
    role = Membership.Role.EDITOR
    return client_of(factories.membership(team=agent.team, role=role).user)


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake
        fake.assert_done()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(account: ProviderAccount) -> str:
    return reverse("admin:agents_provideraccount_change", args=[account.pk])


def shown(client: Client, account: ProviderAccount) -> str:
    page = client.get(address(account)).content.decode()
    assert KEY not in page
    return page


def save(client: Client, account: ProviderAccount, **values: Any) -> int:
    """Send the page's form; return the status: 302 where it was saved."""
    kept = {
        "name": account.name,
        "base_url": account.base_url,
        "prompt_cache": "5m",
        "key_reference": account.key_reference,
    }
    answer = client.post(address(account), {**kept, **values})
    assert KEY not in answer.content.decode()
    account.refresh_from_db()
    return answer.status_code


def press(client: Client, account: ProviderAccount, button: str) -> None:
    assert save(client, account, **{f"agents_provideraccount_{button}": "1"}) == 302


# --- the key -----------------------------------------------------------------------------------


def test_of_a_key_no_letter_is_shown(editor: Client, account: ProviderAccount) -> None:
    assert re.search(r">\s*stored\s*<", shown(editor, account))


def test_a_key_sealed_under_another_secret_is_said_so(
    editor: Client, account: ProviderAccount
) -> None:
    account.sealed_key = "gAAAAABmnothing"
    account.save()
    assert "cannot be opened any more" in shown(editor, account)


def test_a_new_key_takes_the_old_ones_place(editor: Client, account: ProviderAccount) -> None:
    assert save(editor, account, new_key="sk-new-000000000000") == 302
    assert keys.key_of(account) == "sk-new-000000000000"
    assert "sk-new" not in account.sealed_key
    assert "sk-new" not in LogEntry.objects.get().change_message


def test_saving_without_a_new_key_keeps_the_old_one(
    editor: Client, account: ProviderAccount
) -> None:
    assert save(editor, account, name="Renamed") == 302
    assert account.name == "Renamed"
    assert keys.key_of(account) == KEY


@pytest.mark.parametrize("who", ["editor", "root"])
def test_a_stored_key_follows_no_change_of_address(
    request: pytest.FixtureRequest, who: str, account: ProviderAccount
) -> None:
    client = request.getfixturevalue(who)
    assert save(client, account, base_url=MOVED) == 200
    assert account.base_url == "https://house.example/v1"
    assert save(client, account, base_url="") == 200
    assert save(client, account, base_url=MOVED, new_key="sk-new") == 302
    assert (account.base_url, keys.key_of(account)) == (MOVED, "sk-new")


def test_references_and_where_they_are_sent_are_for_superusers(
    editor: Client, root: Client, agent: Agent
) -> None:
    account = factories.provider_account(
        team=agent.team, kind=ProviderAccount.Kind.OPENAI, key_reference="env:HOUSE_KEY"
    )
    assert save(editor, account, base_url=MOVED) == 200
    assert save(editor, account, key_reference="env:QANOT_SECRET_KEY") == 302
    assert (account.base_url, account.key_reference) == ("", "env:HOUSE_KEY")
    assert save(root, account, base_url=MOVED, key_reference="env:OTHER_KEY") == 302
    assert (account.base_url, account.key_reference) == (MOVED, "env:OTHER_KEY")
    # With a key of their own, an editor may go elsewhere: the reference stays behind.
    assert save(editor, account, base_url="https://mine.example", new_key="sk-own") == 302
    assert (account.key_reference, keys.key_of(account)) == ("", "sk-own")


def test_a_reference_takes_the_stored_keys_place(
    root: Client, account: ProviderAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", "sk-house")
    assert save(root, account, key_reference="env:HOUSE_KEY") == 302
    assert (account.sealed_key, keys.key_of(account)) == ("", "sk-house")


def test_private_addresses_last_until_somebody_else_changes_them(
    editor: Client, root: Client, account: ProviderAccount
) -> None:
    assert save(root, account, base_url="http://10.0.0.9/v1", new_key=KEY) == 302
    assert account.may_reach_private
    assert save(editor, account, name="Renamed") == 302
    assert account.may_reach_private
    assert save(editor, account, base_url="http://10.0.0.7/v1", new_key=KEY) == 302
    assert not account.may_reach_private


def test_hosts_without_a_dot_are_addresses(root: Client, account: ProviderAccount) -> None:
    assert save(root, account, base_url="ollama:11434/v1", new_key=KEY) == 302
    assert account.base_url == "http://ollama:11434/v1"
    assert save(root, account, base_url="ftp://x", new_key=KEY) == 200


# --- how it stands -----------------------------------------------------------------------------


def test_the_page_says_how_an_account_stands_and_why(
    editor: Client, account: ProviderAccount
) -> None:
    assert "Ready." in shown(editor, account)
    cool_downs.note_failure(account.pk, Overloaded("503: <b>busy</b>"))
    page = shown(editor, account)
    assert "Cooling down until" in page
    assert "after 1 failures in a row" in page
    assert "&lt;b&gt;busy&lt;/b&gt;" in page
    cool_downs.note_failure(account.pk, AuthenticationFailed("401: no"))
    page = shown(editor, account)
    assert "Switched off by the platform" in page
    assert "The key was not accepted." in page


def test_switching_off_and_clearing_names_the_person(
    editor: Client, account: ProviderAccount
) -> None:
    press(editor, account, "switch_account_off")
    assert account.switched_off_by is not None
    assert f"Switched off by {account.switched_off_by}" in shown(editor, account)
    press(editor, account, "clear_account")
    assert account.switched_off_at is None
    assert account.switched_off_by_id is None
    assert "Ready." in shown(editor, account)


def test_the_list_shows_states_and_last_errors(editor: Client, account: ProviderAccount) -> None:
    cool_downs.note_failure(account.pk, AuthenticationFailed("no"))
    page = editor.get(reverse("admin:agents_provideraccount_changelist")).content.decode()
    assert "switched off" in page
    assert "The key was not accepted." in page


def test_testing_again_puts_it_back_into_use(
    root: Client, agent: Agent, account: ProviderAccount, server: FakeOpenAI
) -> None:
    save(root, account, base_url=server.base_url, new_key=KEY)
    factories.chain_link(agent=agent, account=account, model="house-model")
    cool_downs.note_failure(account.pk, AuthenticationFailed("no"))
    server.play("OK")
    press(root, account, "test_account")
    assert server.last.body["model"] == "house-model"
    assert (account.switched_off_at, account.failures) == (None, 0)
    assert account.tested_at is not None


def test_a_test_that_fails_changes_nothing(
    root: Client, agent: Agent, account: ProviderAccount, server: FakeOpenAI
) -> None:
    save(root, account, base_url=server.base_url, new_key=KEY)
    factories.chain_link(agent=agent, account=account)
    shown(root, account)  # and with it what came of the save
    server.play(Refusal(401, {"error": {"message": f"bad key {KEY}"}}))
    press(root, account, "test_account")
    page = root.get(address(account)).content.decode()
    assert "The key was not accepted." in page
    assert "was changed successfully" not in page
    assert KEY not in page
    assert account.tested_at is None


# --- the agent's chain -------------------------------------------------------------------------


def test_the_chain_shows_states_prices_and_the_days_money(
    editor: Client, agent: Agent, account: ProviderAccount
) -> None:
    factories.chain_link(agent=agent, account=account, model="gpt-4o")
    resting = factories.provider_account(
        team=agent.team, cool_until=timezone.now() + timedelta(minutes=5)
    )
    factories.chain_link(
        agent=agent, account=resting, model="house", input_usd_mtok="1.5", output_usd_mtok="6"
    )
    factories.usage_record(agent_id=agent.pk, team_id=agent.team_id, cost_usd="0.12")
    page = editor.get(reverse("admin:agents_agent_change", args=[agent.pk])).content.decode()
    assert "gpt-4o · ready · $2.50 in · $10 out" in page
    assert "house · cooling down until" in page
    assert "$1.50 in · $6 out" in page
    assert "Daily cap $5.00 · spent today $0.12 · starts anew 00:00 (UTC)" in page
    assert f"/admin/agents/provideraccount/connect/?agent={agent.pk}" in page
