"""One person under two names: a contact on a channel becomes a person whom we know already."""

from django.db import transaction

from agents.models import Identity, Person
from agents.services import audit
from memory import merging
from sessions.models import ChannelContact, ChatSession, InboundMessage, PairingLink, Turn


@transaction.atomic
def connect(contact: ChannelContact, person: Person) -> bool:
    """Make a contact be this person, here and at every other bot of the team.

    Whom the channel's identity stood for until now is merged into the person.

    Args:
        contact: With its account.
        person: Of the account's team.

    Returns:
        False, and nothing is changed, where the identity belongs to somebody with a login of
        their own: two logins are never made one.
    """
    account = contact.account
    if account.team_id != person.team_id:
        raise AssertionError("a contact's person is of the bot's own team")
    identity, _ = Identity.objects.select_for_update().get_or_create(
        team_id=account.team_id,
        channel=account.channel,
        external_id=contact.external_id,
        defaults={"person": contact.person or person},
    )
    earlier = Person.objects.get(pk=identity.person_id)
    if earlier.pk != person.pk:
        if earlier.user_id is not None:
            return False
        merge(earlier, into=person)
    identity.person = person
    identity.save(update_fields=["person"])
    ChannelContact.objects.filter(
        account__team_id=account.team_id,
        account__channel=account.channel,
        external_id=contact.external_id,
    ).update(person=person)
    contact.person = person
    return True


@transaction.atomic
def merge(person: Person, *, into: Person) -> None:
    """Give a person's conversations, contacts and memory to another, and leave a pointer.

    Conversations that stood at the same route stay two. The transcript keeps who said what under
    the merged row, which points at the other.
    """
    ChatSession.objects.filter(person=person).update(person=into)
    Turn.objects.unfinished().filter(viewer_person_id=person.pk).update(viewer_person_id=into.pk)
    InboundMessage.objects.filter(person=person).update(person=into)
    ChannelContact.objects.filter(person=person).update(person=into)
    Identity.objects.filter(person=person).update(person=into)
    Person.objects.filter(merged_into=person).update(merged_into=into)
    PairingLink.objects.filter(person=person).update(person=into)
    merging.move(person.pk, into_id=into.pk)
    if not into.language and person.language:
        Person.objects.filter(pk=into.pk).update(language=person.language)
        into.language = person.language
    person.merged_into = into
    person.save(update_fields=["merged_into"])
    audit.record(
        team_id=person.team_id,
        actor=audit.PLATFORM,
        action="person.merged",
        subject=audit.subject_of(person),
        reason=f"into person:{into.pk}",
    )
