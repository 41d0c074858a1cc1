"""A worker's share of reading conversations for facts, after their answers and beside its turns."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog
from django.conf import settings
from django.utils import timezone

from agents.core.asking import Asker, Question
from agents.core.errors import CapReached, NoProvider, ProviderError
from agents.core.events import Done
from agents.core.messages import Reply, UserMessage
from agents.core.protocols import SystemPart
from agents.core.pump import Limits, StopSwitch
from agents.db import in_db
from agents.models import ProviderAccount
from agents.services import caps, chain
from agents.services.caps import CappedPurse
from agents.services.cool_downs import SharedCoolDowns
from memory import extraction
from memory.extraction import Unreadable
from sessions import extractions
from sessions.extractions import Plan
from sessions.models import Extraction
from sessions.tryout import LedgerJournal

_log = structlog.get_logger(__name__)

# Calls at once, in one process; while turns run, one.
PLACES: Final = 2
LONGEST_CALL_S: Final = 120.0
UNREADABLE: Final = "unreadable"


async def keep(is_busy: Callable[[], bool]) -> None:
    """Read what is due, for as long as the worker runs.

    Args:
        is_busy: Tells whether turns run, which go before.
    """
    at_work: set[asyncio.Task[None]] = set()
    try:
        while True:
            try:
                await _begin(at_work, places=1 if is_busy() else PLACES)
            except Exception:
                _log.exception("extraction.round_failed")
            await asyncio.sleep(settings.QANOT_EXTRACTION_S)
    finally:
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


async def _begin(at_work: set[asyncio.Task[None]], *, places: int) -> None:
    while len(at_work) < places and (row := await in_db(extractions.claim)) is not None:
        task = asyncio.create_task(work_on(row), name=row.ref)
        at_work.add(task)
        task.add_done_callback(at_work.discard)
        task.add_done_callback(_log_failure)


def _log_failure(task: asyncio.Task[None]) -> None:
    """Log what a reading raised; its row is taken up again when its lease has run out."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("extraction.lost", extraction=task.get_name(), exc_info=error)


async def work_on(row: Extraction) -> None:
    """Read one claimed stretch; whatever goes wrong, its row says so."""
    try:
        await _read(row)
    except asyncio.CancelledError:
        await asyncio.shield(in_db(extractions.hand_back, row))
        raise
    except CapReached:
        tomorrow = caps.day_ends(row.session.agent, timezone.now())
        await in_db(extractions.put_off, row, CapReached.code, until=tomorrow)
    except (ProviderError, NoProvider) as error:
        await in_db(extractions.put_off, row, error.code)
    except Unreadable:
        await in_db(extractions.put_off, row, UNREADABLE)
    except Exception:
        _log.exception("extraction.crashed", extraction=row.pk)
        await in_db(extractions.put_off, row, extractions.CRASHED)


async def _read(row: Extraction) -> None:
    plan = await in_db(extractions.plan, row)
    if plan is None:
        return
    reply = await _ask(plan)
    found = extraction.read(reply.message.text, plan.lines)
    await in_db(extractions.settle, row, found)


async def _ask(plan: Plan) -> Reply:
    await chain.warm_up([plan.row])
    (link,) = chain.open_chain([plan.row])
    asker = Asker(
        chain=(extractions.small(link),),
        journal=LedgerJournal(plan.spender),
        purse=CappedPurse(plan.allowance),
        cool_downs=_Onlooker([plan.row.account]),
        stop=StopSwitch(),
        limits=Limits(
            settings.QANOT_FIRST_EVENT_S, settings.QANOT_BETWEEN_EVENTS_S, LONGEST_CALL_S
        ),
        retry_base_s=settings.QANOT_RETRY_BASE_S,
    )
    question = Question(
        system=(SystemPart("extraction", extraction.INSTRUCTIONS),),
        messages=(UserMessage(extraction.asked(plan.lines, plan.known)),),
        tools=(),
    )
    async for event in asker.ask(1, question):
        if isinstance(event, Done):
            return event.reply
    raise AssertionError("asking ends with Done or raises")


class _Onlooker:
    """Cool-downs that are minded and never made: a call for later takes no account from turns.

    An account that cools down is not asked at all, as nobody waits.
    """

    def __init__(self, accounts: Sequence[ProviderAccount]) -> None:
        self._shared = SharedCoolDowns(accounts)

    async def standing(self, account_ids: Sequence[int]) -> Mapping[int, float | None]:
        """Return seconds to wait for each account: none, or it counts as switched off."""
        waits = await self._shared.standing(account_ids)
        return {pk: None if wait else wait for pk, wait in waits.items()}

    async def failed(self, account_id: int, error: ProviderError) -> None:
        """Leave it to a turn to find out."""

    async def succeeded(self, account_id: int) -> None:
        """Leave it to a turn to find out."""
