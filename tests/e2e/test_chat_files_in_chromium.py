"""A file goes up with a message and another comes back with the answer, in Chromium."""

import io

import PIL.Image
import pytest
from playwright.sync_api import FilePayload, expect

from agents.models import ToolGrant
from sessions.models import Attachment
from tests.e2e.browser import browsing, wait_for_end
from tests.e2e.conftest import Scene
from tests.fakes.script import CallTool, answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

PASTE = """(field) => {
    const data = new DataTransfer();
    data.items.add(new File(["pasted"], "pasted.txt", { type: "text/plain" }));
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true,
        cancelable: true }));
}"""


def picture() -> FilePayload:
    written = io.BytesIO()
    PIL.Image.new("RGB", (60, 40), "teal").save(written, "PNG")
    return {"name": "wall.png", "mimeType": "image/png", "buffer": written.getvalue()}


def test_files_go_up_with_a_message_and_one_comes_back(scene: Scene) -> None:
    ToolGrant.objects.get_or_create(agent=scene.someone.agent, tool="send_file")
    report = {"name": "report.csv", "text": "a,b", "caption": "Two columns"}
    scene.fake.play(answer(CallTool("send_file", report)), "Here it is.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        chips = page.locator("#chips .chip")
        page.locator("#file").set_input_files([picture()])
        page.locator("#message").evaluate(PASTE)
        expect(chips.locator("small")).to_have_text(["1 kB", "1 kB"])
        expect(chips.locator("img")).to_have_count(1)
        page.reload()
        expect(chips.locator(".file-name")).to_have_text(["wall.png", "pasted.txt"])
        page.get_by_role("button", name="Remove pasted.txt").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Remove wall.png")).to_be_focused()

        page.locator("#send").click()
        expect(chips).to_have_count(0)
        wait_for_end(page)
        shown = page.locator(".message .picture img")
        expect(shown).to_have_js_property("complete", True)
        assert shown.evaluate("(image) => image.naturalWidth") == 60
        expect(page.locator(".bubble")).to_have_count(0)
        expect(page.locator(".sent figcaption")).to_have_text("Two columns")
        with page.expect_download() as saved:
            page.get_by_role("link", name="Download report.csv").click()
        assert saved.value.suggested_filename == "report.csv"
        assert saved.value.path().read_text() == "a,b"

    kept = Attachment.objects.get()
    assert (kept.kind, kept.state) == (Attachment.Kind.PHOTO, Attachment.State.FETCHED)
