"""How people come to be allowed to talk with a bot: by a code that an admin accepts, or by a link.

A code says which of several askers is meant, nothing more: an admin compares it with what the
person tells them. A link is a secret; whoever opens it in Telegram becomes the person it is for.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone, translation
from django.utils.translation import gettext

from agents.models import Membership, Person, User
from agents.services import access, audit
from sessions import merging, outbox
from sessions.commands import language_of
from sessions.errors import NotPending, WrongCode
from sessions.models import (
    ChannelAccount,
    ChannelContact,
    InboundMessage,
    PairingLink,
    PairingRequest,
)

_log = structlog.get_logger(__name__)

# Without 0 and O, 1, I and L, which look alike, and without vowels, so that no word comes out.
LETTERS: Final = "23456789BCDFGHJKMNPQRSTVWXZ"
CODE_LENGTH: Final = 6
REQUEST_LIFETIME: Final = timedelta(hours=1)
LINK_LIFETIME: Final = timedelta(minutes=15)
MOST_TRIES: Final = 5
# Nobody looks through more; a bot that strangers discovered must not fill the table.
MOST_OPEN: Final = 50

Access = ChannelContact.Access
_EVERY_ROLE: Final = frozenset(Membership.Role.values)


@dataclass(frozen=True, slots=True)
class Opened:
    """What came of opening a link.

    Args:
        person: Whom the contact is now, or would be (``confirm``); None where the link is
            nothing for them.
    """

    outcome: Literal["connected", "confirm", "over", "somebody_else", "blocked"]
    person: Person | None = None


@transaction.atomic
def ask(contact: ChannelContact) -> PairingRequest | None:
    """Return the request of somebody who may not talk yet, with the code to tell an admin.

    Asked again while it waits, it is the same request; one that expired gets a new code.

    Returns:
        None where too many people wait already.
    """
    # Two messages of one stranger at once make one request.
    ChannelContact.objects.select_for_update().get(pk=contact.pk)
    now = timezone.now()
    waiting = PairingRequest.objects.filter(contact=contact, state=PairingRequest.State.OPEN)
    request = waiting.first()
    if request is not None and is_pending(request):
        return request
    others = PairingRequest.objects.filter(
        contact__account_id=contact.account_id,
        state=PairingRequest.State.OPEN,
        expires_at__gt=now,
    )
    if others.count() >= MOST_OPEN:
        _log.warning("pairing.too_many", account=contact.account_id)
        return None
    request = request or PairingRequest(contact=contact)
    request.code, request.tries = _new_code(contact.account_id), 0
    request.created_at, request.expires_at = now, now + REQUEST_LIFETIME
    request.save()
    return request


def is_pending(request: PairingRequest) -> bool:
    """Return whether it can still be accepted."""
    return (
        request.state == PairingRequest.State.OPEN
        and request.expires_at > timezone.now()
        and request.tries < MOST_TRIES
    )


@transaction.atomic
def accept(request: PairingRequest, user: User) -> None:
    """Let somebody talk with the bot, and tell them.

    Raises:
        NotPending: It was decided meanwhile, or is too old.
    """
    contact = _decide(request, user, PairingRequest.State.ACCEPTED)
    allow(contact, user)
    _tell(contact, key=f"pairing:{request.pk}/accepted")


@transaction.atomic
def refuse(request: PairingRequest, user: User) -> None:
    """Keep somebody away; they are blocked, and can be unblocked among the contacts.

    Raises:
        NotPending: It was decided meanwhile, or is too old.
    """
    block(_decide(request, user, PairingRequest.State.REFUSED), user)


@transaction.atomic(savepoint=False)
def _with_code(account: ChannelAccount, code: str) -> PairingRequest | None:
    """Return the waiting request of a code; a wrong one counts against all that wait."""
    waiting = PairingRequest.objects.filter(
        contact__account=account,
        state=PairingRequest.State.OPEN,
        expires_at__gt=timezone.now(),
        tries__lt=MOST_TRIES,
    )
    found = waiting.filter(code=tidied(code)).first()
    if found is None:
        waiting.update(tries=F("tries") + 1)
    return found


def accept_code(account: ChannelAccount, code: str, user: User) -> PairingRequest:
    """Accept whoever was given this code.

    A code can be guessed a few times only: every wrong one counts against all requests that wait,
    and who was counted out asks for a new code.

    Raises:
        WrongCode: No waiting request has it.
        NotPending: It was decided in this moment.
    """
    found = _with_code(account, code)
    if found is None:
        raise WrongCode("no request has this code")
    accept(found, user)
    return found


def tidied(code: str) -> str:
    """Return a code as it is stored, however it was typed."""
    return "".join(letter for letter in code.upper() if letter in LETTERS)


@transaction.atomic
def allow(contact: ChannelContact, user: User) -> None:
    """Let a contact talk with the bot from now on."""
    _set_access(contact, Access.ALLOWED, user)


@transaction.atomic
def block(contact: ChannelContact, user: User) -> None:
    """Answer a contact no more, whatever the bot's own rule."""
    _set_access(contact, Access.BLOCKED, user)


@transaction.atomic
def forget_decision(contact: ChannelContact, user: User) -> None:
    """Treat a contact as the bot's own rule says again."""
    _set_access(contact, Access.UNKNOWN, user)


