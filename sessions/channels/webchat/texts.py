"""The words that the page's scripts show, in the active language."""

from django.utils.translation import gettext as _


def page_texts() -> dict[str, str]:
    """Return the words by the names that static/chat uses; `{…}` is filled in there."""
    return {
        "answered": _("{agent} answered: {text}"),
        "cancelMessage": _("Discard"),
        "copied": _("Copied"),
        "copy": _("Copy"),
        "copyAnswer": _("Copy answer"),
        "copyCode": _("Copy code"),
        "erased": _("This text was erased."),
        "newConversation": _("New conversation"),
        "noConversations": _("Your conversations will be listed here."),
        "notSent": _("Not sent: {reason}"),
        "offline": _("No connection. Your messages are kept and sent later."),
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
        "yesterday": _("Yesterday"),
        "you": _("You"),
    }
