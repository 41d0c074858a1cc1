"""One question answered by a draft and by the live persona, side by side.

Real calls through the agent's chain, under its cap and cool-downs, and in the ledger; but no
conversation: no tools, no history, and nothing is remembered.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

import structlog
from django.conf import settings
from django.utils import timezone

from agents import models
from agents.core.asking import Asker, Question
from agents.core.errors import (
    AgentError,
    CapReached,
    NoProvider,
    ProviderError,
    ProviderTimeout,
    Stopped,
)
from agents.core.events import AnswerRestarted, Done, TextDelta
from agents.core.messages import JsonObject, Reply, ToolCall, Usage, UserMessage
from agents.core.protocols import ChainLink, Charge, RecordedStep, SystemPart
from agents.core.pump import Limits, StopSwitch
from agents.core.tooling import ToolOutcome
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.models import Agent, Person
from agents.services import caps, chain, documents, ledger
from agents.services.caps import UNLIMITED, Allowance, CappedPurse
from agents.services.cool_downs import SharedCoolDowns
from agents.services.ledger import Spender
from sessions import prompting

_log = structlog.get_logger(__name__)

SideName = Literal["draft", "live"]
SIDES: Final[tuple[SideName, ...]] = ("draft", "live")
# Somebody sits in front of it; a local model may need a minute to load.
LONGEST_S: Final = 180.0


@dataclass(frozen=True, slots=True)
class Text:
    """More of a side's answer."""

    side: SideName
    text: str


@dataclass(frozen=True, slots=True)
class Restarted:
    """What a side has shown so far is void; its answer begins anew."""

    side: SideName


@dataclass(frozen=True, slots=True)
class Answered:
    """A side is done.

    Args:
        cost_usd: Of all its calls; None where no price is known.
    """

    side: SideName
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A side has no answer.

    Args:
        code: Of ``agents.core.errors.ErrorCode``.
    """

    side: SideName
    code: str
    values: JsonObject


Event = Text | Restarted | Answered | Failed


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of whom, read from the database before the calls begin."""

    systems: Mapping[SideName, tuple[SystemPart, ...]]
    question: str
    links: tuple[models.ChainLink, ...]
    allowance: Allowance
    spender: Spender


def plan(
    *, agent: Agent, person: Person, name: str, draft: str, question: str, ref: str
) -> Plan | None:
    """Return what a try-out needs from the database; None where the agent has no model to ask.

    Args:
        name: The document that the draft stands for.
        ref: Names the try-out in the ledger, ``tryout:…``.
    """
    links = tuple(chain.rows_of(agent.pk))
    if not links:
        return None
    now = timezone.now()
    is_free = all(link.account.is_free for link in links)
    viewer = Viewer(agent.team_id, agent.pk, person_id=person.pk, is_private=True)
    drafts: dict[SideName, dict[str, str]] = {"draft": {name: draft}, "live": {}}
    return Plan(
        systems={
            side: prompting.assemble_for(
                agent,
                viewer,
                now=now,
                person=person,
                window_tokens=prompting.window_of(links),
                drafts=drafts[side],
                with_ritual=name == documents.RITUAL,
            ).parts
            for side in SIDES
        },
        question=question,
        links=links,
        allowance=UNLIMITED if is_free else caps.allowance(agent, now=now),
        spender=Spender(
            origin=ref,
            kind="tryout",
            team_id=agent.team_id,
            agent_id=agent.pk,
            person_id=person.pk,
            channel="admin",
        ),
    )


async def run(planned: Plan, *, longest_s: float = LONGEST_S) -> AsyncGenerator[Event]:
    """Ask both sides at once, and yield what comes as it comes.

    Whoever closes the generator stops both; what was spent until then is still written.
    """
    await chain.warm_up(planned.links)
    trial = _Trial(planned, chain.open_chain(planned.links))
    tasks = [asyncio.create_task(trial.ask(side)) for side in SIDES]
    _keep(tasks)
    timer = asyncio.get_running_loop().call_later(longest_s, trial.give_up)
    try:
        for _ended in SIDES:
            while (event := await trial.events.get()) is not None:
                yield event
    finally:
        timer.cancel()
        # The calls end by themselves, a moment later, and note what they cost.
        trial.stop.throw()


# The event loop keeps no tasks alive; these may outlive the page that began them.
_running: Final[set[asyncio.Task[None]]] = set()


