"""Which stretches of conversations a model still has to read for facts, and what came of it.

A stretch is due once its conversation has paused, or at ten exchanges. Its row outlives whoever
works on it: a worker takes it for a time, and what it finds is kept once, in the transaction that
ends the row.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents import models, sql
from agents.core.messages import Usage
from agents.core.protocols import ChainLink
from agents.core.viewer import Viewer
from agents.models import Agent
from agents.services import caps, chain
from agents.services.caps import UNLIMITED, Allowance
from agents.services.ledger import Spender
from memory import extracted, extraction
from memory.extraction import Extracted, Line
from memory.models import owns_scope
from memory.policy import policy_of
from sessions import marks, notices
from sessions.events.announce import announce_noted_after_commit
from sessions.models import Attachment, ChatSession, Extraction, InboundMessage, Turn

_log = structlog.get_logger(__name__)

KIND: Final = "extraction"
PAUSE_S: Final = 30.0
MOST_EXCHANGES: Final = 10
TRIES: Final = 3
RETRY_AFTER: Final = (timedelta(minutes=1), timedelta(minutes=10))
LEASE_S: Final = 300.0
# Of an agent's daily cap; and where none limits it.
SHARE: Final = Decimal("0.1")
WITHOUT_CAP_USD: Final = Decimal("0.50")
# For people's words: as many as half of the window has tokens, as a character may be one.
MOST_CHARACTERS: Final = 16_000
ANSWER_TOKENS: Final = 4_000
KEPT_FOR: Final = timedelta(days=30)

SWITCHED_OFF: Final = "switched_off"
NOTHING_SAID: Final = "nothing_said"
NO_MODEL: Final = "no_provider"
CRASHED: Final = "crashed"

_QUEUE = """
    INSERT INTO bot_sessions_extraction (session_id, generation_id, state, first_turn_id,
        last_turn_id, exchanges, due_at, attempts, reason, facts, created_at)
    VALUES (%s, %s, 'waiting', %s, %s, 1, clock_timestamp() + make_interval(secs => %s), 0, '', 0,
        clock_timestamp())
    ON CONFLICT (generation_id) WHERE state = 'waiting' DO UPDATE SET
        last_turn_id = EXCLUDED.last_turn_id, due_at = EXCLUDED.due_at,
        exchanges = bot_sessions_extraction.exchanges + 1
