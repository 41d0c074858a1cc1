"""What people are told about an uploaded document, in their language."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from agents.services.files import MAX_BYTES
from memory.reading.kinds import ENDINGS

_WORDS: Final[Mapping[str, Promise]] = {
    "empty": _("The file is empty."),
    "too_many": _("There are as many documents as there may be. Remove some first."),
    "wrong_kind": _("What is in the file is not what its name says."),
    "broken": _("The file is damaged and cannot be read."),
    "hostile": _("The file is made in a way that is not safe to open."),
    "encrypted": _("The file is protected by a password. Upload it without one."),
    "no_text": _("There is no text in the file. Is it a scan? Then make its text readable first."),
    "too_long": _("The file has too much text. Split it into several files."),
    "too_big": _("The file needs too much memory to be read. Split it into several files."),
    "too_slow": _("Reading the file took too long. Split it, or save it in another way."),
    "lost": _("The stored file is gone. Upload it again."),
}


def of_error(code: str) -> str:
    """Return why a file was not taken or not read, and what to do, as a sentence."""
    if code == "too_large":
        most = {"most": MAX_BYTES // 2**20}
        return _now("The file is larger than %(most)s MB.") % most
    if code == "unknown_kind":
        kinds = {"kinds": ", ".join(ENDINGS)}
        return _now("Files of this kind cannot be read. These can: %(kinds)s.") % kinds
    return str(_WORDS.get(code, _WORDS["broken"]))
