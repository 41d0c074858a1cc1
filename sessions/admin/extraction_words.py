"""Why a conversation was not read for facts, in words."""

from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

_WORDS: Final[dict[str, "_StrPromise"]] = {
    "switched_off": _("The agent does not look for facts."),
    "nothing_said": _("Too little was said."),
    "no_provider": _("No model could be asked."),
    "cap_reached": _("The day's money for it was spent."),
    "unreadable": _("The model's answer could not be read."),
    "crashed": _("Something broke."),
}


def of(reason: str) -> str:
    """Return a stored reason's words; any other one is a model that did not answer."""
    if not reason:
        return "–"
    return str(_WORDS.get(reason, _("The model did not answer.")))
