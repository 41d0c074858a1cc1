"""The first hour, as it is meant: the printed link, a model, a persona, a first answer."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import browsing, require_chromium, say, wait_for_end
from tests.fakes.ollama import GREETING, FakeModel, FakeOllama
from tests.qanot_site.running import running

pytestmark = pytest.mark.browser

LINK = re.compile(r"http://\S+/login/\S+/")
WALK_S = 60


def connect(page: Page) -> None:
    """Take the model that the page found on this machine."""
    page.get_by_role("link", name="Connect (Connect a model)").click()
    expect(page.get_by_text("The agent may spend $5.00 a day")).to_be_visible()
    page.locator("[data-preset=ollama]").check()
    page.get_by_role("button", name="Use “qwen3:8b”").click()
    expect(page.get_by_role("heading", name="qwen3:8b answers for")).to_be_visible()
    page.get_by_role("link", name="Go on").click()
    expect(page.get_by_text("1 of 3 done")).to_be_visible()


def write_persona(page: Page) -> None:
    """Begin with a template, and say one thing in one's own words."""
    page.get_by_role("link", name="Write (Give it a persona)").click()
    page.get_by_role("button", name="Use the template Secretary").click()
    page.get_by_role("link", name="SOUL.md").click()
    text = page.locator("#id_text")
    expect(text).to_have_value(re.compile("{bot_name}"))
    text.press("Control+End")
    text.type("\n- Sign every letter with the team's name.\n")
    page.keyboard.press("Control+s")
    expect(page.locator("#id_text")).to_have_value(re.compile("Sign every letter"))
    page.goto("/start/")
    expect(page.get_by_text("2 of 3 done")).to_be_visible()


def talk(page: Page) -> None:
    """Say one's name, and see that it is noted and answered."""
    page.get_by_role("link", name="Open the chat").click()
    say(page, "My name is Sardor")
    expect(page.locator(".noted")).to_contain_text("My name is Sardor")
    wait_for_end(page)
    expect(page.locator(".prose").last).to_contain_text(GREETING)
    page.goto("/start/")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def test_from_the_printed_link_to_an_answer_in_a_minute_without_a_dead_end(tmp_path: Path) -> None:
    require_chromium()
    with (
        FakeOllama(FakeModel("qwen3:8b", window=32_768, load_s=1.0, thinks=True)) as ollama,
        running(
            tmp_path / "home", environment={"OLLAMA_HOST": f"127.0.0.1:{ollama.port}"}
        ) as platform,
    ):
        platform.wait_for("/login/")
        link = LINK.search(platform.shown)
        assert link is not None
        with browsing(f"http://127.0.0.1:{platform.port}") as person:
            page = person.new_page()
            began = time.monotonic()
            page.goto(link.group())
            expect(page.get_by_text("0 of 3 done")).to_be_visible()
            connect(page)
            write_persona(page)
            talk(page)
            assert time.monotonic() - began <= WALK_S
