"""The loop: ask the model, run the tools it calls, ask again, until it answers.

Everything outside comes through the seams in ``agents.core.protocols``. Steps are numbered in
the order in which they begin; a later attempt of the same turn walks the same numbers, takes
what an earlier one finished from the journal, and asks only for what is missing.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from agents.core.asking import Asker, Question
from agents.core.cutting import TOOL_RESULT_CHARACTERS, cut_middle
from agents.core.errors import CapReached, ErrorCode, NoProvider, ProviderError, Stopped
from agents.core.events import (
    AnswerRestarted,
    Done,
    Finished,
    LoopEvent,
    NoticeCode,
    Outcome,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agents.core.guards import Circle, LoopGuard
from agents.core.messages import (
    JsonObject,
    Message,
    Reply,
    StopReason,
    ToolCall,
    ToolResult,
)
from agents.core.protocols import ContextKeeper, RecordedStep, SystemPart, ToolBox
from agents.core.pump import within
from agents.core.repair import INTERRUPTED, repair_history
from agents.core.tooling import ToolOutcome

MAX_ITERATIONS: Final = 25
# A tool box keeps its own time limits; this one only ends a tool that ignores them.
TOOL_BACKSTOP_S: Final = 600.0
# Between what the model says before a tool and what it says after it.
PARAGRAPH: Final = "\n\n"

_OTHER_STOPS: Mapping[StopReason, NoticeCode] = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "other": "other_stop",
}


@dataclass(slots=True)
class Loop:
    """One turn's loop; ``run`` it once."""

    asker: Asker
    tools: ToolBox
    keeper: ContextKeeper
    system: tuple[SystemPart, ...]
    messages: Sequence[Message]
    max_iterations: int = MAX_ITERATIONS
    _guard: LoopGuard = field(default_factory=LoopGuard)
    _step: int = 0
    _text: list[str] = field(default_factory=list)
    _kept: int = 0
    _recorded: Mapping[int, RecordedStep] = field(default_factory=dict)

    async def run(self) -> AsyncGenerator[LoopEvent]:
        """Yield what happens; ``Finished`` is the last. Only ``LeaseLost`` is raised on purpose."""
        try:
            self._recorded = await self.asker.journal.replay()
            async for event in self._iterate():
                yield event
        except Stopped:
            yield self._finished("stopped")
        except CapReached as error:
            yield self._finished("failed", error.code, error.values)
        except (ProviderError, NoProvider) as error:
            yield self._finished("failed", error.code)

    async def _iterate(self) -> AsyncGenerator[LoopEvent]:
        messages = list(self.messages)
        for _ in range(self.max_iterations):
            reply: Reply | None = None
            async for event in self._ask(messages):
                if isinstance(event, Done):
                    reply = event.reply
                else:
                    yield event
            if reply is None:
                raise AssertionError("a call ends with Done or raises")
            messages.append(reply.message)
            # A reply that was cut off or refused may have lost half of a call's arguments.
            if reply.stop_reason in _OTHER_STOPS or not reply.message.tool_calls:
                yield self._end_of(reply)
                return
            circle: tuple[Circle, str] | None = None
            async for happening in self._run_tools(reply.message.tool_calls):
                if isinstance(happening, _Ran):
                    messages.append(happening.result)
                    circle = circle or happening.circle
                else:
                    yield happening
            if circle is not None:
                yield self._finished("ended", circle[0], {"tool": circle[1]})
                return
        yield self._finished("ended", "iterations_exhausted", {"limit": self.max_iterations})

    # --- asking ----------------------------------------------------------------------------

    async def _ask(self, messages: list[Message]) -> AsyncGenerator[LoopEvent | Done]:
        number = self._next_step()
        recorded = self._recorded.get(number)
        if recorded is not None and recorded.reply is not None:
            if said := recorded.reply.message.text:
                self._text.append(PARAGRAPH + said if self._text else said)
                self._kept = len(self._text)
            yield Done(recorded.reply)
            return
        self._check_stop()
        window = min((link.window_tokens for link in self.asker.chain), default=0)
        shown = self.keeper.shrink(repair_history(messages), window_tokens=window)
        question = Question(self.system, shown, self.tools.specs)
        kept = self._kept = len(self._text)
        async for event in self.asker.ask(number, question):
            if isinstance(event, TextDelta):
                if kept and len(self._text) == kept:
                    event = TextDelta(PARAGRAPH + event.text)
                self._text.append(event.text)
            elif isinstance(event, AnswerRestarted):
                del self._text[kept:]
            elif isinstance(event, Done):
                self._kept = len(self._text)
            yield event

    def _end_of(self, reply: Reply) -> Finished:
        notice = _OTHER_STOPS.get(reply.stop_reason)
        if notice is None:
            return Finished(Outcome("answered", self.said))
        return self._finished("ended", notice)

    # --- tools -----------------------------------------------------------------------------

    async def _run_tools(
        self, calls: tuple[ToolCall, ...]
    ) -> "AsyncGenerator[ToolStarted | ToolFinished | _Ran]":
        """Run a reply's calls: those that allow it beside each other, the others one by one."""
        numbered = [(self._next_step(), call) for call in calls]
        for batch in self._batches(numbered):
            if not all(self._is_recorded(number) for number, _ in batch):
                self._check_stop()
            for number, call in batch:
                if not self._is_recorded(number):
                    yield ToolStarted(call.id, call.name)
            # All of them end before anything is raised: what one notes, the turn's end must find.
            ends = await asyncio.gather(
                *(self._timed(*item) for item in batch), return_exceptions=True
            )
            for (number, call), end in zip(batch, ends, strict=True):
                if isinstance(end, BaseException):
                    raise end
                outcome, seconds = end
                if not self._is_recorded(number):
                    yield ToolFinished(call.id, call.name, outcome.is_error, seconds)
                yield self._ran(call, outcome)

    def _batches(self, numbered: list[tuple[int, ToolCall]]) -> list[list[tuple[int, ToolCall]]]:
        batches: list[list[tuple[int, ToolCall]]] = []
        was_parallel = False
        for number, call in numbered:
            is_parallel = self.tools.may_run_in_parallel(call.name)
            if is_parallel and was_parallel:
                batches[-1].append((number, call))
            else:
                batches.append([(number, call)])
            was_parallel = is_parallel
        return batches

    async def _timed(self, number: int, call: ToolCall) -> tuple[ToolOutcome, float]:
        clock = asyncio.get_running_loop().time
        begun_s = clock()
        outcome = await self._run_one(number, call)
        return outcome, clock() - begun_s

    async def _run_one(self, number: int, call: ToolCall) -> ToolOutcome:
        recorded = self._recorded.get(number)
        if recorded is not None and recorded.outcome is not None:
            return recorded.outcome
        journal = self.asker.journal
        if recorded is not None and not self.tools.is_safe_to_repeat(call.name):
            # It began in an attempt that died, and nobody knows how far it came.
            outcome = ToolOutcome(INTERRUPTED, is_error=True)
        else:
            await journal.tool_started(number, call)
            try:
                outcome = await within(
                    self.tools.run(call), timeout_s=TOOL_BACKSTOP_S, stop=self.asker.stop
                )
            except TimeoutError:
                outcome = ToolOutcome(INTERRUPTED, is_error=True)
            except Stopped:
                await journal.tool_finished(number, call, ToolOutcome(INTERRUPTED, is_error=True))
                raise
        await journal.tool_finished(number, call, outcome)
        return outcome

    def _ran(self, call: ToolCall, outcome: ToolOutcome) -> "_Ran":
        shown = cut_middle(outcome.text, TOOL_RESULT_CHARACTERS).text
        circle = self._guard.saw(call, outcome.text)
        return _Ran(
            ToolResult(call.id, call.name, shown, outcome.is_error),
            (circle, call.name) if circle else None,
        )

    # --- small things ----------------------------------------------------------------------

    def _next_step(self) -> int:
        self._step += 1
        return self._step

    def _is_recorded(self, number: int) -> bool:
        recorded = self._recorded.get(number)
        return recorded is not None and recorded.is_finished

    def _check_stop(self) -> None:
        if self.asker.stop.is_set:
            raise Stopped

    @property
    def said(self) -> str:
        """Return the answer's text so far."""
        return "".join(self._text)

    def _finished(
        self,
        kind: Literal["stopped", "ended", "failed"],
        code: NoticeCode | ErrorCode | None = None,
        values: JsonObject | None = None,
    ) -> Finished:
        partial = "".join(self._text[self._kept :]).strip()
        return Finished(Outcome(kind, self.said, code, values, partial))


@dataclass(frozen=True, slots=True)
class _Ran:
    """One finished tool call: what the model is shown, and the circle that it closed."""

    result: ToolResult
    circle: tuple[Circle, str] | None
