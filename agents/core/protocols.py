"""The seams of the loop: what it needs from outside, each faked in tests."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Protocol, runtime_checkable

from agents.core.errors import ProviderError
from agents.core.events import ProviderEvent
from agents.core.messages import Message, Reply, ToolCall, Usage
from agents.core.tooling import ToolOutcome, ToolSpec


@dataclass(frozen=True, slots=True)
class SystemPart:
    """One named part of the system prompt.

    Args:
        is_stable: True where the text is the same from turn to turn; a provider with a prompt
            cache sets its mark behind the last stable part that stands at the front.
    """

    name: str
    text: str
    is_stable: bool = True


Effort = Literal["", "low", "medium", "high"]
# What a model may think on top of its longest answer: providers count both together.
THINKING_TOKENS: Final[Mapping[Effort, int]] = {
    "": 0,
    "low": 2_048,
    "medium": 8_192,
    "high": 16_384,
}


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model, in neutral form.

    Args:
        effort: How much the model may think before it answers; empty for not at all, or as much
            as it does anyway.
    """

    model: str
    system: tuple[SystemPart, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int
    effort: Effort = ""


class Provider(Protocol):
    """A model provider's adapter: neutral in, neutral out, its SDK's errors translated.

    Both methods raise only ``ProviderError`` and its kinds (and let cancellation through).
    """

    def stream(self, call: ModelCall) -> AsyncIterator[ProviderEvent]:
        """Ask, and yield events as they come; ``Done`` is the last."""
        ...

    async def complete(self, call: ModelCall) -> Reply:
        """Ask without streaming."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a provider says about one of its models; None where it does not say.

    Args:
        name: As it is asked for.
        window_tokens: What the server really gives it, not what it was trained with.
        is_window_assumed: True where that is the server's usual size, because it does not say
            with which one it will load the model.
    """

    name: str
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    supports_tools: bool | None = None
    supports_images: bool | None = None
    is_window_assumed: bool = False


@runtime_checkable
class ListsModels(Protocol):
    """A provider that can say which models it has."""

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return its models in its own order.

        Raises:
            ProviderError: It did not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars a million tokens; input of every kind costs the same where nothing else is known."""

    input_usd_mtok: Decimal
    output_usd_mtok: Decimal


FREE: Final = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One place of an agent's ordered chain: which account, which model, within which limits.

    Args:
        price: What the team says that it costs; None for the known list price.
        first_event_s: Seconds to the first event, where they differ from the platform's.
    """

    account_id: int
    account_name: str
    provider: Provider
    model: str
    window_tokens: int
    max_output_tokens: int
    effort: Effort = ""
    supports_tools: bool = True
    supports_images: bool = True
    price: Price | None = None
    first_event_s: float | None = None


class ToolBox(Protocol):
    """The tools that this agent was granted."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is told, in a fixed order."""
        ...

    def is_safe_to_repeat(self, name: str) -> bool:
        """Return whether running it twice does no harm; False for a tool that is not there."""
        ...

    def may_run_in_parallel(self, name: str) -> bool:
        """Return whether it may run beside others; False for a tool that is not there."""
        ...

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run one call within its time limit; mistakes of any kind become an outcome."""
        ...


@dataclass(frozen=True, slots=True)
class Charge:
    """What a model call cost, as the ledger will write it.

    Args:
        reservation: What ``Purse.reserve`` gave, to be released with it.
        was_broken: True where the call broke off and its figures are estimates.
        price: What the team says that it costs; None for the known list price.
    """

    account_id: int
    account_name: str
    model: str
    usage: Usage
    reservation: str | None = None
    was_broken: bool = False
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step that an earlier attempt left behind.

    Args:
        reply: Of a finished model call.
        outcome: Of a finished tool call.
    """

    number: int
    kind: Literal["model", "tool"]
    is_finished: bool
    reply: Reply | None = None
    outcome: ToolOutcome | None = None


class Journal(Protocol):
    """The turn's steps on disk; each method has committed when it returns.

    Raises:
        LeaseLost: Another worker owns the turn; nothing was written.
    """

    async def replay(self) -> Mapping[int, RecordedStep]:
        """Return what earlier attempts left, by step number."""
        ...

    async def model_started(self, number: int, link: ChainLink) -> None:
        """Note that a request is about to leave."""
        ...

    async def model_broken(self, number: int, charge: Charge | None, error: ProviderError) -> None:
        """Note that a request broke off, and what it cost if it cost anything."""
        ...

    async def model_finished(self, number: int, reply: Reply, charge: Charge) -> None:
        """Note the reply and its cost together."""
        ...

    async def tool_started(self, number: int, call: ToolCall) -> None:
        """Note that a tool is about to run."""
        ...

    async def tool_finished(self, number: int, call: ToolCall, outcome: ToolOutcome) -> None:
        """Note the whole result."""
        ...


class Purse(Protocol):
    """Money: asked before a call, told after it."""

    async def reserve(self, link: ChainLink, call: ModelCall) -> str | None:
        """Set money aside for a call; None where nothing limits it.

        Raises:
            CapReached: The call might cost more than may still be spent.
        """
        ...

    def settle(
        self, link: ChainLink, usage: Usage, *, reservation: str | None, was_broken: bool = False
    ) -> Charge:
        """Return what the call cost; the journal writes it with the step."""
        ...


class ContextKeeper(Protocol):
    """Keeps the conversation within the window."""

    def shrink(self, messages: Sequence[Message], *, window_tokens: int) -> tuple[Message, ...]:
        """Return what the model is shown: whole exchanges, newest last."""
        ...


class CoolDowns(Protocol):
    """Which accounts may be asked; shared by all workers."""

    async def standing(self, account_ids: Sequence[int]) -> Mapping[int, float | None]:
        """Return seconds to wait for each account (0 = free), None where it is switched off."""
        ...

    async def failed(self, account_id: int, error: ProviderError) -> None:
        """Count a failure: cool down, or switch off where the account itself is refused."""
        ...

    async def succeeded(self, account_id: int) -> None:
        """Clear the count."""
        ...


class StopSignal(Protocol):
    """A person's wish that the turn stop."""

    @property
    def is_set(self) -> bool:
        """Return whether it was asked."""
        ...

    async def wait(self) -> None:
        """Return once it is asked."""
        ...
