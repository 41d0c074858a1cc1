"""One model call through the chain: who is asked, in which order, and when asking ends.

- Accounts that are free are asked in the chain's order; if all are cooling down, the one that is
  free soonest. A switched-off account is never asked.
- A transient failure goes to the next account at once; the last one is asked again after 2 s and
  4 s, or after what the provider said, at most 30 s.
- A stream that breaks before any text left is asked once more without streaming; one that breaks
  after text left is begun once more on the same account, and watchers are told to drop the
  partial answer. No other account repeats text.
- A refused account is switched off, a refused request cools nothing down.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agents.core.errors import (
    AccountRefused,
    CallStopped,
    CapReached,
    NoProvider,
    ProviderError,
    ProviderTimeout,
    RequestRefused,
    Stopped,
    StreamBroken,
)
from agents.core.events import AnswerRestarted, Done, TextDelta
from agents.core.messages import Message, Reply, Usage
from agents.core.protocols import (
    ChainLink,
    Charge,
    CoolDowns,
    Journal,
    ModelCall,
    Purse,
    StopSignal,
    SystemPart,
)
from agents.core.pump import Limits, check_reply, pump, within
from agents.core.repair import repair_reply, without_images, without_tools
from agents.core.tokens import estimate, estimate_message, estimate_messages
from agents.core.tooling import ToolSpec

LONGEST_WAIT_S: Final = 30.0
RETRIES_OF_THE_LAST: Final = 2

AskEvent = TextDelta | AnswerRestarted | Done
_Source = Callable[[ModelCall], AsyncGenerator[AskEvent]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, whoever answers."""

    system: tuple[SystemPart, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]

    def to(self, link: ChainLink) -> ModelCall:
        """Return the request to one link of the chain."""
        has_tools = link.supports_tools
        messages = self.messages if has_tools else without_tools(self.messages)
        return ModelCall(
            model=link.model,
            system=self.system,
            messages=messages if link.supports_images else without_images(messages),
            tools=self.tools if has_tools else (),
            max_output_tokens=link.max_output_tokens,
            effort=link.effort,
        )

    def estimated_tokens(self) -> int:
        """Return about how many tokens the request has."""
        told = [part.text for part in self.system]
        told += [f"{t.name} {t.description} {json.dumps(t.parameters)}" for t in self.tools]
        return estimate_messages(self.messages) + sum(map(estimate, told))


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the chain.

    Args:
        retry_base_s: Seconds before the first retry of the last account; doubled for the next.
        sleep: Replaced in tests by one that only notes how long.
    """

    chain: Sequence[ChainLink]
    journal: Journal
    purse: Purse
    cool_downs: CoolDowns
    stop: StopSignal
    limits: Limits = field(default_factory=Limits)
    retry_base_s: float = 2.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def ask(self, number: int, question: Question) -> AsyncGenerator[AskEvent]:
        """Yield the answer's text as it comes; ``Done``, with the whole reply, is the last.

        Args:
            number: The turn's step under which the journal notes the call.

        Raises:
            NoProvider: No account may be asked.
            CapReached: None may be asked with the money that is left.
            ProviderError: The last one asked failed for good.
            Stopped: A person asked for it.
        """
        links = await self._askable()
        failure: ProviderError | CapReached = ProviderError("nobody was asked")
        while links:
            link = links.pop(0)
            attempt = _Attempt(self, number, question, link, is_last=not links)
            try:
                async for event in attempt.events():
                    yield event
            except (RequestRefused, CapReached) as error:
                # A cheaper or a free model may still be asked.
                failure = error
            except ProviderError as error:
                failure = error
                await self.cool_downs.failed(link.account_id, error)
                if isinstance(error, AccountRefused):
                    links = [other for other in links if other.account_id != link.account_id]
            else:
                await self.cool_downs.succeeded(link.account_id)
                return
            if attempt.has_text_left:
                break
        raise failure

    async def _askable(self) -> list[ChainLink]:
        ids = list(dict.fromkeys(link.account_id for link in self.chain))
        waits = await self.cool_downs.standing(ids)
        on = [
            (wait, link) for link in self.chain if (wait := waits.get(link.account_id)) is not None
        ]
        free = [link for wait, link in on if wait <= 0]
        if free:
            return free
        if on:
            return [min(on, key=lambda pair: pair[0])[1]]
        raise NoProvider("no account of the chain may be asked")


class _Attempt:
    """Asking one account, as often as the rules allow."""

    def __init__(
        self, asker: Asker, number: int, question: Question, link: ChainLink, *, is_last: bool
    ) -> None:
        self._asker = asker
        self._number = number
        self._question = question
        self._link = link
        self._waits = [
            asker.retry_base_s * 2**n for n in range(RETRIES_OF_THE_LAST if is_last else 0)
        ]
        self._has_restarted = False
        self._has_asked_plainly = False
        self._text: list[str] = []
        self._is_metered = False
        self.has_text_left = False

    async def events(self) -> AsyncGenerator[AskEvent]:
        """Yield what this account answers; raises what it failed with in the end."""
        source: _Source = self._stream
        while True:
            if self._asker.stop.is_set:
                raise Stopped
            self._text.clear()
            self._is_metered = False
            call = self._question.to(self._link)
            reservation = await self._asker.purse.reserve(self._link, call)
            await self._asker.journal.model_started(self._number, self._link)
            try:
                async for event in source(call):
                    if isinstance(event, Done):
                        event = Done(await self._finish(event.reply, reservation))
                    yield event
            except Stopped:
                await self._broken(
                    CallStopped("a person stopped the turn"), reservation, may_cost=True
                )
                raise
            except ProviderError as error:
                await self._broken(error, reservation, may_cost=self._may_cost(error))
                if self._may_restart(error):
                    yield AnswerRestarted()
                    source = self._stream
                else:
                    source = await self._next_source(error)
            else:
                return

    async def _stream(self, call: ModelCall) -> AsyncGenerator[AskEvent]:
        stream = self._link.provider.stream(call)
        async for event in pump(stream, limits=self._limits(), stop=self._asker.stop):
            self._is_metered = True
            if isinstance(event, TextDelta):
                # Blank text shows nothing, so another answer behind it repeats nothing.
                self.has_text_left = self.has_text_left or bool(event.text.strip())
                self._text.append(event.text)
                yield event
            elif isinstance(event, Done):
                yield event

    def _limits(self) -> Limits:
        own_s = self._link.first_event_s
        return replace(self._asker.limits, first_event_s=own_s) if own_s else self._asker.limits

    async def _plain(self, call: ModelCall) -> AsyncGenerator[AskEvent]:
        try:
            reply = await within(
                self._link.provider.complete(call),
                timeout_s=self._asker.limits.call_s,
                stop=self._asker.stop,
            )
        except TimeoutError as exc:
            raise ProviderTimeout("the plain call took too long") from exc
        check_reply(reply)
        if reply.message.text:
            self.has_text_left = True
            yield TextDelta(reply.message.text)
        yield Done(reply)

    def _may_restart(self, error: ProviderError) -> bool:
        if not (self.has_text_left and error.retryable) or self._has_restarted:
            return False
        self._has_restarted = True
        return True

    async def _next_source(self, error: ProviderError) -> _Source:
        """Return how to ask this account again, or raise where that is over."""
        if self.has_text_left or not error.retryable:
            raise error
        if isinstance(error, StreamBroken) and not self._has_asked_plainly:
            self._has_asked_plainly = True
            return self._plain
        if not self._waits:
            raise error
        wait_s = min(max(self._waits.pop(0), error.retry_after_s or 0), LONGEST_WAIT_S)
        await self._pause(wait_s)
        return self._stream

    async def _pause(self, wait_s: float) -> None:
        async def pause() -> None:
            await self._asker.sleep(wait_s)

        await within(pause(), timeout_s=wait_s + LONGEST_WAIT_S, stop=self._asker.stop)

    async def _finish(self, reply: Reply, reservation: str | None) -> Reply:
        reply = repair_reply(reply)
        usage = reply.usage or self._estimated_usage(estimate_message(reply.message))
        charge = self._asker.purse.settle(self._link, usage, reservation=reservation)
        await self._asker.journal.model_finished(self._number, reply, charge)
        return reply

    def _may_cost(self, error: ProviderError) -> bool:
        # A request that was refused outright costs nothing; one that began to answer, or that
        # was left unanswered, may have cost its input.
        return self._is_metered or isinstance(error, (StreamBroken, ProviderTimeout))

    async def _broken(
        self, error: ProviderError, reservation: str | None, *, may_cost: bool
    ) -> None:
        charge: Charge | None = None
        if may_cost:
            usage = self._estimated_usage(estimate("".join(self._text)))
            charge = self._asker.purse.settle(
                self._link, usage, reservation=reservation, was_broken=True
            )
        await self._asker.journal.model_broken(self._number, charge, error)

    def _estimated_usage(self, output_tokens: int) -> Usage:
        return Usage(
            input_tokens=self._question.estimated_tokens(),
            output_tokens=output_tokens,
            is_estimate=True,
        )
