"""What each document of a persona is for, in the order in which a prompt shows them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

PERSONS: Final = "USER.md"
PLUGINS: Final = "_TOOLS.md"

# A plugin's texts stand behind TOOLS.md.
PURPOSES: Final[Mapping[str, "_StrPromise"]] = {
    "SOUL.md": _("Character: how the agent speaks, what it always does and never does."),
    "IDENTITY.md": _("Name, role and looks, in a few lines."),
    "SKILL.md": _("What it knows how to do, step by step."),
    "TOOLS.md": _("When to use which tool, and when not to."),
    "AGENTS.md": _("Rules of the house: how it works with people and with other agents."),
    PERSONS: _(
        "What it should know about one person. Each person has their own, and only they read it."
    ),
    "BOOTSTRAP.md": _("The first conversation: followed once, then put away."),
    "HEARTBEAT.md": _("What it looks after by itself from time to time. Not part of a chat."),
}
_PLUGIN: Final = _("How to use a plugin's tools.")


def of(name: str) -> "_StrPromise | str":
    """Return what a document is for; empty for a name that is none."""
    return PURPOSES.get(name) or (_PLUGIN if name.endswith(PLUGINS) else "")
