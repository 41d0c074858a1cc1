"""The right to run a session's turns, and the fence before every write.

A lease is a token on the session's row, good until ``leased_until``. A worker also holds a
PostgreSQL advisory lock under its own number for as long as its process lives, so that the
sessions of a process that died are free at once, without waiting for their leases to run out.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core.errors import LeaseLost
from agents.models import Agent, Person
from agents.sql import Columns
from sessions.errors import NotDue
from sessions.models import ChannelAccount, ChatSession, Generation, Turn

_log = structlog.get_logger(__name__)

# The first key of the two-part advisory locks; the second is the worker's number.
WORKER_LOCKS: Final = 0x51414E
QUARANTINE_LOCK: Final = 0x51414F
ORPHANED_BEFORE_QUARANTINE: Final = 2
ATTEMPTS_IN_QUARANTINE: Final = 3

# Free: nobody's, run out, or its worker's lock is gone with its process.
_FREE = f"""
    (s.lease_token IS NULL OR s.leased_until < now() OR NOT EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
          AND l.classid = {WORKER_LOCKS} AND l.objid = s.leased_by
          AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())))
"""  # noqa: S608 — constants only

# Seconds until more messages may no longer join a turn; none for one that may run now.
_WAITS = """
    CASE WHEN t.state = 'queued' AND t.stop_requested_at IS NULL
        AND t.not_before > clock_timestamp()
    THEN extract(epoch FROM t.not_before - clock_timestamp())::float8 END
"""
_FREE_SESSIONS = f"""
    SELECT s.id FROM bot_sessions_chatsession s
    JOIN (
        SELECT DISTINCT ON (session_id) id, session_id, state, stop_requested_at, not_before
        FROM bot_sessions_turn WHERE state IN ('queued', 'running') ORDER BY session_id, id
    ) t ON t.session_id = s.id
    WHERE {_FREE} AND {_WAITS} IS NULL ORDER BY t.id LIMIT %s
"""  # noqa: S608 — constants only
_TAKE = f"""
    UPDATE bot_sessions_chatsession s
    SET lease_token = %s, leased_by = %s, leased_until = now() + make_interval(secs => %s)
    WHERE s.id = %s AND {_FREE}
"""  # noqa: S608 — constants only
_HOLD = """
    UPDATE bot_sessions_chatsession SET leased_until = now() + make_interval(secs => %s)
    WHERE id = %s AND lease_token = %s
"""
_RENEW = """
    UPDATE bot_sessions_chatsession SET leased_until = now() + make_interval(secs => %s)
    WHERE id = ANY(%s) AND lease_token = ANY(%s) RETURNING lease_token
"""
_RELEASE = """
    UPDATE bot_sessions_chatsession
    SET lease_token = NULL, leased_until = NULL, leased_by = NULL
    WHERE id = %s AND lease_token = %s
"""
_TURN = Columns(Turn, "t")
_SESSION = Columns(ChatSession, "s")
_AGENT = Columns(Agent, "a")
_ACCOUNT = Columns(ChannelAccount, "c")
_GENERATION = Columns(Generation, "g")
_PERSON = Columns(Person, "p")
# Whether something that came with the turn's messages is still to be fetched.
_HAS_FILES = """
    EXISTS (SELECT 1 FROM bot_sessions_inboundmessage m
        JOIN bot_sessions_attachment f ON f.message_id = m.id AND f.state = 'waiting'
        WHERE m.turn_id = t.id)
"""
_OLDEST = f"""
    SELECT {_TURN.text}, {_SESSION.text}, {_AGENT.text}, {_ACCOUNT.text}, {_GENERATION.text},
        {_PERSON.text}, {_WAITS}, {_HAS_FILES}
    FROM bot_sessions_turn t
    JOIN bot_sessions_chatsession s ON s.id = t.session_id
    JOIN agents_agent a ON a.id = s.agent_id
    JOIN bot_sessions_channelaccount c ON c.id = s.account_id
    JOIN bot_sessions_generation g ON g.id = t.generation_id
    LEFT JOIN agents_person p ON p.id = s.person_id
    WHERE t.session_id = %s AND t.state IN ('queued', 'running')
    ORDER BY t.id LIMIT 1
"""  # noqa: S608 — constants only
_RUN = """
    UPDATE bot_sessions_turn
    SET state = 'running', attempt = %s, claimed_at = %s, orphaned = %s, quarantine_attempts = %s
    WHERE id = %s
"""
_QUARANTINE_IS_EMPTY = f"""
    SELECT NOT EXISTS (
        SELECT 1 FROM bot_sessions_turn t
        JOIN bot_sessions_chatsession s ON s.id = t.session_id
        WHERE t.state = 'running' AND t.orphaned >= %s AND t.id <> %s AND NOT {_FREE})
