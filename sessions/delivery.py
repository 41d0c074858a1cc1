"""What a send is and how far it is: rows and parts, so that a crash neither loses nor doubles one.

The courier (``sessions.courier``) sends; here is what it writes down. A row leaves by parts, each
known by its number. A part is noted before it is sent and after the channel took it; one that was
noted and never taken is of unknown outcome, and the account says what becomes of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final, Protocol, cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from agents import sql
from sessions.models import ChannelAccount, Outgoing, OutgoingPart

_log = structlog.get_logger(__name__)

State = Outgoing.State

# A part that takes longer than this belongs to a process that is gone.
LONGEST_SEND_S: Final = 120
# How often one part is sent whose outcome stays unknown; then it is held back.
MOST_SENDS: Final = 3
# What could not leave for so long helps nobody any more.
KEPT_TRYING: Final = timedelta(days=2)
_LONGEST_PAUSE_S: Final = 60.0

# A chat is what an account and a peer name; live channels have a session each instead.
_FIRST_OF_CHAT = """
    SELECT o.id, o.not_before FROM bot_sessions_outgoing o
    JOIN bot_sessions_outgoing asked ON asked.id = %s AND asked.account_id = o.account_id
        AND asked.peer = o.peer
        AND (o.peer <> '' OR o.session_id IS NOT DISTINCT FROM asked.session_id)
    WHERE o.state IN ('queued', 'sending') ORDER BY o.id LIMIT 1
"""
_TAKE = """
    UPDATE bot_sessions_outgoing
    SET state = 'sending', tried_at = %s, attempts = attempts + 1, sent_by = %s
    WHERE id = %s AND state = 'queued' AND (not_before IS NULL OR not_before <= %s)
"""
_DUE = """
    SELECT min(id) FROM bot_sessions_outgoing o
    WHERE state IN ('queued', 'sending')
    GROUP BY account_id, peer, CASE peer WHEN '' THEN session_id END
    HAVING (array_agg(state = 'queued' AND coalesce(not_before, %s) <= %s ORDER BY id))[1]
    ORDER BY 1 LIMIT %s
"""
_WAITS = """
    SELECT EXISTS (SELECT 1 FROM bot_sessions_outgoing
        WHERE account_id = %s AND peer = %s AND state IN ('queued', 'sending'))
"""
_BEGIN_PART = """
    INSERT INTO bot_sessions_outgoingpart AS p
        (outgoing_id, number, state, external_id, attempts, error, tried_at)
    VALUES (%s, %s, 'sending', '', 1, '', %s)
    ON CONFLICT (outgoing_id, number) DO UPDATE
    SET state = 'sending', attempts = p.attempts + 1, error = '', tried_at = excluded.tried_at
    WHERE p.state <> 'sent'
"""
_END_PART = """
    UPDATE bot_sessions_outgoingpart
    SET state = %s, external_id = %s, error = %s, sent_at = %s
    WHERE outgoing_id = %s AND number = %s
"""
# Nothing of it left: it was no send, and an earlier one's outcome is as unknown as before.
_PUT_BACK_PART = """
    UPDATE bot_sessions_outgoingpart
    SET state = %s, external_id = '', error = %s, sent_at = NULL,
        attempts = GREATEST(attempts - 1, 0)
    WHERE outgoing_id = %s AND number = %s
"""
_STILL_AT_WORK = """
    UPDATE bot_sessions_outgoing SET tried_at = %s WHERE id = %s AND state = 'sending'
"""
_MARK_SENT = """
    UPDATE bot_sessions_outgoing SET state = 'sent', sent_at = %s, error = '', sent_by = NULL
    WHERE id = %s AND state IN ('queued', 'sending')
"""
_MARK_DELIVERED = "UPDATE bot_sessions_turn SET delivered_at = %s WHERE id = %s"


class NotDelivered(Exception):
    """Nothing left, and it may work later: the row stays queued.

    Args:
        reason: A code or a type's name; never an address or a token.
        retry_after_s: Seconds that the channel asked us to wait, if it did.
    """

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class Undeliverable(Exception):
    """Nothing left, and trying again would not help: blocked, no such chat.

    Args:
        code: What an admin is shown.
    """


class OutcomeUnknown(Exception):
    """The request left and nobody knows whether it was taken.

    Args:
        code: What an admin is shown.
    """


class Letter(Protocol):
    """A row as its channel sends it; cut into the same parts each time."""

    @property
    def count(self) -> int:
        """Return how many parts there are; 0 where nothing is to be said."""
        ...

    async def send(self, number: int, *, again: bool) -> str:
        """Send a part, counted from 1, and return how the channel names it.

        Args:
            again: It may have been sent before; it says so.

        Raises:
            NotDelivered: Nothing left; it is tried again later.
            Undeliverable: Nothing left, and nothing ever will.
            OutcomeUnknown: Nobody knows.
        """
        ...


class Sender(Protocol):
    """How a channel sends; one for each of ``settings.QANOT_CHANNELS``."""

    # True where people read the transcript themselves and a send only tells them to look:
    # watchers of the running turn then have the answer already, and sending twice shows
    # nothing twice.
    is_live: bool

    def warm(self) -> None:
        """Import what takes long; called in a thread before anything is sent."""
        ...

    async def close(self) -> None:
        """Let go of the running loop's connections."""
        ...

    async def open(self, outgoing: Outgoing) -> Letter:
        """Return a row ready to be sent; ``account``, ``session``, ``turn`` are loaded.

        Raises:
            NotDelivered: It cannot be sent now; it is tried again later.
            Undeliverable: It never can.
        """
        ...


