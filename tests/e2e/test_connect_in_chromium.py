"""Connecting a model and ticking the first steps, as an owner does it in Chromium."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from agents.core.messages import JsonObject
from agents.models import ChainLink, ProviderAccount, User
from agents.services import keys
from tests.e2e.browser import browsing
from tests.e2e.conftest import Scene
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Refusal, Silence, answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

KEY = "sk-zaytun-0123456789abcdef"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def fresh(scene: Scene) -> Scene:
    """The person runs the deployment, and no model is connected yet."""
    User.objects.filter(pk=scene.someone.user.pk).update(is_superuser=True)
    ChainLink.objects.all().delete()
    return scene


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        fake.models = [{"id": "gpt-6-sol"}, {"id": "house-model"}, {"id": HOSTILE}]
        yield fake
        fake.assert_done()


def choose(page: Page, preset: str, address: str) -> None:
    page.locator(f"[data-preset={preset}]").check()
    elsewhere = page.get_by_role("button", name="It runs on another machine")
    if elsewhere.is_visible():
        elsewhere.click()
    page.get_by_label("Address", exact=True).fill(address)


def test_who_was_logged_out_meanwhile_is_told(fresh: Scene, server: FakeOpenAI) -> None:
    with browsing(fresh.web.address) as person:
        page = person.new_page()
        page.goto(fresh.link)
        page.get_by_role("link", name="Connect (Connect a model)").click()
        choose(page, "compatible", server.base_url)
        page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("You are logged out.")


def test_a_key_becomes_a_model_and_a_ticked_step(fresh: Scene, server: FakeOpenAI) -> None:
    refused: JsonObject = {
        "error": {"message": f"Incorrect API key {HOSTILE}", "code": "invalid_api_key"}
    }
    server.play(Refusal(401, refused), "OK", "OK")

    with browsing(fresh.web.address) as person:
        page = person.new_page()
        page.goto(fresh.link)
        expect(page.get_by_text("0 of 3 done")).to_be_visible()
        page.get_by_role("link", name="Connect (Connect a model)").click()
        choose(page, "compatible", server.base_url)
        key = page.get_by_label("Key", exact=True)
        key.fill("sk-wrong")
        key.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("The key was not accepted.")
        expect(page.get_by_role("alert")).to_contain_text(HOSTILE)
        key.fill(KEY)
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_text("gpt-6-sol answered in")).to_be_visible()
        page.get_by_label("Search, or write a model’s name").fill("house")
        page.get_by_label("house-model").check()
        page.get_by_role("button", name="Test this model").click()
        expect(page.get_by_text("house-model answered in")).to_be_visible()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", name="house-model answers for")).to_be_visible()
        page.get_by_role("link", name="Go on").click()
        expect(page.get_by_text("1 of 3 done")).to_be_visible()

    link = ChainLink.objects.select_related("account").get()
    assert link.model == "house-model"
    assert keys.key_of(link.account) == KEY


def test_a_call_that_takes_long_can_be_cancelled(fresh: Scene, server: FakeOpenAI) -> None:
    server.play(answer(Silence(60), "OK"))

    with browsing(fresh.web.address) as person:
        page = person.new_page()
        page.goto(fresh.link)
        page.goto("/admin/agents/provideraccount/connect/")
        choose(page, "compatible", server.base_url)
        page.get_by_label("Address", exact=True).press("Enter")
        expect(page.get_by_text("Asking the model…")).to_be_visible()
        server.wait_until(lambda: bool(server.requests), 30)
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("Stopped.")
        # The provider is let go too.
        server.wait_until(lambda: server.last.closed_at_ns is not None, 30)

    assert not ProviderAccount.objects.filter(preset="compatible").exists()


def test_an_ollama_elsewhere_says_its_real_window(fresh: Scene) -> None:
    with FakeOllama(FakeModel("qwen3:4b", window=4_096)) as ollama:
        with browsing(fresh.web.address) as person:
            page = person.new_page()
            page.goto(fresh.link)
            page.goto("/admin/agents/provideraccount/connect/")
            choose(page, "ollama", ollama.base_url)
            page.get_by_role("button", name="Test", exact=True).click()
            expect(page.get_by_text("qwen3:4b answered in")).to_be_visible()
            row = page.locator("label", has=page.get_by_label("qwen3:4b"))
            expect(row).to_contain_text("window 4k · free")
            expect(row).to_contain_text("Its window is small")
