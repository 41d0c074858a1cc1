"""A persona text that was typed and not saved, in Chromium.

A module of its own: the server remembers the ids of content types, which the end of a test empties,
so that only the first test of a server may save on a page of the admin.
"""

import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.urls import reverse
from playwright.sync_api import expect

from agents.models import AgentDocument, Membership
from agents.services import documents
from tests.e2e.browser import browsing
from tests.e2e.conftest import Scene

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]


def test_a_text_outlives_the_login_and_no_logout(scene: Scene) -> None:
    Membership.objects.filter(team=scene.someone.team).update(role=Membership.Role.EDITOR)
    soul = AgentDocument(agent=scene.someone.agent, name="SOUL.md")
    documents.save(soul, text="Be brief.", author=None, reason="First text")
    editor = reverse("admin:agents_agentdocument_change", args=[soul.pk])
    user = scene.someone.user
    # As the server hashes them; tests do it faster.
    user.password = PBKDF2PasswordHasher().encode("zaytun-2026-olma", "salt")
    user.save()
    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(scene.link)
        page.goto(editor)
        page.locator("#id_text").fill("Be brief. Be kind.")
        page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
        page.keyboard.press("Control+s")
        page.locator("[name=username]").fill(user.username)
        page.locator("[name=password]").fill("zaytun-2026-olma")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Your unsaved text of")).to_be_visible()
        expect(page.locator("#id_text")).to_have_value("Be brief.")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#id_text")).to_have_value("Be brief. Be kind.")
        page.get_by_role("button", name="Save and close").click()
        page.wait_for_url("**/persona/")
        # What is saved is offered no more, whatever others have made of it since.
        page.goto(editor)
        expect(page.locator("#id_text")).to_have_value("Be brief. Be kind.")
        expect(page.get_by_text("Your unsaved text of")).to_be_hidden()
        assert page.evaluate("Object.keys(localStorage).filter(k => k.includes('text'))") == []

        page.locator("#id_text").fill("A thought.")
        page.reload()
        page.get_by_role("button", name="Discard it").click()
        expect(page.locator("#id_text")).to_have_value("Be brief. Be kind.")
        page.reload()
        expect(page.get_by_text("Your unsaved text of")).to_be_hidden()

        page.locator("#id_text").fill("A secret thought.")
        page.goto("/chat/")
        page.evaluate("document.getElementById('logout').requestSubmit()")
        page.wait_for_url("**/login/**")
        assert page.evaluate("Object.keys(localStorage).filter(k => k.includes('text'))") == []

    soul.refresh_from_db()
    assert soul.text == "Be brief. Be kind."
