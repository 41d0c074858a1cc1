"""What the benches of bots read out of rows and recorded requests."""

import pytest

from qanot_site.bench.faults import deliveries
from qanot_site.bench.faults.points import CHUNKS
from qanot_site.bench.telegram import faults
from qanot_site.bench.telegram.people import NS_PER_MS, Call, Post, shown
from sessions.models import InboundMessage, Outgoing, Turn
from tests import factories

ANSWER = "r=10 " + " ".join(f"t={stamp}" for stamp in range(100, 100 + CHUNKS))
MARKED = f"{ANSWER}\n\nThis may have come before."


@pytest.mark.parametrize(
    ("texts", "lost", "doubled", "resent"),
    [
        ([ANSWER], 0, 0, 0),
        ([MARKED], 0, 0, 0),
        ([ANSWER, MARKED], 0, 0, 1),
        ([ANSWER, ANSWER], 0, 1, 0),
        ([ANSWER, MARKED, MARKED], 0, 1, 1),
        ([ANSWER, ANSWER.replace("t=1", "t=2")], 0, 1, 0),
        ([], 1, 0, 0),
        (["Something went wrong."], 1, 0, 0),
    ],
)
def test_marked_copies_are_told_from_doubled_answers(
    texts: list[str], lost: int, doubled: int, resent: int
) -> None:
    verdict = deliveries.judge(texts)
    assert (verdict.lost, verdict.doubled, verdict.resent) == (lost, doubled, resent)


def _call(method: str, at_ms: int, **params: object) -> Call:
    is_draft = "draft_id" in params
    return {
        "method": method,
        "at_ns": at_ms * NS_PER_MS,
        "status": 200,
        "result": None if is_draft else 7,
        "params": {"chat_id": 5, **params},
    }


def test_models_own_time_is_not_the_platforms() -> None:
    # Asked at 20 ms, it began at 120 ms and ended at 320 ms.
    text = f"r={20 * NS_PER_MS} t={120 * NS_PER_MS} t={320 * NS_PER_MS} "
    first = f"r={20 * NS_PER_MS} t={120 * NS_PER_MS} "
    calls = [
        _call("sendMessageDraft", 5, draft_id=1, text=""),
        _call("sendMessageDraft", 150, draft_id=1, text=first),
        _call("sendMessage", 160, chat_id=6, text=text),
        _call("sendMessage", 360, text=text),
    ]
    found = shown(Post(user=5, sent_ns=0, status=200, took_ms=3.0), calls)
    assert found is not None
    assert (found.draft, found.final) == (50.0, 60.0)
    assert shown(Post(user=5, sent_ns=400 * NS_PER_MS, status=200, took_ms=3.0), calls) is None


@pytest.mark.django_db
def test_rows_show_what_was_lost_and_what_is_there_twice() -> None:
    account = factories.telegram_account()
    session = factories.chat_session(account=account, agent=account.agent)

    def letter(number: int, **turn: object) -> faults.Letter:
        text = f"Remember that box {number} is blue."
        if turn:
            made = factories.turn(session=session, **turn)
            content = factories.content(text=text)
            message: InboundMessage = factories.inbound_message(turn=made, content=content)
            factories.wal_entry(source=message.ref)
            factories.outgoing(turn=made, state=Outgoing.State.SENT)
        return faults.Letter(account.pk, 5, text, is_answered=True)

    fine = letter(1, state=Turn.State.ANSWERED)
    failed = letter(2, state=Turn.State.FAILED)
    gone = letter(3)
    twice = letter(4, state=Turn.State.ANSWERED)
    letter(4, state=Turn.State.ANSWERED)
    figures = [faults._verdict_on(each) for each in (fine, failed, gone, twice)]
    assert [verdict.lost for verdict in figures] == [0, 1, 1, 0]
    assert [verdict.doubled for verdict in figures] == [0, 0, 0, 1]
    assert [verdict.wal_missing for verdict in figures] == [0, 0, 0, 0]