@transaction.atomic
def make_link(account: ChannelAccount, person: Person, user: User) -> tuple[PairingLink, str]:
    """Make a link that connects a person with who opens it, and return it with its secret part.

    Args:
        person: Of the account's team.
        user: Who asks; their right is looked at again when the link is opened.
    """
    # 192 random bits: guessing is hopeless, so links need no counting of failures and their
    # digest no salt. 32 characters; Telegram's limit for a start parameter is 64.
    token = secrets.token_urlsafe(24)
    link = PairingLink.objects.create(
        account=account,
        person=person,
        made_by=user,
        digest=digest_of(token),
        expires_at=timezone.now() + LINK_LIFETIME,
    )
    return link, token


def address_of(account: ChannelAccount, token: str) -> str:
    """Return the address that opens the bot in Telegram with a link's secret part."""
    return f"https://t.me/{account.username}?start={token}"


def digest_of(token: str) -> str:
    """Return what the database keeps of a link; any text gives one, so an unknown stays so."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@transaction.atomic
def open_link(account: ChannelAccount, token: str, contact: ChannelContact) -> Opened:
    """Connect who opened a link with the person that it is for, once, and let them talk.

    Who they were on Telegram until now is merged into that person. Somebody who has talked with
    the bot before would give their conversations away with that, perhaps by a link that another
    person sent them: they are told whom the link is for, and open it once more. Opened again by
    the same contact it says the same.
    """
    link = (
        PairingLink.objects.select_for_update(of=("self",))
        .select_related("person", "made_by")
        .filter(account=account, digest=digest_of(token))
        .first()
    )
    if link is None:
        return Opened("over")
    if link.used_at is not None and link.used_by_id == contact.pk:
        return Opened("connected", link.person)
    maker = link.made_by
    if link.used_at is not None or link.expires_at <= timezone.now() or maker is None:
        return Opened("over")
    if not _still_holds(link, maker):
        return Opened("over")
    if contact.access == Access.BLOCKED and not access.has_role(
        maker, account.team_id, access.EDITORS
    ):
        return Opened("blocked")
    if link.used_by_id != contact.pk and _has_talked(contact, link.person):
        link.used_by = contact
        link.save(update_fields=["used_by"])
        return Opened("confirm", link.person)
    if not merging.connect(contact, link.person):
        return Opened("somebody_else")
    link.used_by, link.used_at = contact, timezone.now()
    link.save(update_fields=["used_by", "used_at"])
    _close_requests(contact, maker)
    allow(contact, maker)
    return Opened("connected", link.person)


def _still_holds(link: PairingLink, maker: User) -> bool:
    person = link.person
    if person.archived_at is not None or person.merged_into_id is not None:
        return False
    return access.has_role(maker, person.team_id, _EVERY_ROLE)


def _has_talked(contact: ChannelContact, person: Person) -> bool:
    """Return whether a contact has conversations as somebody else than this person."""
    if contact.person_id is None or contact.person_id == person.pk:
        return False
    return InboundMessage.objects.filter(person_id=contact.person_id).exists()


def _close_requests(contact: ChannelContact, user: User) -> None:
    PairingRequest.objects.filter(contact=contact, state=PairingRequest.State.OPEN).update(
        state=PairingRequest.State.ACCEPTED, decided_by=user, decided_at=timezone.now()
    )


def _decide(request: PairingRequest, user: User, state: PairingRequest.State) -> ChannelContact:
    """Decide a request, once; of two admins at once the first one did."""
    now = timezone.now()
    decided = PairingRequest.objects.filter(
        pk=request.pk,
        state=PairingRequest.State.OPEN,
        expires_at__gt=now,
        tries__lt=MOST_TRIES,
    ).update(state=state, decided_by=user, decided_at=now)
    if not decided:
        raise NotPending("decided meanwhile, or too old")
    request.state, request.decided_by, request.decided_at = state, user, now
    contact = ChannelContact.objects.select_related("account", "person").get(pk=request.contact_id)
    audit.record(
        team_id=contact.account.team_id,
        actor=user,
        action=f"pairing.{state}",
        subject=audit.subject_of(request),
    )
    return contact


def _set_access(contact: ChannelContact, wanted: ChannelContact.Access, user: User) -> None:
    before = contact.access
    contact.access, contact.decided_by, contact.decided_at = wanted, user, timezone.now()
    contact.save(update_fields=["access", "decided_by", "decided_at"])
    if before != wanted:
        audit.record(
            team_id=contact.account.team_id,
            actor=user,
            action=f"contact.{wanted}",
            subject=audit.subject_of(contact),
        )


def _tell(contact: ChannelContact, *, key: str) -> None:
    # A person's private chat with a bot has their own id.
    with translation.override(contact.language or language_of(contact.person)):
        text = gettext("You may talk with me now. Just write to me.")
    outbox.queue_notice(contact.account, contact.external_id, text, key=key)


def _new_code(account_id: int) -> str:
    while True:
        code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
        taken = PairingRequest.objects.filter(
            contact__account_id=account_id, state=PairingRequest.State.OPEN, code=code
        )
        if not taken.exists():
            return code