"""
# A message that waits for its answer moves the pause: its end will put the row off.
_CLAIM = """
    UPDATE bot_sessions_extraction SET state = 'running', attempts = attempts + 1,
        lease_token = %s, leased_until = now() + make_interval(secs => %s)
    WHERE id = (
        SELECT e.id FROM bot_sessions_extraction e
        WHERE e.state IN ('waiting', 'running')
            AND (e.leased_until IS NULL OR e.leased_until < now())
            AND (e.due_at <= now() AND NOT EXISTS (
                    SELECT 1 FROM bot_sessions_turn t
                    WHERE t.session_id = e.session_id AND t.state IN ('queued', 'running'))
                OR e.state = 'waiting' AND e.exchanges >= %s)
        ORDER BY e.due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id
"""
_HAND_BACK = """
    UPDATE bot_sessions_extraction
    SET lease_token = NULL, leased_until = NULL, attempts = attempts - 1, due_at = now()
    WHERE id = %s AND lease_token = %s AND state = 'running'
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one call needs from the database.

    Args:
        row: The chain's cheapest place, with its account.
        known: What is noted already.
    """

    lines: tuple[Line, ...]
    known: tuple[str, ...]
    row: models.ChainLink
    allowance: Allowance
    spender: Spender


def queue(turn: Turn) -> None:
    """Let an answered turn be read for facts later, in the transaction that ends it.

    Args:
        turn: With its session and agent.
    """
    agent = turn.session.agent
    if not agent.extracts_facts or not agent.keeps_memory or not owns_scope(turn.viewer):
        return
    sql.execute(_QUEUE, [turn.session_id, turn.generation_id, turn.pk, turn.pk, PAUSE_S])


def claim() -> Extraction | None:
    """Take the stretch that is due longest; None where none is."""
    taken = sql.fetch(_CLAIM, [uuid.uuid4(), LEASE_S, MOST_EXCHANGES])
    if not taken:
        return None
    rows = Extraction.objects.select_related("session__agent", "session__account", "generation")
    row = rows.get(pk=taken[0][0])
    if row.attempts > TRIES:
        # Whoever had it died with it each time.
        _end(row, Extraction.State.FAILED, reason=row.reason or CRASHED)
        return None
    return row


def hand_back(row: Extraction) -> None:
    """Leave a stretch to others: this process is going to end."""
    sql.execute(_HAND_BACK, [row.pk, row.lease_token])


def plan(row: Extraction) -> Plan | None:
    """Return what to ask whom; None where nothing has to be asked, and then the row has ended."""
    session, agent = row.session, row.session.agent
    policy, viewer = policy_of(agent), _viewer_of(session)
    if not agent.extracts_facts or not policy.keeps or not owns_scope(viewer):
        _end(row, Extraction.State.DONE, reason=SWITCHED_OFF)
        return None
    lines = _lines(row)
    if not extraction.is_worth_asking(lines):
        _end(row, Extraction.State.DONE, reason=NOTHING_SAID)
        return None
    cheapest = cheapest_of(chain.rows_of(agent.pk))
    if cheapest is None:
        _end(row, Extraction.State.DONE, reason=NO_MODEL)
        return None
    room = min(MOST_CHARACTERS, cheapest.window_tokens // 2)
    return Plan(
        lines=tuple(extraction.newest(lines, room)),
        known=tuple(extracted.known(viewer, policy)),
        row=cheapest,
        allowance=_allowance(agent, cheapest),
        spender=Spender(
            origin=row.ref,
            kind=KIND,
            team_id=session.team_id,
            agent_id=agent.pk,
            person_id=session.person_id,
            channel=session.account.channel,
        ),
    )


def cheapest_of(rows: Sequence[models.ChainLink]) -> models.ChainLink | None:
    """Return the place of a chain at which a call costs least; of equals the last one.

    A price that nobody knows counts as a dear one. Accounts that are switched off are left out.
    """
    on = [row for row in rows if row.account.switched_off_at is None]
    return min(reversed(on), key=_typical_cost, default=None)


def small(link: ChainLink) -> ChainLink:
    """Return a link for one short answer without thinking."""
    most = min(link.max_output_tokens, ANSWER_TOKENS, link.window_tokens // 4)
    return replace(link, max_output_tokens=most, effort="")


@transaction.atomic
def settle(row: Extraction, found: Sequence[Extracted]) -> int:
    """Keep what was found and end the row, once; return how many facts are new.

    Where the agent was told meanwhile to remember nothing, nothing is kept.
    """
    if not _is_held(row):
        return 0
    # As they are now: the call took its time.
    session = ChatSession.objects.select_related("agent").get(pk=row.session_id)
    policy = policy_of(session.agent)
    stored = []
    if found and policy.keeps and session.agent.extracts_facts:
        stored = extracted.store(
            _still_said(found, row, session),
            viewer=_viewer_of(session),
            policy=policy,
            thread=f"session:{session.pk}/{row.generation.number}",
            source=row.ref,
        )
    _end(row, Extraction.State.DONE, facts=len(stored))
    _announce(session, {entry.source for entry in stored})
    return len(stored)


@transaction.atomic
def put_off(row: Extraction, reason: str, *, until: datetime | None = None) -> None:
    """Note why a try failed: another one follows, or the stretch is given up.

    Args:
        until: When to try again, where that is known.
    """
    if not _is_held(row):
        return
    if row.attempts >= TRIES:
        _end(row, Extraction.State.FAILED, reason=reason)
        return
    row.due_at = until or timezone.now() + RETRY_AFTER[row.attempts - 1]
    row.reason, row.lease_token, row.leased_until = reason, None, None
    row.save(update_fields=["due_at", "reason", "lease_token", "leased_until"])
    _log.info("extraction.put_off", extraction=row.pk, reason=reason, attempts=row.attempts)


def forget_old() -> None:
    """Delete the rows of stretches that were read long ago."""
    states = (Extraction.State.DONE, Extraction.State.FAILED)
    old = Extraction.objects.filter(state__in=states, finished_at__lt=timezone.now() - KEPT_FOR)
    old.delete()


def _typical_cost(row: models.ChainLink) -> Decimal:
    usage = Usage(input_tokens=1_500, output_tokens=300)
    return caps.cost_of_row(row, usage)


def _allowance(agent: Agent, row: models.ChainLink) -> Allowance:
    if row.account.is_free:
        return UNLIMITED
    return caps.part_of_allowance(
        agent, kind=KIND, share=SHARE, without_cap_usd=WITHOUT_CAP_USD, now=timezone.now()
    )


def _viewer_of(session: ChatSession) -> Viewer:
    is_direct = session.kind == ChatSession.Kind.DIRECT
    return Viewer(
        team_id=session.team_id,
        agent_id=session.agent_id,
        person_id=session.person_id,
        chat_id=session.chat_id,
        is_private=is_direct,
    )


def _messages(row: Extraction, session: ChatSession) -> "QuerySet[InboundMessage]":
    """Return the stretch's messages of people whom we know, without commands and erased ones."""
    messages = InboundMessage.objects.filter(
        turn__generation_id=row.generation_id,
        turn__gte=row.first_turn_id,
        turn__lte=row.last_turn_id,
        person__isnull=False,
        content__erased_at=None,
    )
    if session.kind == ChatSession.Kind.DIRECT:
        messages = messages.filter(person=session.person)
    return messages.exclude(turn__notice__code=notices.COMMAND).order_by("pk")


def _lines(row: Extraction) -> list[Line]:
    messages = list(_messages(row, row.session).select_related("content"))
    heard = _heard(messages)
    is_group = row.session.kind == ChatSession.Kind.GROUP
    lines = [
        Line(
            text=extraction.own_words(
                "\n".join([message.content.text, *heard.get(message.pk, [])])
            ),
            source=message.ref,
            author_id=message.person_id or 0,
            at=message.received_at,
            author_name=marks.clean_name(message.author_name) if is_group else "",
        )
        for message in messages
    ]
    return [line for line in lines if line.text]


def _heard(messages: Sequence[InboundMessage]) -> dict[int, list[str]]:
    """Return what voice messages say, by message; not where it may be somebody else's words."""
    spoken = Attachment.objects.filter(
        message__in=[message.pk for message in messages if message.context_id is None],
        kind=Attachment.Kind.VOICE,
        transcript__erased_at=None,
        transcript__isnull=False,
    )
    heard: dict[int, list[str]] = {}
    for message_id, text in spoken.order_by("number").values_list("message", "transcript__text"):
        heard.setdefault(message_id, []).append(text)
    return heard


def _still_said(
    found: Sequence[Extracted], row: Extraction, session: ChatSession
) -> list[Extracted]:
    """Return what was found, of whom the messages are now; without those erased meanwhile."""
    authors = {message.ref: message.person_id for message in _messages(row, session)}
    return [
        replace(fact, line=replace(fact.line, author_id=author_id))
        for fact in found
        if (author_id := authors.get(fact.line.source)) is not None
    ]


def _is_held(row: Extraction) -> bool:
    """Lock a row that this worker still has."""
    held = Extraction.objects.select_for_update().filter(
        pk=row.pk, lease_token=row.lease_token, state=Extraction.State.RUNNING
    )
    return held.exists()


def _end(row: Extraction, state: Extraction.State, *, reason: str = "", facts: int = 0) -> None:
    row.state, row.reason, row.facts, row.finished_at = state, reason, facts, timezone.now()
    row.lease_token = row.leased_until = None
    row.save(
        update_fields=["state", "reason", "facts", "finished_at", "lease_token", "leased_until"]
    )
    _log.info("extraction.ended", extraction=row.pk, state=str(state), reason=reason, facts=facts)


def _announce(session: ChatSession, sources: set[str]) -> None:
    """Let those who watch the conversation see what was noted below its messages."""
    ids = [int(source.partition(":")[2]) for source in sources]
    turns = InboundMessage.objects.filter(pk__in=ids).values_list("turn__public_id", flat=True)
    for turn in set(turns):
        announce_noted_after_commit(session=session.public_id, turn=turn)
