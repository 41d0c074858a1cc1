"""What a person does with their conversations besides talking, in Chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from memory.models import MemoryDocument, WalEntry
from sessions.models import ChatSession, Turn
from tests.e2e.browser import browsing, say, wait_for_end
from tests.e2e.conftest import Scene
from tests.fakes.script import Refusal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

FIRST_LOAD_BYTES = 150_000
ROWS = "#conversations .row a"


def begin(page: Page, words: str) -> None:
    page.locator(".new").click()
    say(page, words)
    wait_for_end(page)


def choose(page: Page, row: int, action: str) -> None:
    """Choose from a row's menu with the keyboard alone."""
    page.locator(".row-menu").nth(row).focus()
    page.keyboard.press("Enter")
    expect(page.locator(f'#row-menu [data-action="{action}"]')).to_be_visible()
    page.locator(f'#row-menu [data-action="{action}"]').focus()
    page.keyboard.press("Enter")


def test_noted_fact_is_forgotten_in_every_tab_and_after_a_reload(scene: Scene) -> None:
    scene.fake.play("Hello Sardor.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "My name is Sardor")
        wait_for_end(page)
        second = person.new_page()
        second.goto(page.url)
        expect(second.locator(".noted")).to_contain_text("noted: My name is Sardor")
        page.get_by_role("button", name="Undo: forget “My name is Sardor”").click()
        for tab in (page, second):
            expect(tab.locator(".noted.undone")).to_have_text("forgotten: My name is Sardor")
        expect(page.locator(".noted.undone")).to_be_focused()
        page.reload()
        expect(page.locator(".noted")).to_have_text("forgotten: My name is Sardor")

    assert WalEntry.objects.get().retracted_at is not None
    assert "Sardor" not in MemoryDocument.objects.get().text


def test_conversations_are_renamed_archived_and_found_again(scene: Scene) -> None:
    scene.fake.play("One.", "Two.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "First matter")
        wait_for_end(page)
        begin(page, "Second matter")
        expect(page.locator(".rows-heading")).to_have_text(["Today"])
        other = person.new_page()
        other.goto(page.url)
        expect(other.locator(ROWS)).to_have_count(2)

        page.locator(".row-menu").first.click()
        page.keyboard.press("Escape")
        expect(page.locator("#row-menu")).to_be_hidden()
        expect(page.locator(".row-menu").first).to_be_focused()
        choose(page, 1, "rename")
        page.keyboard.type("not kept")
        page.keyboard.press("Escape")
        expect(page.locator(ROWS)).to_have_text(["Second matter", "First matter"])
        choose(page, 1, "rename")
        page.keyboard.type("Oʻzbek tili")
        page.keyboard.press("Enter")
        for tab in (page, other):
            expect(tab.locator(ROWS)).to_have_text(["Second matter", "Oʻzbek tili"])
        choose(page, 0, "rename")
        page.keyboard.type("Third")
        page.keyboard.press("Enter")
        expect(page.locator("#conversation-title")).to_have_text("Third")
        expect(other.locator("#conversation-title")).to_have_text("Third")

        choose(page, 1, "archive")
        expect(page.locator("#toast")).to_contain_text("is archived")
        for tab in (page, other):
            expect(tab.locator(ROWS)).to_have_text(["Third"])
        page.keyboard.press("Control+k")
        page.keyboard.type("O'ZBEK")
        expect(page.locator(ROWS)).to_have_text(["Oʻzbek tili"])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#archived-note")).to_be_visible()
        expect(page.locator(".prose")).to_have_text("One.")
        page.locator("#search").press("Escape")
        page.locator(".archived-toggle").click()
        expect(page.locator(".archived .row a")).to_have_text(["Oʻzbek tili"])
        choose(page, 1, "bring-back")
        expect(page.locator(".archived-toggle")).to_have_count(0)
        expect(page.locator(ROWS)).to_have_count(2)

    titles = ChatSession.objects.order_by("id").values_list("title", "archived_at")
    assert list(titles) == [("Oʻzbek tili", None), ("Third", None)]


def test_failed_answer_is_tried_again_and_the_model_is_asked_once(scene: Scene) -> None:
    scene.fake.play(Refusal(400), "It is noon.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "What time is it?")
        retry = page.get_by_role("button", name="Try again")
        expect(retry).to_be_visible()
        expect(page.locator("#announcer")).to_contain_text("did not accept")
        retry.click()
        expect(page.locator(".prose")).to_have_text("It is noon.")
        expect(retry).to_be_hidden()

    assert [turn.state for turn in Turn.objects.order_by("id")] == ["failed", "answered"]
    asked = str(scene.fake.requests[-1].body)
    assert asked.count("What time is it?") == 1


def test_what_is_typed_before_the_scripts_are_there_is_sent(scene: Scene) -> None:
    scene.fake.play("Hello.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        scripts = []
        page.route(re.compile(r"/chat/main\.js$"), lambda route: scripts.append(route))
        page.goto("/chat/", wait_until="commit")
        say(page, "Early bird")
        expect(page.locator("#message")).to_have_value("Early bird")
        scripts[0].continue_()
        expect(page.locator(".prose")).to_have_text("Hello.")
        expect(page.locator(".bubble")).to_have_text("Early bird")


def test_logout_shows_the_login_in_every_tab(scene: Scene) -> None:
    with browsing(scene.web.address) as person:
        page, second = person.new_page(), person.new_page()
        page.goto(scene.link)
        page.goto("/chat/")
        second.goto("/chat/")
        expect(second.locator("#empty")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        for tab in (page, second):
            tab.wait_for_url(re.compile(r"/login/"))


def test_first_load_is_small_and_the_second_smaller(scene: Scene) -> None:
    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        fresh = person.new_page()
        network = person.new_cdp_session(fresh)
        network.send("Network.enable")
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})
        loaded: list[float] = []
        network.on("Network.loadingFinished", lambda done: loaded.append(done["encodedDataLength"]))
        fresh.goto("/chat/", wait_until="networkidle")
        first = sum(loaded)
        assert len(loaded) > 20
        assert first <= FIRST_LOAD_BYTES
        network.send("Network.setCacheDisabled", {"cacheDisabled": False})
        loaded.clear()
        fresh.goto("/chat/", wait_until="networkidle")
        assert sum(loaded) < first / 2
