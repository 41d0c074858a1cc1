"""The end of a turn: transcript, outgoing row, note and state in one transaction."""

import json
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core.events import Outcome
from agents.core.messages import AssistantMessage, JsonObject, Reply, TextBlock, dump_reply
from memory import notes, superseding
from memory.index import exchanges
from sessions import delivery, extractions
from sessions.models import (
    ChatSession,
    Content,
    Outgoing,
    TranscriptEntry,
    Turn,
)
from sessions.turns import freeze, leases
from sessions.turns.leases import Claimed

_log = structlog.get_logger(__name__)

_STATES = {
    "answered": Turn.State.ANSWERED,
    "stopped": Turn.State.STOPPED,
    "ended": Turn.State.ENDED,
    "failed": Turn.State.FAILED,
}

_WRITE = """
    INSERT INTO bot_sessions_transcriptentry (generation_id, turn_id, created_at, role, content_id,
        message_id, tool_call_id, tool_name, is_error, is_partial)
    SELECT %s, %s, %s, role, content_id, message_id, tool_call_id, tool_name, is_error, false
    FROM (
        SELECT 0 AS part, m.id AS place, 'user' AS role, m.content_id, m.id AS message_id,
            '' AS tool_call_id, '' AS tool_name, false AS is_error
        FROM bot_sessions_inboundmessage m WHERE m.turn_id = %s
        UNION ALL
        SELECT 1, s.number, CASE s.kind WHEN 'tool' THEN 'tool' ELSE 'assistant' END, s.content_id,
            NULL, s.call_id, CASE s.kind WHEN 'tool' THEN s.name ELSE '' END, s.is_error
        FROM bot_sessions_turnstep s WHERE s.turn_id = %s AND s.finished_at IS NOT NULL
    ) entries ORDER BY part, place
"""
# What all the turn's calls used, in all its attempts. How full the window is, is what the last
# whole call said, not a sum.
_COUNT = """
    UPDATE bot_sessions_generation g SET
        input_tokens = g.input_tokens + u.input,
        cache_read_tokens = g.cache_read_tokens + u.cache_read,
        cache_write_tokens = g.cache_write_tokens + u.cache_write,
        output_tokens = g.output_tokens + u.output,
        context_tokens = coalesce(u.context, g.context_tokens)
    FROM (
        SELECT sum(input_tokens) AS input, sum(cache_read_tokens) AS cache_read,
            sum(cache_write_tokens) AS cache_write, sum(output_tokens) AS output,
            (array_agg(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens
                ORDER BY id DESC) FILTER (WHERE NOT was_broken))[1] AS context
        FROM agents_usagerecord WHERE origin = %s HAVING count(*) > 0
    ) u WHERE g.id = %s
"""
_ASKED_IN = """
    SELECT channel_message_id FROM bot_sessions_inboundmessage
    WHERE turn_id = %s AND channel_message_id <> '' ORDER BY id DESC LIMIT 1
"""
_TELLS_FORGOTTEN = f"""
    SELECT EXISTS (SELECT 1 FROM bot_sessions_inboundmessage m
        JOIN memory_walentry w ON w.source = 'message:' || m.id
        WHERE m.turn_id = %s AND {superseding.FORGOTTEN_SQL})
"""  # noqa: S608 — constants only
_THAW = "DELETE FROM bot_sessions_turnfreeze WHERE turn_id = %s"
_ANSWER = "UPDATE bot_sessions_inboundmessage SET status = 'answered' WHERE turn_id = %s"
_ANOTHER_WAITS = """
    SELECT EXISTS (SELECT 1 FROM bot_sessions_turn
        WHERE session_id = %s AND state IN ('queued', 'running') AND id <> %s)
"""
_END = """
    UPDATE bot_sessions_turn SET state = %s, notice = %s::jsonb, request_sent_at = %s,
        first_token_at = %s, last_token_at = %s, committed_at = %s
    WHERE id = %s
"""