def _keep(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        _running.add(task)
        task.add_done_callback(_running.discard)


async def settled() -> None:
    """Return when no try-out of this process has anything left to note."""
    while _running:
        await asyncio.wait(set(_running))


class _Trial:
    """Both sides of one try-out on the running loop."""

    def __init__(self, planned: Plan, links: Sequence[ChainLink]) -> None:
        self._plan = planned
        self._links = links
        self._purse = CappedPurse(planned.allowance)
        self._is_late = False
        self.stop = StopSwitch()
        self.events: asyncio.Queue[Event | None] = asyncio.Queue()

    def give_up(self) -> None:
        """Stop for taking too long."""
        self._is_late = True
        self.stop.throw()

    async def ask(self, side: SideName) -> None:
        """Put one side's events into the queue; None is the last."""
        began = time.monotonic()
        journal = LedgerJournal(self._plan.spender)
        try:
            reply = await self._answer(side, journal)
        except (ProviderError, NoProvider, CapReached, Stopped) as error:
            self.events.put_nowait(self._failed(side, error))
        except Exception:
            _log.exception("tryout.crashed", origin=self._plan.spender.origin)
            self.events.put_nowait(Failed(side, "unknown", {}))
        else:
            seconds = time.monotonic() - began
            self.events.put_nowait(journal.answered(side, reply.model, seconds))
        finally:
            self.events.put_nowait(None)

    async def _answer(self, side: SideName, journal: "LedgerJournal") -> Reply:
        question = Question(self._plan.systems[side], (UserMessage(self._plan.question),), tools=())
        async for event in self._asker(journal).ask(1, question):
            if isinstance(event, TextDelta):
                self.events.put_nowait(Text(side, event.text))
            elif isinstance(event, AnswerRestarted):
                self.events.put_nowait(Restarted(side))
            elif isinstance(event, Done):
                return event.reply
        raise AssertionError("asking ends with Done or raises")

    def _asker(self, journal: "LedgerJournal") -> Asker:
        return Asker(
            chain=self._links,
            journal=journal,
            purse=self._purse,
            cool_downs=SharedCoolDowns([link.account for link in self._plan.links]),
            stop=self.stop,
            limits=Limits(
                settings.QANOT_FIRST_EVENT_S, settings.QANOT_BETWEEN_EVENTS_S, settings.QANOT_CALL_S
            ),
            retry_base_s=settings.QANOT_RETRY_BASE_S,
        )

    def _failed(self, side: SideName, error: AgentError) -> Failed:
        if isinstance(error, Stopped) and self._is_late:
            error = ProviderTimeout("the try-out took too long")
        values = error.values if isinstance(error, CapReached) else {}
        return Failed(side, error.code, values)


@dataclass(slots=True)
class LedgerJournal:
    """The ``Journal`` of a try-out: nothing is replayed, only what was spent is written."""

    spender: Spender
    charges: list[Charge] = field(default_factory=list)

    async def replay(self) -> Mapping[int, RecordedStep]:
        """Return nothing: a try-out has one attempt."""
        return {}

    async def model_started(self, number: int, link: ChainLink) -> None:
        """Note nothing: an unanswered question leaves no trace."""

    async def model_broken(self, number: int, charge: Charge | None, error: ProviderError) -> None:
        """Write what a broken call cost."""
        if charge is not None:
            await self._record(charge)

    async def model_finished(self, number: int, reply: Reply, charge: Charge) -> None:
        """Write what an answer cost."""
        await self._record(charge)

    async def tool_started(self, number: int, call: ToolCall) -> None:
        """Refuse: there are no tools here."""
        raise AssertionError("a try-out has no tools")

    async def tool_finished(self, number: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Refuse: there are no tools here."""
        raise AssertionError("a try-out has no tools")

    def answered(self, side: SideName, model: str, seconds: float) -> Answered:
        """Return what all calls of the side took together."""
        costs = [ledger.price_of(c.model, c.usage, own=c.price)[1] for c in self.charges]
        known = [cost for cost in costs if cost is not None]
        return Answered(
            side,
            model,
            input_tokens=sum(_input(charge.usage) for charge in self.charges),
            output_tokens=sum(charge.usage.output_tokens for charge in self.charges),
            cost_usd=sum(known, Decimal(0)) if len(known) == len(costs) else None,
            seconds=seconds,
        )

    async def _record(self, charge: Charge) -> None:
        self.charges.append(charge)
        await in_db(ledger.record, charge, self.spender)


def _input(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
