"""Who may talk: strangers, pairing, blocked people, and whoever writes too fast."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Membership, Person
from agents.services import people
from sessions.channels.telegram import pairing
from sessions.models import (
    Attachment,
    ChannelContact,
    ChatSession,
    InboundMessage,
    Outgoing,
    PairingLink,
    PairingRequest,
    Turn,
)
from tests import factories
from tests.sessions.channels.telegram.incoming import (
    GROUP_ID,
    MORNING,
    Wire,
    command,
    entity,
    group,
    notices,
    texts,
    turns,
    user,
    wire,
)

pytestmark = pytest.mark.django_db


def contact() -> ChannelContact:
    return ChannelContact.objects.get()


def allow(bot: Wire, **columns: Any) -> None:
    """Change the one contact's row; Any: columns."""
    ChannelContact.objects.filter(account=bot.account).update(**columns)


def ask(bot: Wire, **given: Any) -> None:
    text = f"@{bot.account.username} hello"
    named = [entity("mention", text, f"@{bot.account.username}")]
    bot.say(text, **({"chat": group(), "entities": named} | given))


def test_stranger_is_told_once_an_hour_and_nothing_else_is_made_of_them() -> None:
    bot = wire(access="allowlist")
    for n in range(3):
        bot.say(f"Hello {n}", who=user(language_code="en"))
    assert notices() == ["Sorry, I only talk with people whom my owners let in."]
    assert (turns(), Person.objects.filter(team=bot.account.team).count()) == (0, 0)
    assert not ChatSession.objects.exists()
    allow(bot, refused_at=timezone.now() - timedelta(minutes=61))
    bot.say("Hello again")
    assert len(notices()) == 2


def test_stranger_of_a_pairing_bot_is_told_their_code_and_how_long_it_is_good() -> None:
    bot = wire(access="pairing")
    bot.say("Hello", who=user(language_code="en"))
    request = PairingRequest.objects.get()
    (line,) = notices()
    assert request.code in line
    assert "60 minutes" in line
    assert turns() == 0
    pairing.accept_code(bot.account, request.code, owner(bot))
    bot.say("Hello now")
    assert texts() == ["Hello now"]


def test_code_is_never_told_in_a_group() -> None:
    bot = wire(access="pairing")
    ask(bot, who=user(language_code="en"), message_id=5)
    (notice,) = Outgoing.objects.all()
    assert (notice.peer, notice.reply_to) == (str(GROUP_ID), "5")
    assert "private chat" in notices()[0]
    assert not PairingRequest.objects.exists()
    assert turns() == 0


def test_whoever_was_told_in_a_group_to_write_in_private_gets_a_code_there_once() -> None:
    bot = wire(access="pairing")
    ask(bot, who=user(language_code="en"))
    bot.say("Hello", who=user(language_code="en"))
    bot.say("Hello?", who=user(language_code="en"))
    assert len(notices()) == 2
    assert PairingRequest.objects.get().code in notices()[1]


def test_where_too_many_wait_a_stranger_is_told_once_too() -> None:
    bot = wire(access="pairing")
    for _ in range(pairing.MOST_OPEN):
        factories.pairing_request(contact=factories.channel_contact(account=bot.account))
    # Beyond the numbers that factories give.
    stranger = user(10**9, language_code="en")
    bot.say("Hello", who=stranger)
    bot.say("Hello?", who=stranger)
    assert notices() == ["Sorry, I only talk with people whom my owners let in."]


def test_allowed_contact_talks_in_groups_too() -> None:
    bot = wire(access="allowlist")
    factories.channel_contact(account=bot.account, external_id="501", person=None, access="allowed")
    bot.say("Hello")
    ask(bot)
    assert turns() == 2
    assert contact().person == Person.objects.get(identities__external_id="501")


@pytest.mark.parametrize("access", ["open", "pairing"])
def test_blocked_people_get_nothing_at_all(access: str) -> None:
    bot = wire(access=access)
    factories.channel_contact(account=bot.account, external_id="501", access="blocked")
    bot.say("Hello")
    bot.say("/start", entities=command("/start"))
    ask(bot)
    assert (turns(), notices()) == (0, [])


def test_line_to_a_stranger_is_in_their_language_or_the_agents() -> None:
    bot = wire(access="allowlist")
    bot.say("Salom", who=user(701, language_code="uz"))
    bot.say("Bonjour", who=user(702, language_code="fr"))
    assert ChannelContact.objects.get(external_id="701").language == "uz"
    assert ChannelContact.objects.get(external_id="702").language == ""
    assert notices()[1] == "Sorry, I only talk with people whom my owners let in."


# --- links ---------------------------------------------------------------------------------------


def owner(bot: Wire) -> Any:
    """Return an owner of the bot's team; Any: a User with rights."""
    return factories.membership(team=bot.account.team, role=Membership.Role.OWNER).user


def test_link_connects_whoever_opens_it_with_the_person_it_is_for() -> None:
    bot = wire(access="pairing")
    admin = owner(bot)
    person = people.person_of(admin, bot.account.team)
    _, token = pairing.make_link(bot.account, person, admin)
    text = f"/start {token}"
    bot.say(text, entities=command(text), who=user(language_code="en"))
    assert notices() == [f"Done: you are {person} here now. Just write to me."]
    assert turns() == 0
    bot.say("Hello")
    assert InboundMessage.objects.get().person == person
    assert ChatSession.objects.get().person == person


