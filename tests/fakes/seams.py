"""The loop's seams in memory: what stands behind them in the product is a database or Redis."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.core.asking import Asker
from agents.core.context import NewestExchanges
from agents.core.errors import AccountRefused, CapReached, LeaseLost, ProviderError
from agents.core.events import Done, ProviderEvent, TextDelta
from agents.core.loop import MAX_ITERATIONS, Loop
from agents.core.messages import JsonObject, Message, Reply, ToolCall, Usage, UserMessage
from agents.core.protocols import (
    ChainLink,
    Charge,
    ContextKeeper,
    ModelCall,
    Price,
    Provider,
    RecordedStep,
    SystemPart,
)
from agents.core.pump import Limits, StopSwitch
from agents.core.tooling import ToolOutcome, ToolSpec
from tests.fakes.scripted import reply

COOL_DOWN_S = 120.0
# A request, for tests of what passes it on unread.
ASKED = ModelCall("model-1", (), (UserMessage("Hello"),), (), 1_000)


@dataclass
class Stubborn:
    """A provider that says one word, falls silent, and ignores being cancelled.

    Args:
        ignores_s: Seconds for which it does so; then it ends, or says more if it ``goes_on``.
    """

    ignores_s: float
    goes_on: bool = False
    given_late: int = 0
    calls: list[ModelCall] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent]:
        """Say a word, and no more."""
        self.calls.append(call)
        try:
            yield TextDelta("word ")
            await self._ignore()
            while self.goes_on:
                self.given_late += 1
                yield TextDelta("late ")
                await asyncio.sleep(1)
            yield Done(reply("word "))
        finally:
            self.closed.set()

    async def complete(self, call: ModelCall) -> Reply:
        """Give a reply long after it was given up."""
        self.calls.append(call)
        await self._ignore()
        return reply("late")

    async def aclose(self) -> None:
        """Hold nothing."""

    async def _ignore(self) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(self.ignores_s)


def link(
    provider: Provider,
    account_id: int = 1,
    *,
    window_tokens: int = 100_000,
    price: Price | None = None,
) -> ChainLink:
    """Return a place in a chain."""
    return ChainLink(
        account_id=account_id,
        account_name=f"account-{account_id}",
        provider=provider,
        model=f"model-{account_id}",
        window_tokens=window_tokens,
        max_output_tokens=1_000,
        price=price,
    )


@dataclass
class MemoryJournal:
    """Keeps steps as a later attempt would find them, and what was noted in which order.

    Args:
        steps: What earlier attempts left.
        lost_at: The note, as in ``notes``, at which another worker turns out to own the turn.
        slow_s: Seconds that each note of a finished tool takes.
    """

    steps: dict[int, RecordedStep] = field(default_factory=dict)
    lost_at: str = ""
    slow_s: float = 0.0
    notes: list[str] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    errors: list[ProviderError] = field(default_factory=list)

    async def replay(self) -> Mapping[int, RecordedStep]:
        """Return what earlier attempts left."""
        return dict(self.steps)

    async def model_started(self, number: int, link: ChainLink) -> None:
        """Note that a request is about to leave."""
        self._note(f"{number} asked {link.account_name}")
        self.steps[number] = RecordedStep(number, "model", is_finished=False)

    async def model_broken(self, number: int, charge: Charge | None, error: ProviderError) -> None:
        """Note that a request broke off."""
        self._note(f"{number} broke")
        self.errors.append(error)
        if charge is not None:
            self.charges.append(charge)

    async def model_finished(self, number: int, reply: Reply, charge: Charge) -> None:
        """Note the reply and its cost."""
        self._note(f"{number} replied")
        self.charges.append(charge)
        self.steps[number] = RecordedStep(number, "model", is_finished=True, reply=reply)

    async def tool_started(self, number: int, call: ToolCall) -> None:
        """Note that a tool is about to run."""
        self._note(f"{number} began {call.name}")
        self.steps[number] = RecordedStep(number, "tool", is_finished=False)

    async def tool_finished(self, number: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Note the whole result."""
        if self.slow_s:
            await asyncio.sleep(self.slow_s * number)
        self._note(f"{number} finished {call.name}")
        self.steps[number] = RecordedStep(number, "tool", is_finished=True, outcome=outcome)

    def _note(self, note: str) -> None:
        if note == self.lost_at:
            raise LeaseLost
        self.notes.append(note)


