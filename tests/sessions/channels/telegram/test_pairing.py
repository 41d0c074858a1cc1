"""Who comes to be allowed to talk with a bot, by a code or by a link."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.core.viewer import Viewer
from agents.models import AuditEvent, Identity, Membership, Person
from memory import documents
from memory.models import MemoryDocument, WalEntry
from sessions.channels.telegram import pairing
from sessions.errors import NotPending, WrongCode
from sessions.models import (
    ChannelAccount,
    ChannelContact,
    ChatSession,
    Outgoing,
    PairingLink,
    PairingRequest,
)
from tests import factories

pytestmark = pytest.mark.django_db
Access = ChannelContact.Access


def asked(contact: ChannelContact) -> PairingRequest:
    """Ask, and return the request."""
    request = pairing.ask(contact)
    assert request is not None
    return request


def editor_of(account: ChannelAccount) -> Person:
    """Make an editor of a bot's team."""
    return member_of(account, Membership.Role.EDITOR)


def member_of(account: ChannelAccount, role: Membership.Role) -> Person:
    """Make somebody with a role in a bot's team."""
    person = factories.member(team=account.team)
    Membership.objects.filter(user=person.user).update(role=role)
    return person


def user_of(person: Person):  # type: ignore[no-untyped-def]
    """Return a person's user."""
    assert person.user is not None
    return person.user


# --- codes --------------------------------------------------------------------------------


def test_asking_again_gives_the_same_code_until_it_expires() -> None:
    contact = factories.channel_contact()
    request = asked(contact)
    assert len(request.code) == 6
    assert set(request.code) <= set(pairing.LETTERS)
    assert asked(contact) == request
    PairingRequest.objects.update(expires_at=timezone.now())
    renewed = asked(contact)
    assert renewed.pk == request.pk
    assert renewed.code != request.code
    assert pairing.is_pending(renewed)


def test_accepted_contact_may_talk_and_is_told_in_their_language() -> None:
    contact = factories.channel_contact(language="en")
    user = user_of(editor_of(contact.account))
    request = asked(contact)
    pairing.accept(request, user)
    contact.refresh_from_db()
    assert (contact.access, contact.decided_by) == (Access.ALLOWED, user)
    sent = Outgoing.objects.select_related("content").get()
    assert (sent.peer, sent.kind) == (contact.external_id, Outgoing.Kind.NOTICE)
    assert sent.content is not None
    assert "You may talk with me now" in sent.content.text
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert {"pairing.accepted", "contact.allowed"} <= set(actions)
    with pytest.raises(NotPending):
        pairing.refuse(PairingRequest.objects.get(pk=request.pk), user)


def test_refused_contact_is_blocked() -> None:
    contact = factories.channel_contact()
    pairing.refuse(asked(contact), user_of(editor_of(contact.account)))
    contact.refresh_from_db()
    assert contact.access == Access.BLOCKED


def test_expired_request_cannot_be_accepted() -> None:
    contact = factories.channel_contact()
    request = asked(contact)
    PairingRequest.objects.update(expires_at=timezone.now())
    with pytest.raises(NotPending):
        pairing.accept(request, user_of(editor_of(contact.account)))
    contact.refresh_from_db()
    assert contact.access == Access.UNKNOWN


def test_code_is_accepted_however_it_is_typed() -> None:
    contact = factories.channel_contact()
    request = asked(contact)
    typed = f" {request.code[:3].lower()}-{request.code[3:]} "
    pairing.accept_code(contact.account, typed, user_of(editor_of(contact.account)))
    contact.refresh_from_db()
    assert contact.access == Access.ALLOWED


def test_code_can_be_guessed_a_few_times_only() -> None:
    contact = factories.channel_contact()
    user = user_of(editor_of(contact.account))
    request = asked(contact)
    for _ in range(pairing.MOST_TRIES):
        with pytest.raises(WrongCode):
            pairing.accept_code(contact.account, "000000", user)
    with pytest.raises(WrongCode):
        pairing.accept_code(contact.account, request.code, user)
    assert asked(contact).code != request.code


def test_code_of_another_bot_does_not_count() -> None:
    contact, other = factories.channel_contact(), factories.telegram_account()
    request = asked(contact)
    with pytest.raises(WrongCode):
        pairing.accept_code(other, request.code, user_of(editor_of(other)))
    request.refresh_from_db()
    assert request.tries == 0


def test_crowd_of_strangers_fills_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MOST_OPEN", 2)
    account = factories.telegram_account()
    contacts = [factories.channel_contact(account=account) for _ in range(3)]
    assert [pairing.ask(contact) is None for contact in contacts] == [False, False, True]
    assert pairing.ask(factories.channel_contact()) is not None


# --- links --------------------------------------------------------------------------------