def test_person_who_was_somebody_else_before_keeps_their_one_conversation() -> None:
    bot = wire(access="open")
    bot.say("Hello", who=user(language_code="en"))
    admin = owner(bot)
    person = people.person_of(admin, bot.account.team)
    _, token = pairing.make_link(bot.account, person, admin)
    bot.say(f"/start {token}", who=user(language_code="en"))
    # Their conversations would go with them: they are told to whom.
    assert f"This link makes you {person}" in notices()[-1]
    assert ChatSession.objects.get().person != person
    bot.say(f"/start {token}")
    bot.say("Me again")
    assert ChatSession.objects.get().person == person
    assert InboundMessage.objects.get(content__text="Me again").person == person


def test_link_that_is_none_is_as_if_nothing_stood_there() -> None:
    bot = wire(access="pairing")
    bot.say("/start not-a-link", who=user(language_code="en"))
    (line,) = notices()
    assert PairingRequest.objects.get().code in line


def test_forwarded_link_connects_nobody() -> None:
    bot = wire(access="open")
    admin = owner(bot)
    person = people.person_of(admin, bot.account.team)
    _, token = pairing.make_link(bot.account, person, admin)
    origin = {"type": "user", "date": 1, "sender_user": user(666, "Mallory")}
    bot.say(f"/start {token}", forward_origin=origin)
    assert InboundMessage.objects.get().person != person
    assert PairingLink.objects.get().used_by is None


def test_merged_person_is_followed_to_whom_they_are_now() -> None:
    bot = wire()
    bot.say("Hello")
    other = factories.person(team=bot.account.team)
    Person.objects.filter(identities__external_id="501").update(merged_into=other)
    bot.say("Me again")
    assert ChatSession.objects.get().person == other
    assert contact().person == other


# --- pace ----------------------------------------------------------------------------------------


def test_whoever_writes_too_fast_is_told_once_and_heard_again_after_the_pause() -> None:
    bot = wire(messages_per_minute=3)
    for n in range(8):
        bot.say(f"message {n}", date=MORNING + n, who=user(language_code="en"))
    assert texts() == ["message 0", "message 1", "message 2"]
    (line,) = notices()
    assert "57 seconds" in line
    bot.say("too early", date=MORNING + 59)
    bot.say("in time", date=MORNING + 60)
    assert texts()[3:] == ["in time"]
    assert len(notices()) == 1


def test_pace_is_each_persons_own() -> None:
    bot = wire(messages_per_minute=1)
    bot.say("mine", who=user(701))
    bot.say("mine", who=user(702))
    ask(bot, who=user(702))
    assert turns() == 2
    assert len(notices()) == 1


# --- commands ------------------------------------------------------------------------------------


def test_command_is_done_once_and_no_turn_is_made_of_it() -> None:
    bot = wire()
    update = bot.update(message=bot.message("/new", who=user(language_code="en")))
    assert bot.take(**{"message": update["message"]})
    session = ChatSession.objects.get()
    assert session.generations.count() == 2
    assert turns() == 0
    assert notices()[0].startswith("A new conversation begins here.")
    assert Outgoing.objects.get().session == session


def test_answer_is_stopped_in_a_pause_too() -> None:
    bot = wire(messages_per_minute=2)
    who = user(language_code="en")
    for n in range(3):
        bot.say(f"message {n}", date=MORNING + n, who=who)
    bot.say("/stop", entities=command("/stop"), date=MORNING + 5, who=who)
    assert notices()[1:] == ["Stopped: 1 answer."]
    assert Turn.objects.get().stop_requested_at is not None
    # With nothing to stop it waits like everything else.
    Turn.objects.update(state=Turn.State.ANSWERED)
    bot.say("/stop", entities=command("/stop"), date=MORNING + 6, who=who)
    assert len(notices()) == 2


def test_picture_under_a_command_is_a_message() -> None:
    bot = wire()
    picture = [{"file_id": "p", "width": 9, "height": 9}]
    bot.say(caption="/new", caption_entities=command("/new"), photo=picture)
    assert (texts(), turns()) == (["/new"], 1)
    assert Attachment.objects.count() == 1
    assert ChatSession.objects.get().generations.count() == 1


def test_unknown_command_is_a_text_like_any_other() -> None:
    bot = wire()
    bot.say("/frobnicate now")
    assert texts() == ["/frobnicate now"]


def test_forwarded_command_is_none() -> None:
    bot = wire()
    origin = {"type": "user", "sender_user": user(9), "date": MORNING}
    bot.say("/new", forward_origin=origin)
    assert ChatSession.objects.get().generations.count() == 1
    assert turns() == 1


def test_bot_whose_agent_was_archived_says_nothing() -> None:
    bot = wire()
    agent = bot.account.agent
    assert agent is not None
    agent.archived_at = timezone.now()
    agent.save()
    bot.say("Hello")
    assert (turns(), notices()) == (0, [])


def test_rules_that_changed_hold_at_once() -> None:
    bot = wire()
    stale = bot.account
    bot.say("Hello")
    type(stale).objects.update(access="allowlist")
    bot.say("Hello again")
    assert texts() == ["Hello"]
