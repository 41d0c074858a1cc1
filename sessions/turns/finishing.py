"""The end of a turn: transcript, outgoing row, note and state in one transaction."""

from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import F, Value
from django.utils import timezone

from agents.core.events import Outcome
from agents.core.messages import AssistantMessage, JsonObject, Reply, TextBlock, dump_reply
from agents.models import UsageRecord
from memory import notes
from sessions.models import (
    Content,
    Generation,
    InboundMessage,
    Outgoing,
    TranscriptEntry,
    Turn,
    TurnFreeze,
    TurnStep,
)
from sessions.turns import leases
from sessions.turns.leases import Claimed

_log = structlog.get_logger(__name__)

_STATES = {
    "answered": Turn.State.ANSWERED,
    "stopped": Turn.State.STOPPED,
    "ended": Turn.State.ENDED,
    "failed": Turn.State.FAILED,
}


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
def finish(claimed: Claimed, outcome: Outcome, *, times: Times, time_zone: str) -> Finished:
    """End a turn and free its session.

    Raises:
        LeaseLost: Another worker has the turn; nothing was written.
    """
    turn = claimed.turn
    # First, so that a message accepted from now on finds the session free or waits for us.
    leases.release(turn.session_id, claimed.token)
    now = timezone.now()
    inbound = list(turn.messages.select_related("content").order_by("id"))
    _write_transcript(turn, inbound, outcome, now)
    outgoing = Outgoing.objects.create(session_id=turn.session_id, turn=turn, created_at=now)
    _end(turn, outcome, times, now)
    InboundMessage.objects.filter(turn=turn).update(status=InboundMessage.Status.ANSWERED)
    _count(turn)
    if outcome.text.strip():
        notes.add_exchange(
            viewer=turn.viewer,
            question="\n".join(message.content.text for message in inbound),
            answer=outcome.text,
            at=now,
            time_zone=time_zone,
            source=turn.ref,
        )
    TurnFreeze.objects.filter(turn=turn).delete()
    transaction.on_commit(lambda: _log_end(turn))
    # Looked at after the session was freed: a message that came meanwhile is seen here, or its
    # bell finds the session free.
    waits = Turn.objects.unfinished().filter(session_id=turn.session_id).exclude(pk=turn.pk)
    return Finished(outgoing, another_waits=waits.exists())


def _log_end(turn: Turn) -> None:
    _log.info("answer.committed", turn=turn.pk, state=str(turn.state))
    if turn.orphaned and turn.state != Turn.State.FAILED:
        # Not earlier: a turn that was only claimed again is not yet saved.
        _log.info("turn.recovered", turn=turn.pk, attempts=turn.attempt)


def _end(turn: Turn, outcome: Outcome, times: Times, now: datetime) -> None:
    turn.state = _STATES[outcome.kind]
    turn.notice = _notice(outcome)
    turn.request_sent_at = times.request_sent_at
    turn.first_token_at = times.first_token_at
    turn.last_token_at = times.last_token_at
    turn.committed_at = now
    turn.save(
        update_fields=[
            "state",
            "notice",
            "request_sent_at",
            "first_token_at",
            "last_token_at",
            "committed_at",
        ]
    )


def _notice(outcome: Outcome) -> JsonObject | None:
    if outcome.code is None:
        return None
    return {"v": 1, "code": outcome.code, "values": outcome.values or {}}


def _write_transcript(
    turn: Turn, inbound: list[InboundMessage], outcome: Outcome, now: datetime
) -> None:
    entries = [
        _entry(turn, now, role=TranscriptEntry.Role.USER, content=message.content, message=message)
        for message in inbound
    ]
    steps = turn.steps.filter(finished_at__isnull=False).order_by("number")
    entries += [_entry_of(turn, step, now) for step in steps]
    if outcome.partial:
        entries.append(
            _entry(
                turn,
                now,
                role=TranscriptEntry.Role.ASSISTANT,
                content=_partial(turn, outcome.partial),
                is_partial=True,
            )
        )
    TranscriptEntry.objects.bulk_create(entries)


def _entry_of(turn: Turn, step: TurnStep, now: datetime) -> TranscriptEntry:
    if step.kind == TurnStep.Kind.MODEL:
        return _entry(turn, now, role=TranscriptEntry.Role.ASSISTANT, content_id=step.content_id)
    return _entry(
        turn,
        now,
        role=TranscriptEntry.Role.TOOL,
        content_id=step.content_id,
        tool_call_id=step.call_id,
        tool_name=step.name,
        is_error=step.is_error,
    )


# Columns of one entry, whichever of them it has.
def _entry(turn: Turn, now: datetime, **columns: object) -> TranscriptEntry:
    return TranscriptEntry(generation_id=turn.generation_id, turn=turn, created_at=now, **columns)


def _partial(turn: Turn, text: str) -> Content:
    reply = Reply(AssistantMessage((TextBlock(text),)), "other", None, "")
    return Content.objects.create(team_id=turn.session.team_id, text=dump_reply(reply))


def _count(turn: Turn) -> None:
    """Add to the generation's counters what the turn's calls used, in all its attempts."""
    calls = list(UsageRecord.objects.filter(origin=turn.ref).order_by("id"))
    if not calls:
        return
    # How full the window is, is what the last whole call said, not a sum.
    whole = [call.context_tokens for call in calls if not call.was_broken]
    counters = {
        name: F(name) + sum(getattr(call, name) for call in calls)
        for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    }
    if whole:
        counters["context_tokens"] = Value(whole[-1])
    Generation.objects.filter(pk=turn.generation_id).update(**counters)