"""  # noqa: S608 — constants only


@dataclass(frozen=True, slots=True)
class Claimed:
    """A turn that this worker may run, and the lease it holds for it.

    Args:
        has_files: Whether something that came with its messages is still to be fetched.
    """

    turn: Turn
    token: uuid.UUID
    is_exhausted: bool = False
    has_files: bool = False


def free_sessions(limit: int) -> list[int]:
    """Return sessions that owe an answer and nobody works on, the longest waiting first."""
    return [session_id for (session_id,) in sql.fetch(_FREE_SESSIONS, [limit])]


@transaction.atomic(savepoint=False)
def claim(session_id: int, *, worker_id: int) -> Claimed | None:
    """Take the session and its oldest unfinished turn; None where there is nothing to take.

    A running turn whose session is free was orphaned: counted, and from the second time on put
    into quarantine, where only one turn at a time runs and only these attempts count.

    Raises:
        NotDue: The turn waits for more messages of its person; nothing was taken.
    """
    token = take(session_id, worker_id=worker_id)
    if token is None:
        return None
    turn, wait_s, has_files = _oldest_unfinished(session_id)
    if wait_s is not None:
        raise NotDue(wait_s)
    if turn is None or not _may_run(turn):
        release(session_id, token)
        return None
    is_exhausted = turn.quarantine_attempts > ATTEMPTS_IN_QUARANTINE
    turn.attempt += 1
    turn.state = Turn.State.RUNNING
    turn.claimed_at = timezone.now()
    sql.execute(
        _RUN,
        [turn.attempt, turn.claimed_at, turn.orphaned, turn.quarantine_attempts, turn.pk],
    )
    transaction.on_commit(
        lambda: _log.info("lease.taken", turn=turn.pk, session=session_id, attempt=turn.attempt)
    )
    return Claimed(turn=turn, token=token, is_exhausted=is_exhausted, has_files=has_files)


def take(session_id: int, *, worker_id: int) -> uuid.UUID | None:
    """Take a free session's lease; None where somebody works on it."""
    token = uuid.uuid4()
    taken = sql.execute(_TAKE, [token, worker_id, settings.QANOT_LEASE_S, session_id])
    return token if taken else None


def _oldest_unfinished(session_id: int) -> tuple[Turn | None, float | None, bool]:
    """Return the turn, for how many seconds it must wait if it must, and whether files came.

    Its session, agent, channel account, person and generation are loaded.
    """
    rows = sql.fetch(_OLDEST, [session_id])
    if not rows:
        return None, None, False
    turn, rest = _TURN.take(rows[0])
    session, rest = _SESSION.take(rest)
    agent, rest = _AGENT.take(rest)
    account, rest = _ACCOUNT.take(rest)
    generation, rest = _GENERATION.take(rest)
    person, (wait_s, has_files) = _PERSON.take(rest)
    if turn is None or session is None or agent is None or account is None or generation is None:
        raise AssertionError("inner joins find their rows")
    session.agent, session.account, session.person = agent, account, person
    turn.session, turn.generation = session, generation
    return turn, wait_s, has_files


def _may_run(turn: Turn) -> bool:
    """Count an orphan, and let into quarantine one at a time."""
    if turn.state != Turn.State.RUNNING:
        return True
    turn.orphaned += 1
    if turn.orphaned >= ORPHANED_BEFORE_QUARANTINE:
        if not _enter_quarantine(turn):
            return False
        turn.quarantine_attempts += 1
    _log.warning("turn.orphaned", turn=turn.pk, orphaned=turn.orphaned)
    return True


def _enter_quarantine(turn: Turn) -> bool:
    # Until this transaction ends nobody else decides about quarantine.
    sql.fetch("SELECT pg_advisory_xact_lock(%s, 0)", [QUARANTINE_LOCK])
    ((is_empty,),) = sql.fetch(_QUARANTINE_IS_EMPTY, [ORPHANED_BEFORE_QUARANTINE, turn.pk])
    return bool(is_empty)


def hold(session_id: int, token: uuid.UUID) -> None:
    """Fence and renew: the first statement of every write of a turn.

    Raises:
        LeaseLost: Another worker has the session; the transaction must write nothing.
    """
    held = sql.execute(_HOLD, [settings.QANOT_LEASE_S, session_id, token])
    if not held:
        raise LeaseLost(f"session {session_id} is another worker's")


def release(session_id: int, token: uuid.UUID) -> None:
    """Give the session back, in the transaction that ends or hands back its turn.

    Raises:
        LeaseLost: Another worker has the session; the transaction must write nothing.
    """
    held = sql.execute(_RELEASE, [session_id, token])
    if not held:
        raise LeaseLost(f"session {session_id} is another worker's")


def renew(claims: Sequence[Claimed]) -> set[uuid.UUID]:
    """Renew many leases at once; return the tokens that still hold."""
    sessions = [claimed.turn.session_id for claimed in claims]
    tokens = [claimed.token for claimed in claims]
    rows = sql.fetch(_RENEW, [settings.QANOT_LEASE_S, sessions, tokens])
    return {token for (token,) in rows}


@transaction.atomic
def hand_back(claimed: Claimed) -> None:
    """Queue a running turn again and free its session: this process is going to end.

    Raises:
        LeaseLost: Another worker has the session already.
    """
    release(claimed.turn.session_id, claimed.token)
    Turn.objects.filter(pk=claimed.turn.pk, state=Turn.State.RUNNING).update(
        state=Turn.State.QUEUED
    )
    transaction.on_commit(lambda: _log.info("lease.handed_back", turn=claimed.turn.pk))