def test_link_makes_the_contact_the_person_it_is_for() -> None:
    account = factories.telegram_account(access=ChannelAccount.Access.PAIRING)
    person = editor_of(account)
    link, token = pairing.make_link(account, person, user_of(person))
    assert token not in repr(vars(link))
    contact = factories.channel_contact(account=account)
    stranger = contact.person
    assert stranger is not None
    session = factories.chat_session(
        agent=account.agent, account=account, person=stranger, peer=contact.external_id
    )
    opened = pairing.open_link(account, token, contact)
    assert (opened.outcome, opened.person) == ("connected", person)
    for row in (contact, stranger, session, link):
        row.refresh_from_db()
    assert (contact.person, contact.access) == (person, Access.ALLOWED)
    assert stranger.merged_into == person
    assert session.person == person
    assert link.used_by == contact
    identity = Identity.objects.get(channel="telegram", external_id=contact.external_id)
    assert identity.person == person


def test_who_has_talked_before_is_asked_whether_they_are_that_person() -> None:
    account = factories.telegram_account()
    person = editor_of(account)
    _, token = pairing.make_link(account, person, user_of(person))
    contact = factories.channel_contact(account=account)
    stranger = contact.person
    assert stranger is not None
    factories.inbound_message(account=account, person=stranger)
    asked_first = pairing.open_link(account, token, contact)
    assert (asked_first.outcome, asked_first.person) == ("confirm", person)
    contact.refresh_from_db()
    assert (contact.person, contact.access) == (stranger, Access.UNKNOWN)
    other = factories.channel_contact(account=account)
    factories.inbound_message(account=account, person=other.person)
    # Each is asked for themselves.
    assert pairing.open_link(account, token, other).outcome == "confirm"
    assert pairing.open_link(account, token, contact).outcome == "confirm"
    assert pairing.open_link(account, token, contact).outcome == "connected"
    stranger.refresh_from_db()
    assert stranger.merged_into == person


def test_link_works_once() -> None:
    account = factories.telegram_account()
    person = editor_of(account)
    _, token = pairing.make_link(account, person, user_of(person))
    first, second = (factories.channel_contact(account=account) for _ in range(2))
    assert pairing.open_link(account, token, first).outcome == "connected"
    # The same update delivered again, or a second tap.
    assert pairing.open_link(account, token, first).outcome == "connected"
    assert pairing.open_link(account, token, second).outcome == "over"
    second.refresh_from_db()
    assert second.access == Access.UNKNOWN


def test_link_of_another_bot_or_an_old_one_does_nothing() -> None:
    account, other = factories.telegram_account(), factories.telegram_account()
    person = editor_of(account)
    _, token = pairing.make_link(account, person, user_of(person))
    stranger = factories.channel_contact(account=other)
    assert pairing.open_link(other, token, stranger).outcome == "over"
    PairingLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    contact = factories.channel_contact(account=account)
    assert pairing.open_link(account, token, contact).outcome == "over"


def test_link_ends_with_the_membership_of_who_made_it() -> None:
    account = factories.telegram_account()
    person = editor_of(account)
    _, token = pairing.make_link(account, person, user_of(person))
    Membership.objects.filter(user=person.user).delete()
    contact = factories.channel_contact(account=account)
    assert pairing.open_link(account, token, contact).outcome == "over"


def test_two_logins_are_never_made_one() -> None:
    account = factories.telegram_account()
    mine, theirs = editor_of(account), editor_of(account)
    contact = factories.channel_contact(account=account, person=theirs)
    _, token = pairing.make_link(account, mine, user_of(mine))
    assert pairing.open_link(account, token, contact).outcome == "somebody_else"
    contact.refresh_from_db()
    assert contact.person == theirs


def test_blocked_contact_does_not_unblock_themselves() -> None:
    account = factories.telegram_account()
    member = member_of(account, Membership.Role.MEMBER)
    contact = factories.channel_contact(account=account, access=Access.BLOCKED)
    _, token = pairing.make_link(account, member, user_of(member))
    assert pairing.open_link(account, token, contact).outcome == "blocked"
    boss = editor_of(account)
    _, token = pairing.make_link(account, boss, user_of(boss))
    assert pairing.open_link(account, token, contact).outcome == "connected"


def test_memory_goes_with_the_person() -> None:
    account = factories.telegram_account()
    assert account.agent is not None
    person = editor_of(account)
    contact = factories.channel_contact(account=account)
    assert contact.person is not None
    for who, fact in ((person, "I drink tea"), (contact.person, "I live in Buxoro")):
        viewer = Viewer(account.team_id, account.agent.pk, who.pk, None, True)
        documents.append_fact(fact, viewer=viewer, source="message:1", at=timezone.now())
        factories.wal_entry(
            team=account.team, agent=account.agent, person=who, scope="person", text=fact
        )
    _, token = pairing.make_link(account, person, user_of(person))
    pairing.open_link(account, token, contact)
    text = MemoryDocument.objects.get(person=person).text
    assert "I drink tea" in text
    assert "I live in Buxoro" in text
    assert WalEntry.objects.filter(person=person).count() == 2
    assert not ChatSession.objects.filter(person=contact.person_id).exclude(person=person).exists()
