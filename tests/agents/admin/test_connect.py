"""Connecting a model: the page and each of its steps, against servers on loopback."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from agents.core.messages import JsonObject
from agents.models import Agent, ChainLink, Membership, ProviderAccount, UsageRecord, User
from agents.services import keys
from tests import factories
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Refusal

pytestmark = pytest.mark.django_db

KEY = "sk-zaytun-0123456789abcdef"
NAME = "admin:agents_provideraccount_connect"
STEPS = ("ollama", "test", "save")
NO_MODEL: JsonObject = {"error": {"message": "no such model"}}
REFUSED_KEY: JsonObject = {
    "error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}
}


@pytest.fixture
def agent() -> Agent:
    return factories.agent(name="Bee")


@pytest.fixture
def root() -> Client:
    return client_of(User.objects.create_superuser("root"))


@pytest.fixture
def editor(agent: Agent) -> Client:
    return client_of(member(agent, Membership.Role.EDITOR))


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        fake.models = [{"id": "gpt-6-sol"}, {"id": "house-model"}]
        yield fake
        fake.assert_done()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def member(agent: Agent, role: str) -> User:
    return factories.membership(team=agent.team, role=role).user


def step(client: Client, name: str, agent: Agent, **values: str) -> dict[str, Any]:
    answer = client.post(reverse(f"{NAME}_{name}"), {"agent": agent.pk, **values})
    assert answer.status_code == 200
    assert KEY not in answer.content.decode()
    told: dict[str, Any] = answer.json()
    return told


def compatible(server: FakeOpenAI | FakeOllama, **values: str) -> dict[str, str]:
    return {"preset": "compatible", "base_url": server.base_url, "key": KEY, **values}


# --- the way from a key to an answer -----------------------------------------------------------


def test_a_pasted_key_becomes_a_sealed_account_and_a_place_in_the_chain(
    root: Client, agent: Agent, server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    server.play("OK")
    tested = step(root, "test", agent, **compatible(server))
    assert tested["ok"]
    assert tested["chosen"] == "gpt-6-sol"
    assert [row["name"] for row in tested["models"]] == ["gpt-6-sol", "house-model"]
    assert server.keys[-1] == f"Bearer {KEY}"

    values = compatible(server, model="gpt-6-sol", ticket=tested["ticket"])
    saved = step(root, "save", agent, **values)

    assert saved["ok"]
    link = ChainLink.objects.select_related("account").get(agent=agent)
    account = link.account
    assert (link.model, account.kind, account.preset) == ("gpt-6-sol", "openai", "compatible")
    assert account.base_url == server.base_url
    assert account.tested_at is not None
    assert KEY not in account.sealed_key
    assert keys.key_of(account) == KEY
    # The ticket spared a second question.
    assert len(server.requests) == 1
    history = LogEntry.objects.get()
    assert KEY not in f"{history.change_message} {history.object_repr}"
    assert KEY not in caplog.text


def test_what_a_test_cost_stands_in_the_ledger(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    server.play("OK")
    step(root, "test", agent, **compatible(server, model="gpt-6-sol"))
    row = UsageRecord.objects.get()
    assert (row.kind, row.agent_id, row.team_id) == ("test", agent.pk, agent.team_id)
    assert row.output_tokens == 5


def test_saving_what_was_not_tested_asks_first(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    server.play("OK")
    tested = step(root, "test", agent, **compatible(server))
    # The ticket is for another model, and then for another key.
    server.play(Refusal(404, NO_MODEL))
    other = compatible(server, model="house-model", ticket=tested["ticket"])
    assert not step(root, "save", agent, **other)["ok"]
    server.play(Refusal(401, REFUSED_KEY))
    wrong = compatible(server, model="gpt-6-sol", ticket=tested["ticket"], key="sk-other")
    assert not step(root, "save", agent, **wrong)["ok"]
    assert not ProviderAccount.objects.exists()


def test_saving_without_a_test_says_so_in_the_row(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    values = compatible(server, model="house-model", is_untested="on")
    assert step(root, "save", agent, **values)["ok"]
    account = ProviderAccount.objects.get()
    assert account.tested_at is None
    assert not server.requests


def test_connecting_again_makes_nothing_double(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    for model in ("a", "b", "a"):
        step(root, "save", agent, **compatible(server, model=model, is_untested="on"))
    step(root, "save", agent, **compatible(server, model="c", is_untested="on", key="sk-other"))
    assert [row.name for row in ProviderAccount.objects.order_by("id")] == [
        "OpenAI-compatible",
        "OpenAI-compatible 2",
    ]
    links = ChainLink.objects.order_by("position")
    assert [(row.position, row.model) for row in links] == [(1, "a"), (2, "b"), (3, "c")]


def test_a_model_may_be_asked_first(root: Client, agent: Agent, server: FakeOpenAI) -> None:
    for model, first in (("a", ""), ("b", "on"), ("a", "on")):
        values = compatible(server, model=model, is_untested="on", is_first=first)
        step(root, "save", agent, **values)
    links = ChainLink.objects.order_by("position")
    assert [(row.position, row.model) for row in links] == [(1, "a"), (2, "b")]


def test_another_model_of_a_stored_account_needs_no_key(
    root: Client, editor: Client, agent: Agent, server: FakeOpenAI
) -> None:
    step(root, "save", agent, **compatible(server, model="a", is_untested="on"))
    account = ProviderAccount.objects.get()
    server.play("OK")
    told = step(editor, "save", agent, account=str(account.pk), model="b")
    assert told["ok"]
    assert server.keys[-1] == f"Bearer {KEY}"
    assert ProviderAccount.objects.count() == 1


def test_a_success_puts_a_switched_off_account_back_into_use(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    step(root, "save", agent, **compatible(server, model="a", is_untested="on"))
    ProviderAccount.objects.update(failures=3, switched_off_at=factories.NOON, last_error="no")
    server.play("OK")
    step(root, "save", agent, **compatible(server, model="a"))
    account = ProviderAccount.objects.get()
    assert (account.failures, account.switched_off_at, account.last_error) == (0, None, "")


# --- what goes wrong ---------------------------------------------------------------------------


def test_a_server_that_leads_elsewhere_is_named(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    away = Refusal(308, None, headers={"Location": f"https://models.example/v1?key={KEY}"})
    server.play(away)
    server.list_refusal = away
    for model in ("", "house-model"):
        told = step(root, "test", agent, **compatible(server, model=model))
        assert told["title"] == "The server sends on to another address. Use that one."
        assert told["advice"] == "https://models.example"
        # The second one is a call to a model.
        server.list_refusal = None


def test_an_address_closed_to_all_is_not_promised_to_superusers(root: Client, agent: Agent) -> None:
    values = {"preset": "compatible", "key": KEY, "model": "m"}
    told = step(root, "test", agent, base_url="http://169.254.169.254/v1", **values)
    assert told["title"] == "This address may not be asked."
    assert "closed to everybody, unless QANOT_PRIVATE_HOSTS lists it" in told["advice"]
    assert "superuser" not in told["advice"]


@pytest.mark.parametrize(
    ("status", "body", "title"),
    [
        (401, REFUSED_KEY, "The key was not accepted."),
        (402, {"error": {"message": "pay"}}, "The account has no credit or quota left."),
        (429, {"error": {"message": "slow down"}}, "Too many requests right now."),
        (503, {"error": {"message": "busy"}}, "The provider cannot be reached, or is busy."),
        (404, {"error": {"message": "no <b>model</b>"}}, "The provider refused the request."),
    ],
)
def test_errors_come_in_words_with_what_the_provider_said(
    root: Client, agent: Agent, server: FakeOpenAI, status: int, body: Any, title: str
) -> None:
    server.play(Refusal(status, body))
    told = step(root, "test", agent, **compatible(server, model="house-model"))
    assert not told["ok"]
    assert told["title"] == title
    assert told["advice"]
    assert str(status) in told["said"]


def test_nobody_at_the_address_is_said_so(root: Client, agent: Agent) -> None:
    with FakeOpenAI() as gone:
        address = gone.base_url
    told = step(root, "test", agent, preset="local", base_url=address)
    assert told["title"] == "The provider cannot be reached, or is busy."
    assert told["advice"] == "Does the server run, and is the address right?"


def test_missing_fields_are_named(root: Client, agent: Agent) -> None:
    assert set(step(root, "test", agent, preset="openai")["errors"]) == {"key"}
    assert set(step(root, "test", agent, preset="compatible")["errors"]) == {"base_url"}
    assert set(step(root, "test", agent, preset="nonsense")["errors"]) == {"preset"}
    told = step(root, "test", agent, preset="local", base_url="ftp://x")
    assert set(told["errors"]) == {"base_url"}


def test_a_hosted_presets_address_is_not_the_posted_one(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    values = {"preset": "groq", "base_url": server.base_url, "key": KEY}
    step(root, "save", agent, **values, model="m", is_untested="on")
    assert ProviderAccount.objects.get().base_url == "https://api.groq.com/openai/v1"


# --- Ollama ------------------------------------------------------------------------------------


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    small = FakeModel("gemma3:1b", can=("completion",), window=4_096)
    with FakeOllama(FakeModel("qwen3:4b", window=40_960), small) as fake:
        yield fake


def test_ollama_is_found_with_its_models(root: Client, agent: Agent, ollama: FakeOllama) -> None:
    told = step(root, "ollama", agent, base_url=ollama.base_url)
    assert told["is_there"]
    rows = {row["name"]: row for row in told["models"]}
    assert rows["qwen3:4b"]["price"] == "free"
    assert "cannot use tools" in rows["gemma3:1b"]["warning"]


def test_where_no_ollama_runs_it_is_not_there(root: Client, agent: Agent) -> None:
    with FakeOllama() as gone:
        address = gone.base_url
    assert not step(root, "ollama", agent, base_url=address)["is_there"]


def test_one_click_connects_a_model_of_ollama_with_its_real_window(
    root: Client, agent: Agent, ollama: FakeOllama
) -> None:
    values = {"preset": "ollama", "base_url": ollama.base_url}
    assert step(root, "save", agent, **values, model="qwen3:4b")["ok"]
    link = ChainLink.objects.select_related("account").get()
    assert (link.window_tokens, link.supports_tools) == (40_960, True)
    assert link.account.is_free
    assert link.account.first_event_s == 300
    assert link.account.sealed_key == ""
    assert UsageRecord.objects.get().cost_usd == Decimal(0)

    told = step(root, "save", agent, **values, model="gemma3:1b")
    link = ChainLink.objects.get(model="gemma3:1b")
    assert (link.window_tokens, link.supports_tools) == (4_096, False)
    assert "window is small" in told["model"]["warning"]
    assert ProviderAccount.objects.count() == 1


# --- who may -----------------------------------------------------------------------------------


def test_editors_connect_with_their_own_key_to_public_addresses_only(
    editor: Client, agent: Agent, server: FakeOpenAI
) -> None:
    told = step(editor, "test", agent, **compatible(server))
    assert told["title"] == "This address may not be asked."
    assert not server.requests
    closed = step(editor, "test", agent, **compatible(server, base_url="http://127.0.0.1:9/v1"))
    # Whether somebody listens there is not to be learned.
    assert closed == told
    step(editor, "save", agent, **compatible(server, model="m", is_untested="on"))
    assert not ProviderAccount.objects.get().may_reach_private


def test_superusers_reach_private_addresses_that_they_give(
    root: Client, agent: Agent, server: FakeOpenAI
) -> None:
    step(root, "save", agent, **compatible(server, model="m", is_untested="on"))
    step(root, "save", agent, preset="openai", key=KEY, model="m", is_untested="on")
    given = {row.preset: row.may_reach_private for row in ProviderAccount.objects.all()}
    assert given == {"compatible": True, "openai": False}


def test_only_superusers_name_variables_and_files(
    root: Client,
    editor: Client,
    agent: Agent,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    values = {**compatible(server, model="m"), "key": "", "key_reference": "env:HOUSE_KEY"}
    for refused in (values, {**values, "key": KEY}, {**values, "preset": "openai"}):
        assert set(step(editor, "save", agent, **refused)["errors"]) == {"key_reference"}
    server.play("OK")
    assert step(root, "save", agent, **values)["ok"]
    assert server.keys[-1] == f"Bearer {KEY}"
    account = ProviderAccount.objects.get()
    assert (account.key_reference, account.sealed_key) == ("env:HOUSE_KEY", "")


@pytest.mark.parametrize(
    ("reference", "language", "advice"),
    [
        ("env:NO_SUCH_KEY", "en", "The environment variable NO_SUCH_KEY is not set."),
        ("env:NO_SUCH_KEY", "tr", "NO_SUCH_KEY ortam değişkeni tanımlı değil."),
        ("env:QANOT_HOME", "en", "QANOT_HOME belongs to the platform itself."),
        ("file:/no/such", "en", "The file /no/such cannot be read: No such file or directory."),
        ("file:/tmp", "en", "The file /tmp is no small text file."),
        ("file:/dev/null", "en", "The file /dev/null is no small text file."),
    ],
)
def test_a_key_that_is_not_where_it_should_be_is_told_in_words(
    root: Client, agent: Agent, reference: str, language: str, advice: str
) -> None:
    User.objects.update(language=language)
    values = {"preset": "openai", "key_reference": reference, "model": "m"}
    told = step(root, "test", agent, **values)
    assert told["advice"].startswith(advice)
    assert told["said"] == ""


def test_only_superusers_look_for_ollama(editor: Client, agent: Agent) -> None:
    answer = editor.post(reverse(f"{NAME}_ollama"), {"agent": agent.pk})
    assert answer.status_code == 403


def test_other_teams_agents_and_accounts_do_not_exist(
    editor: Client, agent: Agent, server: FakeOpenAI
) -> None:
    foreign = factories.agent()
    account = factories.provider_account(team=foreign.team, base_url=server.base_url)
    for asked in (str(foreign.pk), "999999999", "x", "9" * 30):
        assert editor.get(reverse(NAME), {"agent": asked}).status_code == 404
        for name in STEPS:
            answer = editor.post(reverse(f"{NAME}_{name}"), {"agent": asked, "preset": "openai"})
            assert answer.status_code == 404
    told = step(editor, "test", agent, account=str(account.pk), model="m")
    assert set(told["errors"]) == {"account"}


@pytest.mark.parametrize("role", ["operator", "member"])
def test_who_may_not_edit_connects_nothing(agent: Agent, role: str) -> None:
    client = client_of(member(agent, role))
    expected = 403 if role == "operator" else 302
    assert client.get(reverse(NAME)).status_code == expected
    for name in STEPS:
        answer = client.post(reverse(f"{NAME}_{name}"), {"agent": agent.pk})
        assert answer.status_code == expected


def test_steps_are_posts_with_a_token_against_forgery(root: Client, agent: Agent) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="root"))
    for name in STEPS:
        address = reverse(f"{NAME}_{name}")
        assert root.get(address).status_code == 405
        assert strict.post(address, {"agent": agent.pk}).status_code == 403


# --- the page ----------------------------------------------------------------------------------


def test_the_page_shows_presets_accounts_and_the_cap(editor: Client, agent: Agent) -> None:
    account = factories.provider_account(team=agent.team, name="House account")
    factories.provider_account(name="Foreign account")
    page = editor.get(reverse(NAME), {"agent": agent.pk}).content.decode()
    for text in ("Anthropic", "Google Gemini", "Groq", "Ollama", "llama.cpp / vLLM", account.name):
        assert text in page
    assert "The agent may spend $5.00 a day" in page
    assert "Foreign account" not in page
    # References are for superusers.
    assert "key_reference" not in page


def test_the_page_goes_on_to_own_addresses_only(root: Client, agent: Agent) -> None:
    page = root.get(reverse(NAME), {"next": "/start/"}).content.decode()
    assert 'href="/start/"' in page
    page = root.get(reverse(NAME), {"next": "https://evil.example/"}).content.decode()
    assert "evil.example" not in page


def test_without_an_agent_the_page_leads_to_making_one(root: Client) -> None:
    page = root.get(reverse(NAME)).content.decode()
    assert reverse("admin:agents_agent_add") in page


def test_adding_an_account_leads_to_the_page(editor: Client) -> None:
    answer = editor.get(reverse("admin:agents_provideraccount_add"))
    assert answer["Location"] == reverse(NAME)


def test_a_price_that_differs_from_the_common_list_is_written_down(
    root: Client, agent: Agent
) -> None:
    for preset, model in (("groq", "llama-3.3-70b-versatile"), ("openai", "gpt-4o")):
        values = {"preset": preset, "key": KEY, "model": model, "is_untested": "on"}
        assert step(root, "save", agent, **values)["ok"]
    prices = {row.model: row.input_usd_mtok for row in ChainLink.objects.all()}
    assert prices == {"llama-3.3-70b-versatile": Decimal("0.59"), "gpt-4o": None}


def test_providers_keep_their_names_and_any_other_is_described(root: Client, agent: Agent) -> None:
    page = root.get(reverse(NAME), headers={"Accept-Language": "uz"}).content.decode()
    assert "Google Gemini" in page
    assert "OpenAI bilan mos" in page
