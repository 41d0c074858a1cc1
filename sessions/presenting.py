"""Showing a running turn on a channel that has no page of its own: the runner's side of it."""

from collections.abc import Callable
from functools import cache
from typing import Protocol, cast

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from agents.core.events import (
    AnswerRestarted,
    Finished,
    LoopEvent,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from agents.core.loop import Loop
from sessions.models import Turn

_log = structlog.get_logger(__name__)


class Presenter(Protocol):
    """Shows one attempt of a turn while it runs.

    Its methods note what happened and return at once; whatever takes time happens beside the
    turn. It never shows the whole answer: that is sent from its row.
    """

    def begin(self, text: str) -> None:
        """Begin, with the text that earlier attempts had settled."""
        ...

    def text(self, delta: str) -> None:
        """Add a piece of the answer."""
        ...

    def restart(self, kept: str) -> None:
        """Take back the text since ``kept``: it comes again."""
        ...

    def tool_started(self, call_id: str) -> None:
        """A tool runs: no text comes until it is finished."""
        ...

    def tool_finished(self, call_id: str) -> None:
        """A tool gave its result."""
        ...

    def end(self) -> None:
        """Show nothing more: the turn is over, or another worker goes on with it."""
        ...


class Shown:
    """A presenter that cannot harm its turn: what it raises is logged, once, and it is left."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter: Presenter | None = presenter

    def begin(self, text: str) -> None:
        """As ``Presenter.begin``."""
        self._do(lambda presenter: presenter.begin(text))

    def tell(self, event: LoopEvent, loop: Loop) -> None:
        """Pass an event of a loop on."""
        match event:
            case TextDelta(text):
                self._do(lambda presenter: presenter.text(text))
            case AnswerRestarted():
                self._do(lambda presenter: presenter.restart(loop.said))
            case ToolStarted(call_id, _):
                self._do(lambda presenter: presenter.tool_started(call_id))
            case ToolFinished(call_id, _, _, _):
                self._do(lambda presenter: presenter.tool_finished(call_id))
            case Finished():
                pass

    def end(self) -> None:
        """As ``Presenter.end``; a second call changes nothing."""
        self._do(lambda presenter: presenter.end())
        self._presenter = None

    def _do(self, what: Callable[[Presenter], None]) -> None:
        if self._presenter is None:
            return
        try:
            what(self._presenter)
        except Exception:
            _log.exception("presenter.failed")
            self._presenter = None


def presenter_of(turn: Turn) -> Shown | None:
    """Return what shows a turn; None on channels whose people watch its events themselves.

    Args:
        turn: With its session and the session's account loaded.
    """
    path = settings.QANOT_PRESENTERS.get(turn.session.account.channel)
    if path is None:
        return None
    try:
        return Shown(_maker(path)(turn))
    except Exception:
        _log.exception("presenter.failed", turn=turn.pk)
        return None


@cache
def _maker(path: str) -> Callable[[Turn], Presenter]:
    # A dotted path names anything; what it makes is its author's promise.
    return cast("Callable[[Turn], Presenter]", import_string(path))
