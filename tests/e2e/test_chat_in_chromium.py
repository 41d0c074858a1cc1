"""A person, a browser, our server and worker, a scripted model: the whole path."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import WebSocketRoute, expect

from sessions.models import InboundMessage, TranscriptEntry, Turn
from tests.e2e.browser import browsing, say, wait_for_end
from tests.e2e.conftest import Scene
from tests.fakes.script import CallTool, Say, answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

WORDS = " ".join(f"word{number}" for number in range(60))
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](http://192.0.2.1/pixel)"
SOCKET = "**/ws/chat/**"


def test_an_answer_outlives_a_reload_a_second_tab_and_a_killed_server(scene: Scene) -> None:
    """webchat-4."""
    scene.fake.play(answer(Say(WORDS, chunks=60, interval_s=0.08)))

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "My name is Sardor")
        expect(page.locator(".noted")).to_contain_text("My name is Sardor")
        expect(page.locator(".prose.live")).to_contain_text("word5")
        page.reload()
        expect(page.locator(".prose.live")).to_contain_text("word12")
        second = person.new_page()
        second.goto(page.url)
        expect(second.locator(".prose.live")).to_contain_text("word15")
        scene.web.kill()
        scene.web.start()
        for tab in (page, second):
            wait_for_end(tab)
            assert tab.locator(".prose").inner_text() == WORDS
            expect(tab.locator(".bubble")).to_have_text("My name is Sardor")
        expect(page.locator("#conversations a")).to_have_text("My name is Sardor")

    assert Turn.objects.get().state == Turn.State.ANSWERED
    assert InboundMessage.objects.count() == 1


def test_tools_are_shown_while_they_run_and_folded_afterwards(scene: Scene) -> None:
    scene.fake.play(
        answer("Let me look.", CallTool("current_time"), CallTool("no_such_tool")),
        answer(Say("**It is late.**", chunks=3, interval_s=0.3)),
    )

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "What time is it?")
        expect(page.locator('.answer > .tool[data-state="error"]').last).to_contain_text("no such")
        wait_for_end(page)
        summary = page.locator(".tools summary")
        expect(summary).to_have_text("2 steps: date and time, no such tool")
        expect(page.locator(".tools .tool").first).to_be_hidden()
        summary.click()
        expect(page.locator(".tools .tool").first).to_be_visible()
        expect(page.locator(".prose strong")).to_have_text("It is late.")
        expect(page.locator("#announcer")).to_contain_text("It is late.")


def test_stop_keeps_what_was_said_and_marks_it(scene: Scene) -> None:
    scene.fake.play(answer(Say(WORDS, chunks=60, interval_s=0.1)), "Next.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "Count")
        expect(page.locator(".prose.live")).to_contain_text("word4")
        page.keyboard.press("Escape")
        wait_for_end(page)
        expect(page.locator(".mark")).to_have_text("Stopped")
        said = page.locator(".prose").inner_text()
        assert "word4" in said
        assert "word40" not in said
        say(page, "Go on")
        expect(page.locator(".prose").last).to_have_text("Next.")

    assert [turn.state for turn in Turn.objects.order_by("id")] == ["stopped", "answered"]
    partial = TranscriptEntry.objects.get(turn__state="stopped", role="assistant")
    assert partial.is_partial


def test_message_whose_answer_got_lost_is_sent_again_and_stored_once(scene: Scene) -> None:
    """webchat-1: the socket closes before the browser hears that the message was accepted."""
    scene.fake.play("Hello.")
    sent: list[str] = []

    def lose_first_answer(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def from_page(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "send":
                sent.append(frame["key"])
            server.send(text)

        def from_server(text: str | bytes) -> None:
            if json.loads(text)["type"] == "accepted" and len(sent) == 1:
                route.close(code=1012)
                return
            route.send(text)

        route.on_message(from_page)
        server.on_message(from_server)

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.route_web_socket(SOCKET, lose_first_answer)
        page.goto(scene.link)
        say(page, "Hi")
        expect(page.locator(".prose")).to_have_text("Hello.")
        expect(page.locator(".bubble")).to_have_count(1)

    assert len(sent) >= 2
    assert len(set(sent)) == 1
    assert InboundMessage.objects.count() == 1


def test_message_written_without_a_connection_survives_a_closed_tab(scene: Scene) -> None:
    scene.fake.play("Hello.")

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        page.route_web_socket(SOCKET, lambda route: route.close(code=1012))
        page.reload()
        expect(page.locator("#connection")).to_be_visible()
        say(page, "Kept?")
        expect(page.locator(".message.pending .bubble")).to_have_text("Kept?")
        page.close()
        later = person.new_page()
        later.goto("/chat/")
        expect(later.locator(".prose")).to_have_text("Hello.")
        expect(later.locator(".message.pending")).to_have_count(0)


def test_lost_frame_is_noticed_and_fetched(scene: Scene) -> None:
    """webchat-2."""
    scene.fake.play(answer(Say(WORDS, chunks=60, interval_s=0.08)))
    asked: list[str | None] = []

    def lose(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        lost: set[int] = set()

        def from_page(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "resume":
                asked.append(frame["after"])
            server.send(text)

        def from_server(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "text" and frame["n"] in {6, 7, 15} - lost:
                lost.add(frame["n"])
                return
            route.send(text)

        route.on_message(from_page)
        server.on_message(from_server)

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.route_web_socket(SOCKET, lose)
        page.goto(scene.link)
        say(page, "Count")
        live = page.locator(".prose.live")
        expect(live).to_contain_text("word40")
        assert WORDS.startswith(live.inner_text().strip())
        wait_for_end(page)
        assert page.locator(".prose").inner_text() == WORDS

    assert {"1-5", "1-14"} <= set(asked)


def test_blank_message_is_not_sent(scene: Scene) -> None:
    """webchat-3."""
    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        expect(page.locator("#send")).to_be_disabled()
        say(page, "   ")
        expect(page.locator("#send")).to_be_disabled()
        expect(page.locator(".message")).to_have_count(0)

    assert not Turn.objects.exists()


def test_hostile_words_stay_words(scene: Scene) -> None:
    """web-security-1, in the live stream, in the transcript and in the list."""
    scene.fake.play(answer(Say(f"{HOSTILE}\n\n{WORDS}", chunks=20, interval_s=0.1)))

    with browsing(scene.web.address) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, HOSTILE)
        page.locator(".prose.live", has_text="word9").wait_for()
        for _ in ("live", "finished", "loaded again"):
            assert page.locator(".turn img").count() == 0
            assert page.locator('a[href^="javascript"]').count() == 0
            assert "<img src=x" in page.locator(".prose").inner_text()
            expect(page.locator(".bubble")).to_have_text(HOSTILE)
            expect(page.locator("#conversations a")).to_contain_text("<img src=x")
            wait_for_end(page)
            page.reload()
            page.locator(".prose").wait_for()


def test_two_tabs_show_the_same(scene: Scene) -> None:
    scene.fake.play("One.", "Two.")

    with browsing(scene.web.address) as person:
        first = person.new_page()
        first.goto(scene.link)
        say(first, "A")
        wait_for_end(first)
        second = person.new_page()
        second.goto(first.url)
        expect(second.locator(".prose")).to_have_text("One.")
        say(second, "B")
        for tab in (first, second):
            expect(tab.locator(".bubble")).to_have_text(["A", "B"])
            expect(tab.locator(".prose")).to_have_text(["One.", "Two."])


def test_reader_who_scrolled_up_is_left_in_peace(scene: Scene) -> None:
    lines = "\n\n".join(f"line {number}" for number in range(120))
    scene.fake.play(answer(Say(lines, chunks=60, interval_s=0.05)))
    scroll: Callable[[Any], float] = lambda page: page.evaluate(  # noqa: E731
        "() => document.getElementById('scroller').scrollTop"
    )

    with browsing(scene.web.address, viewport={"width": 390, "height": 700}) as person:
        page = person.new_page()
        page.goto(scene.link)
        say(page, "Write much")
        page.locator(".prose.live", has_text="line 40").wait_for()
        assert scroll(page) > 0
        page.mouse.move(200, 300)
        page.mouse.wheel(0, -400)
        button = page.locator("#to-newest")
        expect(button).to_be_visible()
        place = scroll(page)
        page.locator(".prose.live", has_text="line 60").wait_for()
        assert abs(scroll(page) - place) < 2
        button.click()
        expect(button).to_be_hidden()
        wait_for_end(page)
        expect(page.locator(".prose p").last).to_be_in_viewport()


def test_drawer_and_theme_on_a_phone(scene: Scene) -> None:
    with browsing(
        scene.web.address, viewport={"width": 390, "height": 844}, color_scheme="light"
    ) as person:
        page = person.new_page()
        page.goto(scene.link)
        ground: Callable[[], str] = lambda: page.evaluate(  # noqa: E731
            "() => getComputedStyle(document.body).backgroundColor"
        )
        light = ground()
        expect(page.locator(".sidebar")).not_to_be_in_viewport()
        page.locator("#drawer-open").click()
        expect(page.locator(".sidebar")).to_be_in_viewport()
        page.locator("[data-theme-toggle]").click()
        dark = ground()
        page.keyboard.press("Escape")
        expect(page.locator(".sidebar")).not_to_be_in_viewport()
        page.reload()
        assert light != dark
        assert ground() == dark
        width = page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 390