@cache
def sender_of(channel: str) -> Sender:
    """Return a channel's sender, loaded at its first use.

    Raises:
        KeyError: No such channel in the settings.
    """
    # A dotted path names anything; that it is a sender is its author's promise.
    return cast(Sender, import_string(settings.QANOT_CHANNELS[channel])())


def used() -> list[Sender]:
    """Return the senders of the channels that have accounts."""
    accounts = ChannelAccount.objects.filter(archived_at=None).values_list("channel", flat=True)
    return [sender_of(name) for name in accounts.distinct() if name in settings.QANOT_CHANNELS]


@dataclass(frozen=True, slots=True)
class Taken:
    """A row that this process sends, and how far its parts are."""

    outgoing: Outgoing
    parts: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Later:
    """A chat's first row waits until a moment."""

    outgoing_id: int
    wait_s: float


def due(limit: int) -> list[int]:
    """Return the first row of each chat that has something to send now, the oldest first."""
    now = timezone.now()
    return [pk for (pk,) in sql.fetch(_DUE, [now, now, limit])]


def queued() -> QuerySet[Outgoing]:
    """Return what waits to be sent, the oldest first."""
    return Outgoing.objects.filter(state=State.QUEUED).order_by("id")


def account_of(outgoing_id: int) -> int:
    """Return by which account a row leaves."""
    found = Outgoing.objects.values_list("account_id", flat=True).get(pk=outgoing_id)
    return found or 0


def is_waiting(account_id: int, peer: str) -> bool:
    """Return whether something is still on its way to a chat."""
    ((waits,),) = sql.fetch(_WAITS, [account_id, peer])
    return bool(waits)


def take_first(outgoing_id: int, *, worker_id: int) -> Taken | Later | None:
    """Take the first unsent row of the chat that a row belongs to.

    None where nothing is left, or where somebody is at work on the first one: they look for the
    next when they are done, so a chat's rows leave one after the other, in order.
    """
    first = sql.fetch(_FIRST_OF_CHAT, [outgoing_id])
    if not first:
        return None
    ((pk, not_before),) = first
    now = timezone.now()
    if not sql.execute(_TAKE, [now, worker_id, pk, now]):
        is_early = not_before is not None and not_before > now
        return Later(pk, (not_before - now).total_seconds()) if is_early else None
    related = ("account", "session__person", "turn", "content", "file")
    outgoing = Outgoing.objects.select_related(*related).get(pk=pk)
    return Taken(outgoing, dict(outgoing.parts.values_list("number", "state")))


@transaction.atomic
def begin_part(outgoing: Outgoing, number: int) -> None:
    """Note that a part leaves now."""
    now = timezone.now()
    sql.execute(_BEGIN_PART, [outgoing.pk, number, now])
    sql.execute(_STILL_AT_WORK, [now, outgoing.pk])


@transaction.atomic
def end_part(outgoing: Outgoing, number: int, external_id: str, *, is_last: bool) -> None:
    """Note that the channel took a part, and with the last one the row."""
    now = timezone.now()
    sql.execute(_END_PART, [State.SENT, external_id, "", now, outgoing.pk, number])
    if is_last:
        mark_sent(outgoing)


@transaction.atomic
def mark_sent(outgoing: Outgoing) -> bool:
    """Note that a row is sent; False where somebody has noted it already."""
    now = timezone.now()
    if not sql.execute(_MARK_SENT, [now, outgoing.pk]):
        return False
    if outgoing.turn_id is not None:
        sql.execute(_MARK_DELIVERED, [now, outgoing.turn_id])
        transaction.on_commit(lambda: _log.info("answer.sent", turn=outgoing.turn_id))
    return True


