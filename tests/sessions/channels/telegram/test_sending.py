"""Rows on their way to Telegram: every form, every refusal, and what is known afterwards."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from agents.core.messages import AssistantMessage, Reply, TextBlock, dump_reply
from agents.db import in_db
from agents.models import File
from sessions import courier, outbox
from sessions.channels.telegram import client, limits, outlet, sending, tokens
from sessions.models import ChannelAccount, ChatSession, Outgoing, TranscriptEntry, Turn
from sessions.outbox import Button
from sessions.turns import finishing
from tests import factories
from tests.fakes.telegram import TOKEN, Call, FakeTelegram, Fault, too_many
from tests.sessions.conftest import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PEER = "7"
State = Outgoing.State


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTelegram]:
    outlet.warm()
    monkeypatch.setattr(limits.PACER, "_silent_until", {})
    monkeypatch.setattr(limits.PACER, "_chats", {})
    monkeypatch.setattr(sending, "_without_rich", {})
    with FakeTelegram() as fake:
        yield fake
        fake.assert_done()


def bot(server: FakeTelegram, **given: object) -> ChannelAccount:
    return factories.telegram_account(
        base_url=server.base_url,
        may_reach_private=True,
        sealed_token=tokens.seal_token(TOKEN),
        **given,
    )


def answer(server: FakeTelegram, markdown: str, **given: object) -> Outgoing:
    """Make a finished turn's row."""
    account = bot(server)
    session = factories.chat_session(account=account, agent=account.agent, peer=PEER)
    turn = factories.turn(session=session, state=Turn.State.ANSWERED)
    reply = Reply(AssistantMessage((TextBlock(markdown),)), "end", None, "")
    factories.transcript_entry(
        turn=turn,
        role=TranscriptEntry.Role.ASSISTANT,
        content=factories.content(team=account.team, text=dump_reply(reply)),
    )
    return factories.outgoing(turn=turn, peer=PEER, **given)


async def carry(row: Outgoing, state: str = State.SENT) -> Outgoing:
    """Let a courier send until the row is in a state."""
    carrier = courier.Courier(0)
    carrier.wake(row.pk)
    try:
        await in_db(wait_until, lambda: Outgoing.objects.get(pk=row.pk).state == state)
    finally:
        await carrier.aclose(5)
        await client.close_bots()
    await in_db(row.refresh_from_db)
    return row


def posts(server: FakeTelegram) -> list[Call]:
    return server.called(chat=int(PEER))


async def test_each_form_is_a_fallback_of_the_one_before(server: FakeTelegram) -> None:
    refused = "Bad Request: can't parse entities"
    server.fail(
        Fault(method="sendRichMessage", status=404, description="Not Found"),
        Fault(method="sendMessage", status=400, description=refused, times=2),
    )
    row = await in_db(answer, server, "| a | b |\n|---|---|\n| 1 | 2 |")
    await carry(row)
    calls = posts(server)
    assert [call.method for call in calls] == ["sendRichMessage", *["sendMessage"] * 3]
    assert "<table>" in calls[0].params["rich_message"]["html"]
    assert calls[1].params["entities"][0]["type"] == "pre"
    assert calls[2].params["parse_mode"] == "HTML"
    assert calls[2].params["text"].startswith("<pre>")
    assert "parse_mode" not in calls[3].params
    assert "entities" not in calls[3].params
    # The server knows none: it is not asked again.
    await carry(await in_db(answer_again, row))
    assert [call.method for call in posts(server)[4:]] == ["sendMessage"]


def answer_again(row: Outgoing) -> Outgoing:
    assert row.turn is not None
    session = row.turn.session
    turn = factories.turn(session=session, state=Turn.State.ANSWERED)
    entry = TranscriptEntry.objects.get(turn=row.turn)
    factories.transcript_entry(turn=turn, role=entry.role, content=entry.content)
    return factories.outgoing(turn=turn, peer=PEER)


async def test_rich_message_shows_a_table_where_the_server_has_them(server: FakeTelegram) -> None:
    row = await carry(await in_db(answer, server, "| a | b |\n|---|---|\n| 1 | 2 |"))
    assert [call.method for call in posts(server)] == ["sendRichMessage"]
    assert row.sent_at is not None


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


def grown(server: FakeTelegram, markdown: str) -> Outgoing:
    """Make the row of an answer of which a half stands in the chat already."""
    row = answer(server, markdown)
    half = {"chat_id": int(PEER), "text": "Half a"}
    shown = server.api.call(server.bot(), "sendMessage", half, {})
    Turn.objects.update(shown_in=str(shown["message_id"]))
    row.refresh_from_db()
    return row


async def test_growing_message_becomes_a_rich_one(server: FakeTelegram) -> None:
    await carry(await in_db(grown, server, TABLE))
    (call,) = posts(server)
    assert call.method == "editMessageText"
    assert "<table>" in call.params["rich_message"]["html"]


