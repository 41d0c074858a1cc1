"""The judge of fault runs finds what it is there to find: loss, doubling, disorder."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from memory.models import Origin
from qanot_site.bench.faults import checks
from qanot_site.bench.faults.browser import Letter, View
from qanot_site.bench.faults.checks import Verdict
from sessions.models import ChatSession, InboundMessage, Outgoing, TranscriptEntry, Turn
from tests import factories

pytestmark = pytest.mark.django_db

STAMPS = "t=11 t=12 t=13 "
LETTER = Letter("Remember that box 1 is blue. chunks=3", chunks=3, key="k1")


def _answered(session: ChatSession, letter: Letter, *, text: str = STAMPS) -> InboundMessage:
    """Make all rows of a message that was answered as it should be."""
    now = timezone.now()
    turn = factories.turn(
        session=session, state=Turn.State.ANSWERED, first_token_at=now, committed_at=now
    )
    message = factories.inbound_message(turn=turn, external_id=letter.key)
    factories.transcript_entry(turn=turn, message=message, content=message.content)
    factories.transcript_entry(
        turn=turn,
        role=TranscriptEntry.Role.ASSISTANT,
        content=factories.content(text=factories.reply_text(text)),
    )
    factories.outgoing(turn=turn, state=Outgoing.State.SENT)
    factories.wal_entry(source=message.ref)
    return message


def _seen(message: InboundMessage, *, html: str = f"<p>{STAMPS.strip()}</p>") -> dict[str, View]:
    """Return what a browser showed that saw the whole answer live and in the end."""
    turn = str(message.turn.public_id)
    view = View(turn, live_text=STAMPS, over_at=1.0, shown_html=html, has_seen_end=True)
    view.ends = {"1-5"}
    return {turn: view}


def _judged(message: InboundMessage, views: dict[str, View], letter: Letter = LETTER) -> Verdict:
    return checks.judge(message.session, [letter], views)


def test_a_message_that_was_answered_once_is_all_right() -> None:
    message = _answered(factories.chat_session(), LETTER)
    assert _judged(message, _seen(message)) == Verdict()


def test_a_message_that_is_not_stored_is_lost() -> None:
    assert checks.judge(factories.chat_session(), [LETTER], {}).lost == 1


def test_a_turn_that_failed_is_a_lost_message() -> None:
    message = _answered(factories.chat_session(), LETTER)
    Turn.objects.update(state=Turn.State.FAILED)
    assert _judged(message, _seen(message)).lost == 1


def test_a_missing_piece_of_the_answer_is_a_loss() -> None:
    message = _answered(factories.chat_session(), LETTER, text="t=11 t=13 ")
    assert _judged(message, _seen(message)).lost == 1


def test_an_answer_that_was_not_sent_is_lost() -> None:
    message = _answered(factories.chat_session(), LETTER)
    Outgoing.objects.update(state=Outgoing.State.QUEUED)
    assert _judged(message, _seen(message)).lost == 1


def test_a_browser_that_was_never_told_is_a_loss() -> None:
    message = _answered(factories.chat_session(), LETTER)
    assert _judged(message, {}).lost == 1


def test_a_piece_that_stands_twice_is_doubled() -> None:
    message = _answered(factories.chat_session(), LETTER, text=f"{STAMPS}t=11 ")
    views = _seen(message, html=f"<p>{STAMPS}t=11</p>")
    assert _judged(message, views).doubled == 1


def test_a_piece_that_was_shown_twice_live_is_doubled() -> None:
    message = _answered(factories.chat_session(), LETTER)
    views = _seen(message)
    for view in views.values():
        view.live_text = f"t=11 {STAMPS}"
    assert _judged(message, views).doubled == 1


def test_two_ends_of_one_turn_are_doubled() -> None:
    message = _answered(factories.chat_session(), LETTER)
    views = _seen(message)
    for view in views.values():
        view.ends.add("2-9")
    assert _judged(message, views).doubled == 1


def test_the_persons_words_twice_in_the_transcript_are_doubled() -> None:
    message = _answered(factories.chat_session(), LETTER)
    factories.transcript_entry(turn=message.turn, message=message, content=message.content)
    assert _judged(message, _seen(message)).doubled == 1


def test_a_fact_that_is_not_noted_is_a_missing_wal_row() -> None:
    session = factories.chat_session()
    turn = factories.turn(session=session)
    factories.inbound_message(turn=turn, external_id=LETTER.key)
    assert not checks.has_wal(session, LETTER)
    assert checks.judge(session, [LETTER], {}).wal_missing == 1


def test_a_tool_that_had_its_effect_twice_counts() -> None:
    letter = replace(LETTER, fact="Shelf 1 is empty")
    message = _answered(factories.chat_session(), letter)
    for source in ("turn:1 call_1", "turn:1 call_2"):
        factories.wal_entry(text="Shelf 1 is empty", origin=Origin.AGENT, source=source)
    verdict = _judged(message, _seen(message), letter)
    assert (verdict.repeated_effects, verdict.doubled) == (1, 1)


def test_a_turn_that_began_before_the_earlier_one_ended_is_out_of_order() -> None:
    session = factories.chat_session()
    first = _answered(session, LETTER)
    second = _answered(session, replace(LETTER, key="k2"))
    Turn.objects.filter(pk=second.turn_id).update(
        first_token_at=timezone.now() - timedelta(minutes=1)
    )
    views = _seen(first) | _seen(second)
    assert checks.judge(session, [LETTER], views).out_of_order == 1
