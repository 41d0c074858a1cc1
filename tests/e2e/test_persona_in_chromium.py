"""Writing a persona, as somebody of the team does it in Chromium."""

import pytest
from django.urls import reverse
from playwright.sync_api import Dialog, Page, expect

from agents.models import AgentDocument, Membership, ProviderAccount, UsageRecord
from agents.services import documents, proposals, secrets
from sessions.models import Turn
from tests.e2e.barriers import grave, sizes
from tests.e2e.browser import browsing
from tests.e2e.conftest import Scene
from tests.fakes.script import Silence, Tokens, answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def soul(scene: Scene) -> AgentDocument:
    """A saved SOUL.md; the person may edit it, and the server knows the model's key."""
    Membership.objects.filter(team=scene.someone.team).update(role=Membership.Role.EDITOR)
    ProviderAccount.objects.update(key_reference="", sealed_key=secrets.seal("sk-fake"))
    document = AgentDocument(agent=scene.someone.agent, name="SOUL.md")
    documents.save(document, text="Be brief.", author=None, reason="First text")
    return document


def open_page(page: Page, scene: Scene, path: str) -> None:
    page.goto(scene.link)
    page.goto(path)


def editor_of(document: AgentDocument) -> str:
    return reverse("admin:agents_agentdocument_change", args=[document.pk])


def test_a_text_is_counted_saved_by_keyboard_and_never_lost_unasked(
    scene: Scene, soul: AgentDocument
) -> None:
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.on("dialog", leave)
        open_page(page, scene, editor_of(soul))
        count = page.locator("[data-persona-count]")
        expect(count).to_contain_text("9 characters")
        page.locator("#id_text").fill("Be brief. Be kind.")
        expect(count).to_contain_text("18 characters")
        page.locator("#id_reason").fill("Kinder")
        page.keyboard.press("Control+s")
        expect(page.locator(".qp-list").last).to_contain_text("Kinder")
        assert asked == []
        page.locator("#id_text").fill("a" * 20_000 + "b" * 13_000)
        expect(count).to_contain_text("it would leave out 15\u202f000 characters")
        page.keyboard.press("Control+s")
        expect(page.locator(".qp-cut del")).to_contain_text("ab")
        # The page is a new one: its script counts once it runs, and Chromium asks nobody who
        # has not touched the page.
        expect(count).to_contain_text("it would leave out 15\u202f000 characters")
        page.locator("#id_text").press("End")
        page.goto(reverse("admin:agents_agent_persona", args=[soul.agent_id]))
        assert asked == ["beforeunload"]

    soul.refresh_from_db()
    assert soul.text == "Be brief. Be kind."
    assert soul.versions.count() == 2


def test_a_draft_and_the_saved_text_answer_side_by_side(scene: Scene, soul: AgentDocument) -> None:
    for _side in range(2):
        scene.fake.play(answer(f"Salom. {HOSTILE}", tokens=Tokens(input=100, output=7)))
    for _side in range(2):
        scene.fake.play(answer("Well", Silence(60)))

    with browsing(scene.web.address) as person:
        page = person.new_page()
        open_page(page, scene, editor_of(soul))
        page.locator("#id_text").fill("You are a poet.")
        page.locator("#qp-question").fill("Who are you?")
        page.keyboard.press("Control+Enter")
        for side in ("draft", "live"):
            shown = page.locator(f'[data-side="{side}"]')
            expect(shown.locator("[data-answer]")).to_have_text(f"Salom. {HOSTILE}")
            expect(shown.locator("[data-figures]")).to_contain_text("100 tokens in, 7 out · $")
        page.get_by_role("button", name="Ask both").click()
        for side in ("draft", "live"):
            expect(page.locator(f'[data-side="{side}"] [data-answer]')).to_have_text("Well")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("button", name="Ask both")).to_be_enabled()

    assert UsageRecord.objects.filter(kind="tryout", was_broken=False).count() == 2
    assert not Turn.objects.exists()
    systems = [str(request.body["system"]) for request in scene.fake.requests[-4:]]
    assert sum("You are a poet." in system for system in systems) == 2
    assert sum("Be brief." in system for system in systems) == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_have_no_grave_barrier(scheme: str, scene: Scene, soul: AgentDocument) -> None:
    agent = soul.agent
    documents.save(soul, text="Be brief and kind.", author=None, reason="Kinder")
    made = proposals.propose(
        agent_id=agent.pk, name="SOUL.md", text="Be wordy.", reason="Asked", source="turn:1"
    )
    version = soul.versions.get(number=2)
    paths = [
        reverse("admin:agents_agent_persona", args=[agent.pk]),
        reverse("admin:agents_agent_preview", args=[agent.pk]),
        editor_of(soul),
        reverse("admin:agents_agentdocumentversion_change", args=[version.pk]),
        reverse("admin:agents_documentproposal_change", args=[made.pk]),
    ]
    with browsing(scene.web.address, color_scheme=scheme) as person:
        page = person.new_page()
        page.goto(scene.link)
        for path in paths:
            page.goto(path)
            for size in sizes():
                page.set_viewport_size(size)
                assert grave(page) == [], (path, size)