async def test_each_form_of_an_edit_is_a_fallback_of_the_one_before(server: FakeTelegram) -> None:
    server.api.has_rich = False
    refused = "Bad Request: can't parse entities"
    server.fail(Fault(method="editMessageText", status=400, description=refused, times=2, skip=1))
    row = await carry(await in_db(grown, server, TABLE))
    rich, formatted, html, plain = posts(server)
    assert {call.method for call in posts(server)} == {"editMessageText"}
    assert "rich_message" in rich.params
    assert formatted.params["entities"][0]["type"] == "pre"
    assert html.params["parse_mode"] == "HTML"
    assert html.params["text"].startswith("<pre>")
    assert not {"entities", "parse_mode"} & plain.params.keys()
    assert len(server.texts(int(PEER))) == 1
    # The server knows none: it is not asked again.
    await carry(await in_db(answer_again, row))
    assert [call.method for call in posts(server)[4:]] == ["sendMessage"]


async def test_half_a_text_that_cannot_be_edited_goes(server: FakeTelegram) -> None:
    refused = "Bad Request: message can't be edited"
    server.fail(Fault(method="editMessageText", status=400, description=refused, times=3))
    await carry(await in_db(grown, server, "The **whole** answer."))
    assert server.texts(int(PEER)) == ["The whole answer."]


async def test_half_a_text_that_somebody_took_back_is_not_looked_for(server: FakeTelegram) -> None:
    row = await in_db(grown, server, "The **whole** answer.")
    server.api.messages.clear()
    await carry(row)
    assert [call.method for call in posts(server)] == ["editMessageText", "sendMessage"]


async def test_token_that_no_server_knows_keeps_its_rows(server: FakeTelegram) -> None:
    server.fail(Fault(method="sendMessage", status=404, description="Not Found"))
    row = await in_db(answer, server, "Hello")
    carrier = courier.Courier(0)
    carrier.wake(row.pk)
    await in_db(wait_until, Outgoing.objects.filter(not_before__isnull=False).exists)
    await carrier.aclose(5)
    await client.close_bots()
    await in_db(row.refresh_from_db)
    assert (row.state, row.error) == (State.QUEUED, "404")
    assert row.not_before is not None
    assert row.not_before - timezone.now() > timedelta(seconds=outlet.NO_TOKEN_PAUSE_S - 10)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=403, description="Forbidden: bot was blocked by the user"), "blocked"),
        (Fault(status=400, description="Bad Request: chat not found"), "chat_not_found"),
        (
            Fault(status=400, description="Bad Request: not enough rights to send text messages"),
            "no_rights",
        ),
    ],
)
async def test_what_can_never_arrive_fails_with_a_code_after_one_request(
    server: FakeTelegram, fault: Fault, code: str
) -> None:
    server.fail(fault)
    row = await carry(await in_db(answer, server, "**Hi**"), State.FAILED)
    assert row.error == code
    assert len(posts(server)) == 1


@pytest.mark.parametrize("kind", ["lose", "refuse"])
async def test_an_unknown_outcome_is_sent_again_marked(server: FakeTelegram, kind: str) -> None:
    server.fail(Fault(method="sendMessage", kind=kind, status=502))  # type: ignore[arg-type]  # one of them
    row = await in_db(answer, server, "The answer.")
    await carry(row)
    texts = [call.params["text"] for call in posts(server)]
    assert texts == ["The answer.", "The answer.\n\n(sent again)"]
    part = await in_db(row.parts.get)
    assert part.attempts == 2


async def test_an_unknown_outcome_is_held_where_the_account_says_so(
    server: FakeTelegram,
) -> None:
    server.fail(Fault(method="sendMessage", kind="lose"))
    row = await in_db(answer, server, "The answer.")
    await in_db(ChannelAccount.objects.update, unknown_policy="hold")
    await carry(row, State.UNKNOWN)
    assert len(posts(server)) == 1
    assert row.error == "unanswered"


async def test_a_limit_in_the_middle_goes_on_at_the_missing_part(server: FakeTelegram) -> None:
    server.fail(
        Fault(method="sendMessage", status=429, description="Too Many", retry_after=1, skip=1)
    )
    text = "\n\n".join(f"Paragraph {n}: " + "word " * 150 for n in range(14))
    row = await carry(await in_db(answer, server, text))
    taken = [call.params["text"] for call in posts(server) if call.status == 200]
    assert len(taken) == 3
    assert " ".join(taken).split() == text.split()
    assert len(posts(server)) == 4
    states = await in_db(lambda: list(row.parts.values_list("number", "state", "attempts")))
    assert states == [(1, "sent", 1), (2, "sent", 1), (3, "sent", 1)]


async def test_a_notice_leaves_as_it_is_with_its_buttons(server: FakeTelegram) -> None:
    account = await in_db(bot, server)
    row = await in_db(
        outbox.queue_notice,
        account,
        PEER,
        "*Not* <b>markup</b>",
        key="k",
        buttons=[[Button("Yes", data="y"), Button("Site", url="https://example.org")]],
    )
    await carry(row)
    (call,) = posts(server)
    assert call.params["text"] == "*Not* <b>markup</b>"
    assert "entities" not in call.params
    assert call.params["reply_markup"]["inline_keyboard"] == [
        [{"text": "Yes", "callback_data": "y"}, {"text": "Site", "url": "https://example.org"}]
    ]


