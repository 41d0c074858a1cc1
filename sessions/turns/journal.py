"""A turn's steps in PostgreSQL: what a later attempt replays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import structlog
from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core import protocols
from agents.core.errors import ProviderError
from agents.core.messages import Reply, ToolCall, dump_reply, load_reply
from agents.core.protocols import Charge, RecordedStep
from agents.core.tooling import ToolOutcome
from agents.db import in_db
from agents.models import ChainLink
from agents.services import ledger
from sessions.models import Turn, TurnStep
from sessions.turns import leases
from sessions.turns.finishing import Times
from sessions.turns.leases import Claimed

_log = structlog.get_logger(__name__)

_START = """
    INSERT INTO bot_sessions_turnstep
        (turn_id, number, kind, name, call_id, attempt, started_at, is_error, error)
    VALUES (%s, %s, %s, %s, %s, %s, %s, false, '')
    ON CONFLICT (turn_id, number) DO UPDATE SET name = excluded.name, call_id = excluded.call_id,
        attempt = excluded.attempt, started_at = excluded.started_at, error = ''
"""
_KEEP = "INSERT INTO bot_sessions_content (team_id, text) VALUES (%s, %s) RETURNING id"
_FINISH = """
    UPDATE bot_sessions_turnstep SET content_id = %s, is_error = %s, finished_at = %s
    WHERE turn_id = %s AND number = %s
"""


class DatabaseJournal:
    """The ``Journal`` of one attempt; every write first passes the lease's fence."""

    def __init__(self, claimed: Claimed, times: Times, *, noted_model: str | None = None) -> None:
        self._noted_model = noted_model
        self._claimed = claimed
        self._turn = claimed.turn
        self._times = times

    async def replay(self) -> Mapping[int, RecordedStep]:
        """Return what earlier attempts left, by step number."""
        if self._turn.attempt == 1:
            return {}
        return await in_db(recorded_steps, self._turn.pk)

    async def model_started(self, number: int, link: protocols.ChainLink) -> None:
        """Note that a request is about to leave."""
        if number != 1 or link.model != self._noted_model:
            await in_db(self._start, number, TurnStep.Kind.MODEL, link.model, "")
        self._noted_model = None
        if self._times.request_sent_at is None:
            self._times.request_sent_at = timezone.now()
        _log.info("request.sent", turn=self._turn.pk, step=number, account=link.account_id)

    async def model_broken(self, number: int, charge: Charge | None, error: ProviderError) -> None:
        """Note that a request broke off, and what it cost if it cost anything."""
        await in_db(self._break, number, charge, error)
        _log.warning("request.broken", turn=self._turn.pk, step=number, code=error.code)

    async def model_finished(self, number: int, reply: Reply, charge: Charge) -> None:
        """Note the reply and its cost together."""
        await in_db(self._finish, number, dump_reply(reply), is_error=False, charge=charge)
        _log.info("reply.stored", turn=self._turn.pk, step=number)

    async def tool_started(self, number: int, call: ToolCall) -> None:
        """Note that a tool is about to run."""
        await in_db(self._start, number, TurnStep.Kind.TOOL, call.name[:200], call.id[:200])
        _log.info("tool.started", turn=self._turn.pk, step=number, tool=call.name)

    async def tool_finished(self, number: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Note the whole result."""
        await in_db(self._finish, number, outcome.text, is_error=outcome.is_error)
        _log.info("tool.finished", turn=self._turn.pk, step=number, tool=call.name)

    # --- in the database --------------------------------------------------------------------

    @transaction.atomic
    def _start(self, number: int, kind: TurnStep.Kind, name: str, call_id: str) -> None:
        self._hold()
        _start(self._turn, number, kind, name, call_id)

    @transaction.atomic
    def _break(self, number: int, charge: Charge | None, error: ProviderError) -> None:
        self._hold()
        TurnStep.objects.filter(turn=self._turn, number=number).update(
            error=f"{error.code}: {error.detail}"[:500]
        )
        if charge is not None:
            self._charge(charge)

    @transaction.atomic
    def _finish(
        self, number: int, text: str, *, is_error: bool, charge: Charge | None = None
    ) -> None:
        self._hold()
        team_id = self._turn.session.team_id
        # What a tool brought may hold what PostgreSQL's text does not.
        clean = text.replace("\x00", "").encode("utf-8", "replace").decode()
        ((content_id,),) = sql.fetch(_KEEP, [team_id, clean])
        sql.execute(_FINISH, [content_id, is_error, timezone.now(), self._turn.pk, number])
        if charge is not None:
            self._charge(charge)

    def _hold(self) -> None:
        leases.hold(self._turn.session_id, self._claimed.token)

    def _charge(self, charge: Charge) -> None:
        session = self._turn.session
        ledger.record(
            charge,
            ledger.Spender(
                origin=self._turn.ref,
                kind="turn",
                team_id=session.team_id,
                agent_id=session.agent_id,
                person_id=session.person_id,
                channel=session.account.channel,
            ),
        )


def note_first_call(claimed: Claimed, links: Sequence[ChainLink]) -> str | None:
    """Write the first call's step with the claim, where it is certain which model is asked.

    Call it in the transaction that claims the turn; it saves another one before the request.

    Returns:
        The model; None where the call will be noted when it is made.
    """
    turn = claimed.turn
    if turn.attempt > 1 or turn.stop_requested_at is not None or not links:
        return None
    account = links[0].account
    if account.switched_off_at is not None or account.cool_until is not None:
        return None
    _start(turn, 1, TurnStep.Kind.MODEL, links[0].model, "")
    return links[0].model


def _start(turn: Turn, number: int, kind: str, name: str, call_id: str) -> None:
    values = [turn.pk, number, kind, name, call_id, turn.attempt, timezone.now()]
    sql.execute(_START, values)


def recorded_steps(turn_id: int) -> dict[int, RecordedStep]:
    """Return a turn's steps, by number."""
    steps = TurnStep.objects.filter(turn_id=turn_id).select_related("content")
    return {step.number: _recorded(step) for step in steps}


def _recorded(step: TurnStep) -> RecordedStep:
    is_model = step.kind == TurnStep.Kind.MODEL
    recorded = RecordedStep(
        number=step.number,
        kind="model" if is_model else "tool",
        is_finished=step.finished_at is not None,
    )
    if step.content is None or not recorded.is_finished:
        return recorded
    if is_model:
        return replace(recorded, reply=load_reply(step.content.text))
    return replace(recorded, outcome=ToolOutcome(step.content.text, step.is_error))
