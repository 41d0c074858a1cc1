"""Private chats: each update once, edits, albums, quotes, forwards, and what is no text."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from agents.models import Identity, Person
from memory.models import WalEntry
from sessions import marks
from sessions.channels.telegram import receiving
from sessions.models import (
    Attachment,
    ChannelContact,
    ChannelUpdate,
    ChatSession,
    InboundMessage,
    Turn,
)
from tests.sessions.channels.telegram.incoming import (
    MORNING,
    Json,
    contexts,
    entity,
    group,
    notices,
    texts,
    turns,
    user,
    wire,
)


@pytest.mark.django_db(transaction=True)
def test_case_telegram_inbound_1_hundred_deliveries_of_one_update_at_once_make_one_turn() -> None:
    bot = wire()
    update = bot.update(message=bot.message("My name is Bobur"))

    def deliver(_: int) -> bool:
        try:
            return receiving.take(bot.account, update)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(deliver, range(100)))
    assert sum(taken) == 1
    assert turns() == InboundMessage.objects.count() == ChannelUpdate.objects.count() == 1
    assert WalEntry.objects.count() == 1
    assert ChatSession.objects.count() == Identity.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_first_two_messages_of_somebody_at_once_make_one_person_and_one_conversation() -> None:
    bot = wire()
    made = [bot.update(message=bot.message(f"message {n}")) for n in range(12)]

    def deliver(update: Json) -> bool:
        try:
            return receiving.take(bot.account, update)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(deliver, made))
    assert ChatSession.objects.count() == Identity.objects.count() == 1
    assert Person.objects.filter(team=bot.account.team).count() == 1
    assert sorted(texts()) == sorted(f"message {n}" for n in range(12))


@pytest.mark.django_db
def test_update_that_fails_in_the_middle_leaves_nothing_and_is_taken_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = wire()
    update = bot.update(message=bot.message("Hello"))
    with monkeypatch.context() as broken:
        broken.setattr("sessions.inbox.announce_after_commit", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            receiving.take(bot.account, update)
    assert not ChannelUpdate.objects.exists()
    assert not ChatSession.objects.exists()
    assert receiving.take(bot.account, update)
    assert not receiving.take(bot.account, update)
    assert texts() == ["Hello"]


@pytest.mark.django_db
def test_person_has_name_and_language_from_telegram_and_a_conversation_of_their_own() -> None:
    bot = wire()
    bot.say("Salom", who=user(501, "Bobur", last_name="Aliyev", language_code="uz"))
    bot.say("Hi", who=user(502, "Ann", language_code="en-GB"))
    bot.say("Salut", who=user(503, "Luc", language_code="fr"))
    people = Person.objects.filter(team=bot.account.team).order_by("pk")
    assert [(each.display_name, each.language) for each in people] == [
        ("Bobur Aliyev", "uz"),
        ("Ann", "en"),
        ("Luc", ""),
    ]
    assert list(ChatSession.objects.order_by("pk").values_list("kind", "peer", "thread")) == [
        ("direct", "501", ""),
        ("direct", "502", ""),
        ("direct", "503", ""),
    ]
    message = InboundMessage.objects.get(session__peer="501")
    assert message.received_at == datetime.fromtimestamp(MORNING, UTC)
    assert (message.author_name, message.turn.viewer_person_id) == ("", people[0].pk)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "update",
    [
        {"update_id": 1},
        {"update_id": 1, "message": "no message"},
        {"update_id": 1, "message": {"message_id": "x"}},
        {"update_id": 1, "poll_answer": {"poll_id": "1"}},
        {"update_id": 1, "message": {"message_id": 1, "date": MORNING, "text": "from nobody"}},
    ],
)
def test_update_that_nobody_understands_is_let_go(update: Json) -> None:
    assert receiving.take(wire().account, update)
    assert not InboundMessage.objects.exists()
    assert ChannelUpdate.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("update", [{}, {"update_id": "7"}, {"update_id": -1}, {"update_id": True}])
def test_update_without_a_number_is_no_update(update: Json) -> None:
    assert not receiving.take(wire().account, update)


@pytest.mark.django_db
def test_messages_of_other_bots_are_let_go() -> None:
    bot = wire()
    bot.say("Beep", who=user(77, "Robot", is_bot=True))
    assert not InboundMessage.objects.exists()


# --- edits ---------------------------------------------------------------------------------------


def edited(message: Json, text: str, *, after_s: int = 5) -> Json:
    return message | {"text": text, "edit_date": MORNING + after_s}


@pytest.mark.django_db
def test_edit_before_anybody_began_takes_the_texts_place_and_its_facts_go() -> None:
    bot = wire()
    first = bot.say("My name is Sardor")
    assert bot.take(edited_message=edited(first, "My name is Bobur"))
    assert texts() == ["My name is Bobur"]
    assert turns() == 1
    live = WalEntry.objects.filter(retracted_at=None).values_list("text", flat=True)
    assert list(live) == ["My name is Bobur"]
    assert InboundMessage.objects.get().edited_at is not None


@pytest.mark.django_db
def test_edit_while_it_is_answered_follows_once_and_is_marked() -> None:
    bot = wire()
    first = bot.say("Plan a trip to Rome")
    Turn.objects.update(state=Turn.State.RUNNING, attempt=1)
    assert bot.take(edited_message=edited(first, "Plan a trip to Oslo"))
    assert bot.take(edited_message=edited(first, "Plan a trip to Oslo", after_s=6))
    assert texts() == ["Plan a trip to Rome", "Plan a trip to Oslo"]
    assert turns() == 2
    assert "edits an earlier message, which said" in contexts()[1]
    assert "Plan a trip to Rome" in contexts()[1]


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["Plan a trip to Oslo", "Plan a trip"])
def test_edit_of_an_answered_message_or_of_nothing_changes_nothing(text: str) -> None:
    bot = wire()
    first = bot.say("Plan a trip")
    if text != "Plan a trip":
        Turn.objects.update(state=Turn.State.ANSWERED, attempt=1)
    assert bot.take(edited_message=edited(first, text))
    assert texts() == ["Plan a trip"]
    assert turns() == 1


@pytest.mark.django_db
def test_older_edit_that_comes_later_does_not_win() -> None:
    bot = wire()
    first = bot.say("one")
    bot.take(edited_message=edited(first, "three", after_s=9))
    bot.take(edited_message=edited(first, "two", after_s=5))
    assert texts() == ["three"]


@pytest.mark.django_db
def test_edits_use_up_nothing_of_what_a_person_may_send() -> None:
    bot = wire(messages_per_minute=2)
    point = {"latitude": 41.0, "longitude": 69.0, "live_period": 900}
    place = bot.say(location=point)
    for n in range(1, 9):
        moved = {"location": point | {"latitude": 41.0 + n}, "edit_date": MORNING + n}
        bot.take(edited_message=place | moved)
    bot.say("Where am I?", date=MORNING + 10)
    assert texts() == ["", "Where am I?"]
    assert "49.000000" in contexts()[0]
    assert notices() == []


@pytest.mark.django_db
def test_edits_while_it_is_answered_do_not_pile_up() -> None:
    bot = wire(messages_per_minute=2)
    first = bot.say("Plan a trip to Rome")
    Turn.objects.update(state=Turn.State.RUNNING, attempt=1)
    for n in range(5):
        bot.take(edited_message=edited(first, f"Plan a trip to Oslo {n}", after_s=5 + n))
    assert texts() == ["Plan a trip to Rome", "Plan a trip to Oslo 0", "Plan a trip to Oslo 1"]


@pytest.mark.django_db
def test_edit_of_what_was_said_to_others_makes_nobody_a_contact() -> None:
    bot = wire()
    text = f"@{bot.account.username} hello"
    named = [entity("mention", text, f"@{bot.account.username}")]
    bot.say(text, chat=group(), entities=named, who=user(601))
    chatter = bot.say("to others", chat=group(), who=user(602))
    bot.take(edited_message=edited(chatter, "to others!"))
    assert list(ChannelContact.objects.values_list("external_id", flat=True)) == ["601"]


# --- what comes with it ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_forwarded_text_is_marked_and_no_fact_is_read_from_it() -> None:
    bot = wire()
    bot.say(
        "My name is Mallory and I like tea",
        forward_origin={"type": "hidden_user", "sender_user_name": "Mal] ory", "date": MORNING},
    )
    assert texts() == [""]
    assert not WalEntry.objects.exists()
    number = marks.number_of(InboundMessage.objects.get().public_id)
    assert contexts() == [
        f'[#{number} forwarded, written by "Mal ory"]\n'
        f"My name is Mallory and I like tea\n[#{number} end of what others wrote]"
    ]


@pytest.mark.django_db
def test_quoted_text_is_bounded_marked_and_no_fact_is_read_from_it() -> None:
    bot = wire()
    answered = {"message_id": 3, "chat": {"id": 501, "type": "private"}, "date": MORNING}
    bot.say("Why?", reply_to_message=answered | {"from": bot.bot, "text": "I like " + "x" * 5000})
    bot.say(
        "And this?",
        reply_to_message=answered | {"from": user(9, "Ann"), "text": "My name is Ann. Bye."},
        quote={"text": "My name is Ann.", "position": 0},
    )
    assert texts() == ["Why?", "And this?"]
    first, second = contexts()
    assert "quoted, written by you]" in first
    assert len(first) < 1_100
    assert 'quoted, written by "Ann"]\nMy name is Ann.\n' in second
    assert not WalEntry.objects.exists()


@pytest.mark.django_db
def test_what_is_no_text_is_told_in_words_and_is_no_fact() -> None:
    bot = wire()
    point = {"latitude": 41.311081, "longitude": 69.240562}
    bot.say(sticker={"file_id": "s", "emoji": "🎉", "type": "regular"})
    bot.say(location=point)
    bot.say(venue={"location": point, "title": "Chorsu", "address": "Old town"}, location=point)
    bot.say(contact={"phone_number": "+998901234567", "first_name": "My name is", "user_id": 3})
    bot.say(
        poll={"id": "1", "question": "Tea?", "options": [{"text": "Yes", "voter_count": 0}]},
    )
    bot.say(dice={"emoji": "🎲", "value": 4})
    bot.say(story={"chat": {"id": 1, "type": "channel"}, "id": 3})
    said = "\n".join(contexts())
    for words in (
        "sticker 🎉",
        "location 41.311081, 69.240562",
        "a place]\nChorsu\nOld town\n41.311081, 69.240562",
        "a contact]\nMy name is\n+998901234567",
        "a poll]\nTea?\n- Yes",
        "thrown 🎲: 4",
        "a story, which cannot be shown",
    ):
        assert words in said
    assert turns() == 1
    assert not WalEntry.objects.exists()


@pytest.mark.django_db
def test_service_messages_are_let_go() -> None:
    bot = wire()
    bot.say(pinned_message={"message_id": 1, "date": 0, "chat": {"id": 501, "type": "private"}})
    assert not InboundMessage.objects.exists()


@pytest.mark.django_db
def test_files_become_attachments_that_wait_to_be_fetched() -> None:
    bot = wire()
    sizes = [
        {
            "file_id": f"p{edge}",
            "file_unique_id": "u",
            "width": edge,
            "height": edge,
            "file_size": 9,
        }
        for edge in (90, 1280, 320)
    ]
    bot.say(photo=sizes, caption="What is this?")
    document = {"file_id": "d", "file_name": "a\nb.pdf", "mime_type": "application/pdf"}
    bot.say(document=document | {"file_size": 1234})
    bot.say(voice={"file_id": "v", "duration": 2, "mime_type": "audio/ogg"})
    bot.say(animation={"file_id": "g", "mime_type": "video/mp4"}, document={"file_id": "g"})
    found = Attachment.objects.order_by("pk")
    assert [(each.kind, each.reference, each.name, each.media_type) for each in found] == [
        ("photo", "p1280", "", "image/jpeg"),
        ("document", "d", "a b.pdf", "application/pdf"),
        ("voice", "v", "", "audio/ogg"),
        ("video", "g", "", "video/mp4"),
    ]
    assert {each.state for each in found} == {Attachment.State.WAITING}
    assert texts() == ["What is this?", "", "", ""]


@pytest.mark.django_db
def test_album_is_one_turn_and_counts_as_one_message() -> None:
    bot = wire(messages_per_minute=2)
    for n in range(6):
        caption = {"caption": "Our garden"} if n == 0 else {}
        bot.say(
            photo=[{"file_id": f"p{n}", "width": 9, "height": 9}], media_group_id="A1", **caption
        )
    assert turns() == 1
    assert texts() == ["Our garden", "", "", "", "", ""]
    assert Attachment.objects.count() == 6
    assert Turn.objects.get().not_before is not None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given",
    [
        {"text": "a\x00b \ud800", "from": user(501, "\x00\ud800", username="b\x00\udfff")},
        {
            "document": {
                "file_id": "f\x00\ud800",
                "file_name": "\ud800/../\x00",
                "mime_type": "\x00",
            }
        },
        {"text": "hi", "message_id": 10**30},
        {"text": "hi", "from": user(10**40)},
        {"text": "hi", "entities": [{"type": "text_link", "offset": -5, "length": 9, "url": "x"}]},
    ],
)
def test_what_cannot_be_stored_as_it_is_is_taken_in_without_it(given: Json) -> None:
    bot = wire()
    bot.say(**given)
    assert turns() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("moment", [10**14, -1, "soon", 2**63])
def test_message_of_no_day_is_let_go(moment: object) -> None:
    bot = wire()
    bot.say("Hello", date=moment)
    bot.take(edited_message=bot.message("Hello", edit_date=moment))
    assert turns() == 0


@pytest.mark.django_db
def test_link_behind_a_word_is_told() -> None:
    bot = wire()
    text = "👍 see here, please"
    link = entity("text_link", text, "here", url="https://example.com/a")
    bot.say(text, entities=[link])
    assert texts() == ["👍 see here (https://example.com/a), please"]


@pytest.mark.django_db
def test_rich_message_is_read_without_its_looks() -> None:
    bot = wire()
    blocks = [
        {"type": "paragraph", "text": ["Hello ", {"type": "bold", "text": "there"}]},
        {"type": "list", "items": [{"label": "1", "blocks": [{"type": "paragraph", "text": "x"}]}]},
    ]
    bot.say(rich_message={"blocks": blocks})
    assert texts() == ["Hello there\nx"]


@pytest.mark.django_db
def test_messages_of_hours_in_which_we_were_down_are_all_answered() -> None:
    bot = wire(messages_per_minute=2)
    for n in range(5):
        bot.say(f"message {n}", date=MORNING + 60 * n)
    assert texts() == [f"message {n}" for n in range(5)]


@pytest.mark.django_db
def test_message_from_the_future_is_one_of_now() -> None:
    bot = wire()
    bot.say("Hello", date=int((timezone.now() + timedelta(days=2)).timestamp()))
    assert InboundMessage.objects.get().received_at <= timezone.now()