@pytest.mark.parametrize(
    ("media_type", "method"), [("image/png", "sendPhoto"), ("text/csv", "sendDocument")]
)
async def test_a_file_leaves_with_a_caption_and_what_it_cannot_hold_follows(
    server: FakeTelegram, media_type: str, method: str
) -> None:
    account = await in_db(bot, server)
    file = await in_db(stored_file, account, media_type)
    caption = "A sentence here. " * 80
    row = await in_db(outbox.queue_file, account, PEER, file, key="k", caption=caption)
    await carry(row)
    first, second = posts(server)
    assert (first.method, second.method) == (method, "sendMessage")
    assert len(first.params["caption"]) <= 1_024
    whole = first.params["caption"] + " " + second.params["text"]
    assert whole.split() == caption.split()


def stored_file(account: ChannelAccount, media_type: str) -> File:
    file: File = factories.file(team=account.team, media_type=media_type, name="data.bin")
    file.content.save("data.bin", ContentFile(b"1,2,3"))
    return file


async def test_leaked_tool_calls_do_not_leave(server: FakeTelegram) -> None:
    await carry(await in_db(answer, server, 'Done. <tool_call>{"name": "x"}</tool_call>'))
    assert [call.params["text"] for call in posts(server)] == ["Done."]


async def test_an_answer_without_words_says_so(server: FakeTelegram) -> None:
    row = await in_db(answer, server, "")
    await carry(row)
    assert posts(server)[0].params["text"] == "I have nothing to say to this."


async def test_one_limited_chat_delays_no_other(server: FakeTelegram) -> None:
    account = await in_db(bot, server)
    server.fail(too_many(30, chat_id=int(PEER)))
    slow = await in_db(outbox.queue_notice, account, PEER, "slow", key="slow")
    quick = [
        await in_db(outbox.queue_notice, account, str(n), "quick", key=f"{n}")
        for n in range(100, 110)
    ]
    carrier = courier.Courier(0)
    for row in (slow, *quick):
        carrier.wake(row.pk)
    sent = Outgoing.objects.filter(state=State.SENT)
    await in_db(wait_until, lambda: sent.count() == len(quick))
    await in_db(slow.refresh_from_db)
    assert slow.state == State.QUEUED
    assert slow.not_before is not None
    assert slow.not_before > timezone.now()
    await carrier.aclose(5)
    await client.close_bots()


async def test_a_bot_without_a_token_keeps_its_rows(server: FakeTelegram) -> None:
    account = await in_db(bot, server)
    await in_db(ChannelAccount.objects.update, sealed_token="")
    row = await in_db(outbox.queue_notice, account, PEER, "x", key="k")
    carrier = courier.Courier(0)
    carrier.wake(row.pk)
    put_back = Outgoing.objects.filter(not_before__isnull=False)
    await in_db(wait_until, put_back.exists)
    await in_db(row.refresh_from_db)
    assert (row.state, row.error) == (State.QUEUED, "KeyMissing")
    await carrier.aclose(5)


def test_an_answer_in_a_group_replies_to_the_last_question() -> None:
    session = factories.chat_session(kind="group")
    turn = factories.turn(session=session)
    for number in ("11", "12"):
        factories.inbound_message(turn=turn, session=session, channel_message_id=number)
    assert finishing.asked_in(turn) == "12"


@pytest.mark.parametrize("shown_in", ["", "31"])
async def test_group_that_became_a_supergroup_is_answered_there(
    server: FakeTelegram, shown_in: str
) -> None:
    new = -1_009_000_000_007
    server.fail(
        Fault(
            chat_id=-77,
            times=None,
            status=400,
            description="Bad Request: group chat was upgraded to a supergroup chat",
            moved_to=new,
        )
    )

    def make() -> tuple[Outgoing, Outgoing]:
        first = answer(server, "one", reply_to="30")
        assert first.turn is not None
        ChatSession.objects.update(kind=ChatSession.Kind.GROUP, peer="-77", thread="")
        Turn.objects.update(shown_in=shown_in)
        Outgoing.objects.update(peer="-77")
        second = factories.outgoing(
            account=first.account, turn=None, session=first.session, peer="-77", key="second",
            kind=Outgoing.Kind.NOTICE, content=factories.content(text="two"), reply_to="30",
        )  # fmt: skip
        return first, second

    first, second = await in_db(make)
    await carry(first)
    await carry(second)
    assert (first.peer, second.peer) == (str(new), str(new))
    said = server.called("sendMessage", chat=new)
    assert [call.params["text"] for call in said] == ["one", "two"]
    assert not [call for call in said if "reply_parameters" in call.params]
    assert len(server.called(chat=-77)) == 1
    session = ChatSession.objects.filter(outgoing=first)
    assert (await in_db(session.get)).peer == str(new)
