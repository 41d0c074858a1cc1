"""Why a file that came is not here, in words for people."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# By the codes that sessions/attachments.py keeps.
TROUBLES = {
    "too_large": _("It is larger than 20 MB."),
    "unreachable": _("It could not be fetched."),
    "no_hearing": _("No account for speech is set up, so nobody heard it."),
    "not_heard": _("It could not be turned into text."),
    "cap": _("Today's money is spent, so it was not heard."),
}


def trouble_of(error: str) -> str | None:
    """Return what is wrong with an attachment; None where nothing is.

    Args:
        error: As in ``Attachment.error``.
    """
    if not error:
        return None
    return str(TROUBLES.get(error) or gettext("It could not be fetched."))