@dataclass(slots=True)
class Times:
    """When things happened in the last attempt."""

    request_sent_at: datetime | None = None
    first_token_at: datetime | None = None
    last_token_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What a turn left to send, and whether another one of its session waits."""

    outgoing: Outgoing
    another_waits: bool


@transaction.atomic
def finish(
    claimed: Claimed,
    outcome: Outcome,
    *,
    asked: str,
    times: Times,
    time_zone: str,
    is_tainted: bool = False,
) -> Finished:
    """End a turn and free its session.

    Args:
        asked: What the turn answers, for the daily note.
        is_tainted: The model read text from outside: its answer is found only by those who ask
            for such text.

    Raises:
        LeaseLost: Another worker has the turn; nothing was written.
    """
    turn = claimed.turn
    # First, so that a message accepted from now on finds the session free or waits for us.
    leases.release(turn.session_id, claimed.token)
    now = timezone.now()
    _write_transcript(turn, outcome, now)
    outgoing = sql.insert(_answer_of(turn, now))
    sql.execute(_COUNT, [turn.ref, turn.generation_id])
    if outcome.text.strip() and not _tells_forgotten(turn):
        notes.add_exchange(
            viewer=turn.viewer,
            question=asked,
            answer=outcome.text,
            at=now,
            time_zone=time_zone,
            source=turn.ref,
            keeps=turn.session.agent.keeps_memory,
        )
        if turn.session.agent.keeps_memory:
            exchanges.add(
                viewer=turn.viewer,
                said=asked,
                # What is said while no model is set up is no answer to find again.
                answer="" if freeze.is_offline(turn) else outcome.text,
                at=now,
                time_zone=time_zone,
                source=turn.ref,
                thread=f"session:{turn.session_id}/{turn.generation.number}",
                is_tainted=is_tainted,
            )
    if outcome.text.strip() and not freeze.is_offline(turn):
        extractions.queue(turn)
    sql.execute(_THAW, [turn.pk])
    sql.execute(_ANSWER, [turn.pk])
    # Looked at after the session was freed: a message that came meanwhile is seen here, or its
    # bell finds the session free.
    ((another_waits,),) = sql.fetch(_ANOTHER_WAITS, [turn.session_id, turn.pk])
    _end(turn, outcome, times)
    transaction.on_commit(lambda: _log_end(turn))
    return Finished(outgoing, another_waits=another_waits)


def _tells_forgotten(turn: Turn) -> bool:
    """Return whether a turn's exchange names what was to be forgotten: it is not remembered."""
    ((tells,),) = sql.fetch(_TELLS_FORGOTTEN, [turn.pk])
    return bool(tells)


def _answer_of(turn: Turn, now: datetime) -> Outgoing:
    """Return the answer's row, with where it goes if its channel is one that is sent to."""
    session = turn.session
    answer = Outgoing(account=session.account, session_id=session.pk, turn=turn, created_at=now)
    if not delivery.sender_of(session.account.channel).is_live:
        answer.peer, answer.thread, answer.reply_to = session.peer, session.thread, asked_in(turn)
    return answer


def asked_in(turn: Turn) -> str:
    """Return the channel's message that an answer replies to; none where only two talk."""
    if turn.session.kind != ChatSession.Kind.GROUP:
        return ""
    found = sql.fetch(_ASKED_IN, [turn.pk])
    return str(found[0][0]) if found else ""


def _log_end(turn: Turn) -> None:
    _log.info("answer.committed", turn=turn.pk, state=str(turn.state))
    if turn.orphaned and turn.state != Turn.State.FAILED:
        # Not earlier: a turn that was only claimed again is not yet saved.
        _log.info("turn.recovered", turn=turn.pk, attempts=turn.attempt)


def _end(turn: Turn, outcome: Outcome, times: Times) -> None:
    """Write the turn's end, as the last statement before the commit that it tells the time of."""
    turn.state = _STATES[outcome.kind]
    turn.notice = _notice(outcome)
    turn.request_sent_at = times.request_sent_at
    turn.first_token_at = times.first_token_at
    turn.last_token_at = times.last_token_at
    turn.committed_at = timezone.now()
    sql.execute(
        _END,
        [
            turn.state,
            json.dumps(turn.notice) if turn.notice else None,
            turn.request_sent_at,
            turn.first_token_at,
            turn.last_token_at,
            turn.committed_at,
            turn.pk,
        ],
    )


def _notice(outcome: Outcome) -> JsonObject | None:
    if outcome.code is None:
        return None
    return {"v": 1, "code": outcome.code, "values": outcome.values or {}}


def _write_transcript(turn: Turn, outcome: Outcome, now: datetime) -> None:
    """Write what was asked and every finished step; their texts stay where they are."""
    sql.execute(_WRITE, [turn.generation_id, turn.pk, now, turn.pk, turn.pk])
    if outcome.partial:
        TranscriptEntry.objects.create(
            generation_id=turn.generation_id,
            turn=turn,
            role=TranscriptEntry.Role.ASSISTANT,
            content=_partial(turn, outcome.partial),
            is_partial=True,
            created_at=now,
        )


def _partial(turn: Turn, text: str) -> Content:
    reply = Reply(AssistantMessage((TextBlock(text),)), "other", None, "")
    return Content.objects.create(team_id=turn.session.team_id, text=dump_reply(reply))
