"""The platform's own words in a conversation: codes with values become text in one's language."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, JsonValue, ValidationError

from sessions import tool_words

# What a command said (sessions.commands.live): words that were the person's language already.
COMMAND: Final = "command"

_TEXTS: Final[Mapping[str, Promise]] = {
    # The loop ended an answer (agents.core.events.NoticeCode).
    "repeated_call": _("I stopped: “%(tool)s” was called again and again in the same way."),
    "alternating_calls": _("I stopped: two tools were called in turn without getting further."),
    "repeated_result": _("I stopped: “%(tool)s” gave the same result again and again."),
    "iterations_exhausted": _(
        "I stopped after many steps without reaching an answer. Ask for a smaller part of it."
    ),
    "max_tokens": _("The answer was longer than the model may write. Ask for the rest."),
    "refusal": _("The model declined to answer this."),
    "other_stop": _("The model ended its answer early, without saying why."),
    # A model could not be asked (agents.core.errors.ErrorCode).
    "rate_limit": _("We have reached the model's limit. Wait a little and try again."),
    "overloaded": _(
        "The model's provider is busy or out of reach right now. Try again in a moment."
    ),
    "timeout": _("The model took too long to answer. Try again in a moment."),
    "stream_broken": _("The answer broke off on its way. Try again."),
    "auth": _(
        "The model's key is not accepted. Somebody who runs this agent can correct it and switch "
        "the account on again: Admin → Provider accounts → Clear."
    ),
    "billing": _(
        "The model's account has no credit left. Somebody who runs this agent can add some and "
        "switch the account on again: Admin → Provider accounts → Clear."
    ),
    "address": _(
        "The model's address leads to a private network, which is not allowed. Somebody who runs "
        "this platform can allow it: Admin → Provider accounts."
    ),
    "request_refused": _("The model did not accept this request. Try to put it differently."),
    "context_overflow": _("This conversation is too long for the model. Start a new one."),
    "no_provider": _(
        "No model can be asked right now: every account of this agent is switched off. Somebody "
        "who runs it sees why, and can switch one on, under Admin → Provider accounts."
    ),
    "cap_reached": _(
        "This agent has used up its spending cap of $%(cap)s for today; it starts anew at "
        "%(resets)s. Somebody who runs the agent can raise it: Admin → Agents."
    ),
    # What came cannot be read.
    "unheard": _("I cannot listen to voice messages here. Please write it down for me."),
    # The platform.
    "ended_by_operator": _(
        "Somebody who runs this agent ended the answer. Your message is kept; ask again if you "
        "still need it."
    ),
    "crashed": _(
        "Something broke each time this was tried, so it was given up. Your message is kept."
    ),
}


class Notice(BaseModel):
    """The stored form of a notice (``Turn.notice``)."""

    v: int
    code: str
    values: dict[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """A line under a message that says what was remembered of it.

    Args:
        fact: The sentence as it was noted.
        words: The line as it is shown.
        is_undone: Whether its person took it back.
    """

    fact: str
    words: str
    is_undone: bool


def text_of(stored: object) -> str:
    """Return a stored notice's words in the active language.

    A code or form that this release does not know becomes a general sentence: whoever reads it
    must not be left without an answer.
    """
    try:
        notice = Notice.model_validate(stored)
    except ValidationError:
        return _general()
    if notice.code == COMMAND and notice.values:
        return str(notice.values.get("text", "")) or _general()
    words = _TEXTS.get(notice.code)
    if words is None:
        return _general()
    return str(words) % _shown(notice.values or {})


def is_command(stored: object) -> bool:
    """Return whether a stored notice is what a command said."""
    return isinstance(stored, dict) and stored.get("code") == COMMAND


def noted(facts: Iterable[tuple[str, bool]], *, by_model: Container[str] = ()) -> tuple[Noted, ...]:
    """Return the lines under a message that say what was remembered of it.

    A sentence that was noted for two reasons is shown once.

    Args:
        facts: Each sentence with whether it was taken back.
        by_model: Which of them a model noted, after the answer.
    """
    return tuple(
        _noted(fact, is_undone, is_by_model=fact in by_model)
        for fact, is_undone in dict(facts).items()
    )


def _shown(values: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a notice's values as people read them: a tool by its label."""
    tool = values.get("tool")
    if isinstance(tool, str):
        values = values | {"tool": tool_words.label_of(tool)}
    return _Values(values)


def _noted(fact: str, is_undone: bool, *, is_by_model: bool) -> Noted:
    if is_undone:
        words = gettext("forgotten: %(fact)s")
    elif is_by_model:
        words = gettext("noted by the model: %(fact)s")
    else:
        words = gettext("noted: %(fact)s")
    return Noted(fact=fact, words=words % {"fact": fact}, is_undone=is_undone)


def _general() -> str:
    return gettext("Something went wrong. Try again.")


class _Values(dict[str, JsonValue]):
    """A value that is missing leaves a gap in the sentence rather than no sentence."""

    def __missing__(self, name: str) -> str:
        return "…"