@dataclass
class MemoryPurse:
    """Reserves with numbered slips and settles for nothing.

    Args:
        refused: Accounts for which no money is left.
    """

    refused: set[int] = field(default_factory=set)
    reserved: list[str] = field(default_factory=list)

    async def reserve(self, link: ChainLink, call: ModelCall) -> str | None:
        """Set money aside."""
        if link.account_id in self.refused:
            raise CapReached({"cap": "5.00", "resets": "00:00 (UTC)"})
        self.reserved.append(f"slip-{len(self.reserved) + 1}")
        return self.reserved[-1]

    def settle(
        self, link: ChainLink, usage: Usage, *, reservation: str | None, was_broken: bool = False
    ) -> Charge:
        """Return what the call cost."""
        return Charge(
            account_id=link.account_id,
            account_name=link.account_name,
            model=link.model,
            usage=usage,
            reservation=reservation,
            was_broken=was_broken,
        )


@dataclass
class MemoryCoolDowns:
    """Accounts by number: seconds to wait, None where switched off; unknown ones are free."""

    waits: dict[int, float | None] = field(default_factory=dict)
    failures: list[tuple[int, str]] = field(default_factory=list)
    successes: list[int] = field(default_factory=list)

    async def standing(self, account_ids: Sequence[int]) -> Mapping[int, float | None]:
        """Return how each account stands."""
        return {pk: self.waits.get(pk, 0.0) for pk in account_ids}

    async def failed(self, account_id: int, error: ProviderError) -> None:
        """Cool down, or switch off."""
        self.failures.append((account_id, error.code))
        self.waits[account_id] = None if isinstance(error, AccountRefused) else COOL_DOWN_S

    async def succeeded(self, account_id: int) -> None:
        """Clear the count."""
        self.successes.append(account_id)
        self.waits[account_id] = 0.0


@dataclass
class FakeTool:
    """A tool that gives a text, or what a coroutine makes of the call."""

    gives: str | Callable[[ToolCall], Awaitable[str]] = "done"
    safe_to_repeat: bool = False
    may_run_in_parallel: bool = False


@dataclass
class MemoryTools:
    """A tool box; ``ran`` is every call that really ran, in the order of the beginnings."""

    tools: dict[str, FakeTool] = field(default_factory=dict)
    ran: list[ToolCall] = field(default_factory=list)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is told."""
        schema: JsonObject = {"type": "object"}
        return tuple(ToolSpec(name, f"Does {name}.", schema) for name in self.tools)

    def is_safe_to_repeat(self, name: str) -> bool:
        """Return whether running it twice does no harm."""
        return name in self.tools and self.tools[name].safe_to_repeat

    def may_run_in_parallel(self, name: str) -> bool:
        """Return whether it may run beside others."""
        return name in self.tools and self.tools[name].may_run_in_parallel

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run one call."""
        if call.name not in self.tools:
            return ToolOutcome(f"There is no tool named {call.name!r}.", is_error=True)
        if call.malformed is not None:
            return ToolOutcome("The arguments were not a JSON object.", is_error=True)
        self.ran.append(call)
        gives = self.tools[call.name].gives
        return ToolOutcome(gives if isinstance(gives, str) else await gives(call))


@dataclass
class Stage:
    """One turn's surroundings, for an asker or a whole loop.

    A loop made after another one of the same stage is a later attempt of the same turn.
    """

    journal: MemoryJournal = field(default_factory=MemoryJournal)
    purse: MemoryPurse = field(default_factory=MemoryPurse)
    cool_downs: MemoryCoolDowns = field(default_factory=MemoryCoolDowns)
    stop: StopSwitch = field(default_factory=StopSwitch)
    limits: Limits = field(default_factory=Limits)
    slept: list[float] = field(default_factory=list)
    tools: MemoryTools = field(default_factory=MemoryTools)

    def asker(self, *chain: ChainLink | Provider) -> Asker:
        """Return what asks a chain; bare providers get accounts 1, 2, 3, …"""
        links = tuple(
            place if isinstance(place, ChainLink) else link(place, number)
            for number, place in enumerate(chain, start=1)
        )
        return Asker(
            chain=links,
            journal=self.journal,
            purse=self.purse,
            cool_downs=self.cool_downs,
            stop=self.stop,
            limits=self.limits,
            sleep=self._sleep,
        )

    def loop(
        self,
        *chain: ChainLink | Provider,
        messages: Sequence[Message] = (UserMessage("Hello"),),
        system: tuple[SystemPart, ...] = (),
        keeper: ContextKeeper | None = None,
        max_iterations: int = MAX_ITERATIONS,
    ) -> Loop:
        """Return a turn's loop over a chain."""
        return Loop(
            asker=self.asker(*chain),
            tools=self.tools,
            keeper=keeper or NewestExchanges(),
            system=system,
            messages=messages,
            max_iterations=max_iterations,
        )

    def unfinish(self, number: int) -> None:
        """Make a step look as if the process died in it."""
        self.journal.steps[number] = replace(
            self.journal.steps[number], is_finished=False, reply=None, outcome=None
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(seconds)