@transaction.atomic
def put_back(
    outgoing: Outgoing, number: int | None, error: NotDelivered, *, again: bool = False
) -> None:
    """Queue a row again: nothing of this part left.

    Args:
        number: The part that was begun, if one was.
        again: An earlier send of it may have arrived; the next one has to say so too.
    """
    reason = str(error)[:300]
    if number is not None:
        state = State.UNKNOWN if again else State.QUEUED
        sql.execute(_PUT_BACK_PART, [state, reason, outgoing.pk, number])
    if timezone.now() - outgoing.created_at > KEPT_TRYING and not _is_live(outgoing):
        _settle(outgoing, State.FAILED, error="expired")
        return
    pause_s = error.retry_after_s
    if _is_live(outgoing):
        # Costs nothing to try, and its watchers wait.
        pause_s = settings.QANOT_SWEEP_S
    elif pause_s is None:
        pause_s = _pause_s(outgoing.attempts)
    not_before = timezone.now() + timedelta(seconds=pause_s)
    _settle(outgoing, State.QUEUED, error=reason, not_before=not_before)


def _pause_s(attempts: int) -> float:
    """Return how long to wait after so many attempts, in seconds."""
    doubled = settings.QANOT_RETRY_BASE_S * 2.0 ** min(attempts, 10)
    return min(doubled, _LONGEST_PAUSE_S)


@transaction.atomic
def give_up(outgoing: Outgoing, number: int | None, code: str, *, again: bool = False) -> None:
    """Note that a row will never leave.

    Args:
        again: An earlier send of the part may have arrived; who sends the row anew has to say so.
    """
    if number is not None:
        state = State.UNKNOWN if again else State.FAILED
        sql.execute(_END_PART, [state, "", code, None, outgoing.pk, number])
    if _settle(outgoing, State.FAILED, error=code):
        _log.warning("delivery.failed", outgoing=outgoing.pk, code=code)


@transaction.atomic
def leave_open(outgoing: Outgoing, number: int | None, code: str, *, may_repeat: bool) -> None:
    """Note that nobody knows whether a part left, and follow the account's policy.

    Args:
        may_repeat: False where something broke in a way that sending again may repeat.
    """
    if number is not None:
        sql.execute(_END_PART, [State.UNKNOWN, "", code, None, outgoing.pk, number])
    _log.error("delivery.unknown", outgoing=outgoing.pk, part=number, error=code)
    sends = 0
    if number is not None:
        sends = OutgoingPart.objects.get(outgoing=outgoing, number=number).attempts
    if not may_repeat or not _resends(outgoing.account) or sends >= MOST_SENDS:
        _settle(outgoing, State.UNKNOWN, error=code)
        return
    not_before = timezone.now() + timedelta(seconds=_pause_s(sends))
    _settle(outgoing, State.QUEUED, error=code, not_before=not_before)


def settle_interrupted(living: Iterable[int] = ()) -> None:
    """Decide about sends whose process died in the middle.

    On a live channel they are queued again, and soon, since sending twice shows nothing twice.
    Elsewhere a row of which no part was on its way is queued again, and of any other nobody
    knows whether that part left; a slow send is given its time.

    Args:
        living: The numbers of the workers that live.
    """
    now = timezone.now()
    quick, slow = timedelta(seconds=settings.QANOT_LEASE_S), timedelta(seconds=LONGEST_SEND_S)
    is_ownerless = Q(sent_by__isnull=False) & ~Q(sent_by__in=list(living))
    sending = Outgoing.objects.filter(state=State.SENDING).filter(
        is_ownerless | Q(tried_at__lt=now - min(quick, slow))
    )
    for outgoing in sending.select_related("account"):
        _settle_interrupted(outgoing, frozenset(living), now - slow)


def _settle_interrupted(outgoing: Outgoing, living: frozenset[int], long_ago: datetime) -> None:
    if _is_live(outgoing):
        _settle(outgoing, State.QUEUED)
        return
    is_dead = outgoing.sent_by is not None and outgoing.sent_by not in living
    if not is_dead and outgoing.tried_at is not None and outgoing.tried_at >= long_ago:
        return
    part = outgoing.parts.filter(state=State.SENDING).order_by("number").first()
    # A channel that was taken out of the settings has no sender any more.
    if outgoing.channel not in settings.QANOT_CHANNELS:
        leave_open(outgoing, part.number if part else None, "interrupted", may_repeat=False)
    elif part is None:
        _settle(outgoing, State.QUEUED)
    else:
        leave_open(outgoing, part.number, "interrupted", may_repeat=True)


def _is_live(outgoing: Outgoing) -> bool:
    return outgoing.channel in settings.QANOT_CHANNELS and sender_of(outgoing.channel).is_live


def _resends(account: ChannelAccount | None) -> bool:
    return account is not None and account.unknown_policy == ChannelAccount.UnknownPolicy.RESEND


def _settle(
    outgoing: Outgoing, state: str, *, error: str = "", not_before: datetime | None = None
) -> bool:
    """Let go of a row that is being sent; False where somebody else did."""
    sending = Outgoing.objects.filter(pk=outgoing.pk, state=State.SENDING)
    return bool(sending.update(state=state, error=error, not_before=not_before, sent_by=None))
