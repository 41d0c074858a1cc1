"""Invite → a colleague chooses a password → chats → sees only their own, in Chromium."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from django.urls import reverse
from playwright.sync_api import Page, expect

from agents.models import Invitation, Membership
from tests.e2e.browser import browsing, say, wait_for_end
from tests.e2e.conftest import Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

PASSWORD = "a long enough one 7"
SECRET = "The safe is behind the painting"


def check(page: Page) -> None:
    """Hold a page against axe."""
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()


def test_a_colleague_is_invited_chats_and_sees_only_their_own(scene: Scene) -> None:
    Membership.objects.filter(user=scene.someone.user).update(role=Membership.Role.OWNER)
    scene.fake.play("I keep it.", "Hello Anna.")
    team_page = reverse("admin:agents_team_change", args=[scene.someone.team.pk])

    with browsing(scene.web.address) as owner:
        page = owner.new_page()
        page.goto(scene.link)
        page.goto("/chat/")
        say(page, SECRET)
        wait_for_end(page)
        theirs = page.url
        page.goto(team_page)
        page.get_by_role("link", name="Invite somebody").click()
        page.locator("#id_note").fill("Anna, support")
        page.get_by_role("button", name="Save", exact=True).click()
        link = page.locator("#one-time-link").input_value()
        page.get_by_role("button", name="Copy").click()
        expect(page.locator("[data-copied]")).to_have_text("Copied")
        page.reload()
        expect(page.get_by_text("Anna, support")).to_be_visible()
        expect(page.locator("#one-time-link")).to_have_count(0)

    with browsing(scene.web.address, viewport={"width": 390, "height": 844}) as colleague:
        page = colleague.new_page()
        page.goto(link)
        expect(page.locator("h1")).to_contain_text(scene.someone.team.name)
        check(page)
        page.get_by_label("Your name").fill("Anna")
        page.get_by_label("User name").fill("anna")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("The password again").fill("something else")
        page.get_by_role("button", name="Join", exact=True).click()
        expect(page.get_by_role("alert")).to_be_visible()
        check(page)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("The password again").fill(PASSWORD)
        page.get_by_role("button", name="Join", exact=True).click()
        say(page, "Hello")
        wait_for_end(page)
        expect(page.locator(".prose").last).to_have_text("Hello Anna.")
        page.locator("#drawer-open").click()
        expect(page.locator("#conversations a")).to_have_count(1)
        assert SECRET not in page.content()
        page.locator(".who").click()
        page.get_by_role("link", name="Who can read my chats").click()
        expect(page.get_by_text("Nobody of your team")).to_be_visible()
        check(page)
        page.get_by_role("link", name="Where I am logged in").click()
        expect(page.locator(".badge")).to_have_text("here")
        check(page)
        page.get_by_role("link", name="Change password").click()
        check(page)
        page.get_by_role("link", name="Back to the chat").click()
        for path in (theirs, "/admin/"):
            answer = page.request.get(path)
            assert SECRET not in answer.text()
        assert page.request.get(theirs).status == 404
        page.locator("#drawer-open").click()
        page.locator("#logout button").click()
        page.get_by_label("Name").fill("anna")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        expect(page.locator("#message")).to_be_visible()
        page.goto(link)
        expect(page.locator("#message")).to_be_visible()

    assert Invitation.objects.get().accepted_by is not None
