"""The operator's board in Chromium: it moves by itself, and says when it cannot."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from agents.models import Membership
from sessions.models import Turn
from tests import factories
from tests.e2e.barriers import DESK, grave, sizes
from tests.e2e.browser import browsing, say, wait_for_end
from tests.e2e.conftest import Scene
from tests.fakes.script import Say, answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

BOARD = reverse("admin:board")


@pytest.fixture
def operator(scene: Scene) -> None:
    """The person may operate; one turn of theirs failed a while ago."""
    Membership.objects.filter(team=scene.someone.team).update(role=Membership.Role.OPERATOR)
    session = factories.chat_session(agent=scene.someone.agent)
    now = timezone.now()
    factories.turn(
        session=session,
        state=Turn.State.FAILED,
        notice={"v": 1, "code": "overloaded"},
        accepted_at=now - timedelta(minutes=5),
        committed_at=now - timedelta(minutes=4),
    )


def test_a_running_answer_comes_and_goes_by_itself(scene: Scene, operator: None) -> None:
    scene.fake.play(answer(Say("word " * 40, chunks=40, interval_s=0.3)))
    with browsing(scene.web.address) as person:
        chat = person.new_page()
        chat.goto(scene.link)
        chat.goto("/chat/")
        board = person.new_page()
        board.goto(BOARD)
        running = board.locator('[data-part="running"]')
        expect(running).to_contain_text("No answer is being written.")
        expect(board.locator("[data-status]")).to_have_text("Live")
        say(chat, "Tell me a story")
        expect(running).to_contain_text(scene.someone.agent.name)
        expect(running).to_contain_text("claude-sonnet-5-5")
        wait_for_end(chat)
        expect(running).to_contain_text("No answer is being written.")


def test_a_server_out_of_reach_is_told_and_what_was_seen_stays(
    scene: Scene, operator: None
) -> None:
    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        page.goto(BOARD)
        status = page.locator("[data-status]")
        expect(status).to_have_text("Live")
        failed = page.locator('[data-part="errors"] a').first
        failed.focus()
        page.evaluate("() => { window.own = fetch; window.fetch = () => Promise.reject(1); }")
        expect(status).to_contain_text("cannot be reached")
        expect(failed).to_be_visible()
        page.evaluate("() => { window.fetch = window.own; }")
        expect(status).to_have_text("Live")
        # Whoever stood somewhere with the keyboard still stands there.
        expect(failed).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_board_and_a_turns_page_have_no_grave_barrier(
    scene: Scene, operator: None, scheme: str
) -> None:
    turn = Turn.objects.get()
    with browsing(scene.web.address, color_scheme=scheme, viewport=DESK) as person:
        page = person.new_page()
        page.goto(scene.link)
        for address in (BOARD, reverse("admin:bot_sessions_turn_change", args=[turn.pk])):
            page.goto(address)
            for size in sizes():
                page.set_viewport_size(size)
                assert grave(page) == [], (address, size)
