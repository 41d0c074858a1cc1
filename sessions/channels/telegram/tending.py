"""Which bots a poller tends: a lease on each bot's row, told by PostgreSQL's clock.

A poller that was killed loses its lock (``sessions.turns.life``), and its bots are free at once;
one that hangs keeps them until the lease has run out. Whoever holds the token of the lease asks
Telegram for the bot's updates, and only they move its offset; a poller that slept past its lease
moves nothing.
"""

import uuid
from typing import Final

from django.conf import settings
from django.db import transaction

from agents import sql
from agents.core.errors import LeaseLost
from agents.core.messages import JsonObject
from sessions.channels.telegram import receiving, updates
from sessions.models import ChannelAccount
from sessions.turns.life import Life

# Bots that are to hear what they are told.
_ENABLED = """
    c.channel = 'telegram' AND c.archived_at IS NULL AND c.switched_off_at IS NULL
    AND (c.sealed_token <> '' OR c.token_reference <> '')
    AND EXISTS (SELECT 1 FROM agents_agent a WHERE a.id = c.agent_id AND a.archived_at IS NULL)
"""
_LET_GO = f"""
    UPDATE bot_sessions_channelaccount c SET lease_token = NULL, leased_until = NULL
    WHERE c.lease_token = %s AND NOT ({_ENABLED})
"""  # noqa: S608 — constants only
# The first key of pollers' locks; the second is the end of the lease's token.
POLLER_LOCKS: Final = 0x514150
_IS_DEAD = f"""
    NOT EXISTS (SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
          AND l.classid = {POLLER_LOCKS}
          AND l.objid::bigint =
              ('x' || right(c.lease_token::text, 8))::bit(32)::bigint & 2147483647
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""  # noqa: S608 — constants only
# A lease is renewed a heartbeat after it was, not at each look.
_HOLD = f"""
    UPDATE bot_sessions_channelaccount c
    SET lease_token = %s, leased_until = now() + make_interval(secs => %s)
    WHERE {_ENABLED} AND (
        c.lease_token IS NULL OR c.leased_until < now()
        OR (c.lease_token <> %s AND {_IS_DEAD})
        OR (c.lease_token = %s AND c.leased_until < now() + make_interval(secs => %s)))
"""  # noqa: S608 — constants only
_RELEASE = """
    UPDATE bot_sessions_channelaccount SET lease_token = NULL, leased_until = NULL
    WHERE lease_token = %s
"""
_ADVANCE = """
    UPDATE bot_sessions_channelaccount
    SET update_offset = COALESCE(%s, update_offset), received_at = now()
    WHERE id = %s AND lease_token = %s
"""


@transaction.atomic(savepoint=False)
def hold(token: uuid.UUID) -> list[ChannelAccount]:
    """Renew what a poller tends, take what nobody tends, and return all that it tends now."""
    lease_s: float = settings.QANOT_LEASE_S
    early_s = max(0.0, lease_s - settings.QANOT_HEARTBEAT_S)
    sql.execute(_LET_GO, [token])
    sql.execute(_HOLD, [token, lease_s, token, token, early_s])
    return list(ChannelAccount.objects.filter(lease_token=token).order_by("pk"))


def life_of(token: uuid.UUID) -> Life:
    """Return what tells others that the poller of a token lives."""
    return Life(POLLER_LOCKS, token.int & (2**31 - 1))


def release(token: uuid.UUID) -> None:
    """Leave all bots to the next poller."""
    sql.execute(_RELEASE, [token])


@transaction.atomic(savepoint=False)
def take(account: ChannelAccount, update: JsonObject, *, token: uuid.UUID) -> bool:
    """Take one update in and move the offset past it, in one transaction.

    Returns:
        False where it had been taken before.

    Raises:
        LeaseLost: Another poller tends the bot by now.
    """
    pass_over(account, update, token=token)
    return receiving.take(account, update)


def pass_over(account: ChannelAccount, update: JsonObject, *, token: uuid.UUID) -> None:
    """Move the offset past an update; back too, since Telegram may begin at any number anew.

    Raises:
        LeaseLost: Another poller tends the bot by now.
    """
    number = updates.id_of(update)
    following = None if number is None else number + 1
    if not sql.execute(_ADVANCE, [following, account.pk, token]):
        raise LeaseLost(f"bot {account.pk} is another poller's")
