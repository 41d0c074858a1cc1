"""Commands that change the conversation: /new, /reset, /stop."""

from typing import Final

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from sessions import resets
from sessions.commands.registry import Command, CommandContext, Reply
from sessions.models import Turn
from sessions.turns import stopping


def _new(context: CommandContext) -> Reply:
    return _begin(context, "command:new")


def _reset(context: CommandContext) -> Reply:
    return _begin(context, "command:reset")


def _begin(context: CommandContext, opened_by: str) -> Reply:
    is_busy = Turn.objects.unfinished().filter(session=context.session).exists()
    resets.open_generation(context.session, opened_by)
    text = gettext(
        "A new conversation begins here. I no longer see what was said above, but I still know "
        "what I remembered."
    )
    if is_busy:
        text += "\n" + gettext("The answer that is being written still comes.")
    return Reply(text, begins_anew=True)


def _stop(context: CommandContext) -> Reply:
    turns = list(Turn.objects.unfinished().filter(session=context.session).order_by("id"))
    for turn in turns:
        stopping.request(turn)
    if not turns:
        return Reply(gettext("There is nothing to stop: no answer is being written."))
    text = ngettext("Stopped: %(n)s answer.", "Stopped: %(n)s answers.", len(turns))
    return Reply(text % {"n": len(turns)})


COMMANDS: Final = (
    Command("new", _("Begin a new conversation"), _new),
    Command("reset", _("Begin anew, as /new"), _reset),
    Command("stop", _("Stop the answer that is being written"), _stop),
)
