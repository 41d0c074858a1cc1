"""The words that the page's scripts show, in the active language."""

from django.utils.translation import gettext as _


def page_texts() -> dict[str, str]:
    """Return the words by the names that static/chat uses; `{…}` is filled in there."""
    return {
        "answered": _("{agent} answered: {text}"),
        "archived": _("Archived"),
        "archivedDone": _("“{title}” is archived."),
        "cancelMessage": _("Discard"),
        "copied": _("Copied"),
        "copy": _("Copy"),
        "copyAnswer": _("Copy answer"),
        "copyCode": _("Copy code"),
        "editMessage": _("Edit"),
        "erased": _("This text was erased."),
        "found": _("Found"),
        "lastMonth": _("Last 30 days"),
        "lastWeek": _("Last 7 days"),
        "newConversation": _("New conversation"),
        "newStretch": _("A new conversation begins"),
        "newTitle": _("New title"),
        "noConversations": _("Your conversations will be listed here."),
        "notNow": _("No connection right now. Try again in a moment."),
        "notSent": _("Not sent: {reason}"),
        "nothingFound": _("No title has these words."),
        "offline": _("No connection. Your messages are kept and sent later."),
        "retry": _("Try again"),
        "rowMenu": _("Menu of “{title}”"),
        "running": _("An answer is being written"),
        "seconds": _("{seconds} s"),
        "sending": _("Sending…"),
        "stopped": _("Stopped"),
        "stopping": _("Stopping…"),
        "today": _("Today"),
        "toolFailed": _("failed"),
        "toolRunning": _("running"),
        "toolsUsedMany": _("{count} steps: {names}"),
        "toolsUsedOne": _("1 step: {names}"),
        "tooLong": _("{count} of {limit} characters: too long for one message."),
        "undo": _("Undo"),
        "undoNoted": _("Undo: forget “{fact}”"),
        "yesterday": _("Yesterday"),
        "you": _("You"),
    }
