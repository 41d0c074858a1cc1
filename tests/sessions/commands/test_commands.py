"""What is a command, and what each of them says and does."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy

from agents import doorbell
from agents.models import Membership
from sessions import bells, commands
from sessions.commands import Command, CommandContext, Invocation, Reply
from sessions.models import ChatSession, Generation, Turn
from tests import factories

pytestmark = pytest.mark.django_db


def run(text: str, session: ChatSession, language: str | None = None) -> Reply:
    """Run a command as the session's person."""
    found = commands.find(text, channel=session.account.channel)
    assert found is not None
    return commands.run(
        found, session=session, person=session.person, account=session.account, language=language
    )


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/new", "new", ""),
        ("  /NEW \n", "new", ""),
        ("/start abc-_9", "start", "abc-_9"),
        ("/lang\nuz", "lang", "uz"),
        ("/help@our_BOT", "help", ""),
    ],
)
def test_command_is_found_with_its_argument(text: str, name: str, argument: str) -> None:
    found = commands.find(text, channel="telegram", bot_username="Our_bot")
    assert found is not None
    assert (found.command.name, found.argument) == (name, argument)


@pytest.mark.parametrize(
    "text",
    ["new", "/nothing", "/", "/new/", "see /new", "//new", "/help@other_bot", "/etc/passwd", ""],
)
def test_other_texts_stay_texts(text: str) -> None:
    assert commands.find(text, channel="telegram", bot_username="our_bot") is None


def test_command_for_a_bot_is_a_text_where_there_is_none() -> None:
    assert commands.find("/new@our_bot", channel="webchat") is None


def test_new_opens_a_generation_and_what_runs_keeps_its_own() -> None:
    session = factories.chat_session()
    first = Generation.objects.get(session=session)
    running = factories.turn(session=session, state=Turn.State.RUNNING)
    reply = run("/new", session)
    first.refresh_from_db()
    opened = Generation.objects.get(session=session, closed_at=None)
    assert reply.begins_anew
    assert "still comes" in reply.text
    assert (opened.number, opened.opened_by) == (2, "command:new")
    assert first.closed_at is not None
    assert Turn.objects.get(pk=running.pk).generation_id == first.pk


def test_reset_of_a_quiet_conversation_speaks_of_no_answer() -> None:
    session = factories.chat_session()
    assert "still comes" not in run("/reset", session).text
    assert Generation.objects.get(session=session, closed_at=None).opened_by == "command:reset"


def test_words_after_a_command_are_not_lost_in_silence() -> None:
    reply = run("/new What is the weather?", factories.chat_session())
    assert "/new was not read" in reply.text
    assert reply.begins_anew


def test_stop_asks_every_unfinished_turn_to_stop() -> None:
    session = factories.chat_session()
    assert "nothing to stop" in run("/stop", session).text
    turns = [factories.turn(session=session, state=state) for state in ("running", "queued")]
    other = factories.turn()
    assert "2" in run("/stop", session).text
    assert all(Turn.objects.get(pk=turn.pk).stop_requested_at for turn in turns)
    assert Turn.objects.get(pk=other.pk).stop_requested_at is None


def test_help_lists_the_menu_in_the_persons_language() -> None:
    session = factories.chat_session()
    names = [command.name for command in commands.menu("private", channel="webchat")]
    assert names == ["help", "status", "lang", "start", "new", "reset", "stop"]
    text = run("/help", session).text
    assert all(f"/{name} — " in text for name in names)
    group = factories.chat_session(kind=ChatSession.Kind.GROUP)
    assert "/lang" not in run("/help", group).text


def test_start_introduces_the_agent() -> None:
    session = factories.chat_session(
        agent=factories.agent(name="Aziza", description="I plan trips.")
    )
    text = run("/start", session).text
    assert "Aziza" in text
    assert "I plan trips." in text


def test_status_tells_model_context_and_generation() -> None:
    session = factories.chat_session()
    factories.chain_link(agent=session.agent, model="tiny-1", window_tokens=100_000)
    Generation.objects.filter(session=session).update(context_tokens=25_000)
    text = run("/status", session).text
    for told in (session.agent.name, "tiny-1", "25", "number 1"):
        assert told in text
    assert "$" not in text


@pytest.mark.parametrize(("role", "is_told"), [("operator", True), ("member", False)])
def test_status_tells_cost_to_who_may_see_it(role: str, is_told: bool) -> None:
    person = factories.member()
    Membership.objects.filter(user=person.user).update(role=role)
    session = factories.chat_session(agent=factories.agent(team=person.team), person=person)
    factories.usage_record(team_id=person.team_id, person_id=person.pk, cost_usd=Decimal("0.0123"))
    factories.usage_record(team_id=person.team_id, person_id=None, cost_usd=Decimal(7))
    assert ("$0.0123" in run("/status", session).text) is is_told
    ChatSession.objects.filter(pk=session.pk).update(kind=ChatSession.Kind.GROUP)
    session.refresh_from_db()
    assert "$" not in run("/status", session).text


def test_lang_shows_what_there_is_and_sets_it() -> None:
    session = factories.chat_session()
    person = session.person
    assert person is not None
    shown = run("/lang", session)
    assert [choice.argument for row in shown.choices for choice in row] == [
        "en",
        "uz",
        "ru",
        "tr",
        "pl",
    ]
    assert "/lang uz — Oʻzbekcha" in shown.text
    assert "do not speak" in run("/lang klingon", session).text
    assert "Русский" in run("/lang русский", session).text
    person.refresh_from_db()
    assert person.language == "ru"


def test_lang_rings_for_the_menu_of_the_persons_chat(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[tuple[Any, ...]] = []
    monkeypatch.setattr(doorbell, "ring", lambda *what: rung.append(what))
    contact = factories.channel_contact()
    bot = contact.account
    session = factories.chat_session(agent=bot.agent, account=bot, person=contact.person)
    with django_capture_on_commit_callbacks(execute=True):
        run("/lang uz", session)
    assert (bells.MENU, contact.pk) in rung


def test_lang_of_a_user_is_the_language_of_their_pages_too() -> None:
    person = factories.member()
    session = factories.chat_session(agent=factories.agent(team=person.team), person=person)
    run("/lang tr", session)
    person.refresh_from_db()
    assert person.user is not None
    assert (person.language, person.user.language) == ("tr", "tr")


def test_reply_is_in_the_persons_language() -> None:
    session = factories.chat_session()
    assert session.person is not None
    session.person.language = "uz"
    with translation.override("en"):
        assert run("/help", session, language="en").text.startswith("Write to me")
    seen: list[str | None] = []

    def say(_: CommandContext) -> Reply:
        seen.append(translation.get_language())
        return Reply("")

    summary = gettext_lazy("Show what I understand")
    command = Command("x", summary, say)
    commands.run(
        Invocation(command, ""), session=session, person=session.person, account=session.account
    )
    assert seen == ["uz"]
