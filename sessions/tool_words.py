"""What people are shown in the place of a tool's name."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# Things, not deeds: they stand in a row after “2 steps:”.
_LABELS: Final[Mapping[str, Promise]] = {
    "current_time": _("date and time"),
    "daily_note": _("note of the day"),
    "finish_bootstrap": _("end of the introduction"),
    "memory": _("files of the memory"),
    "memory_append": _("lines for the memory"),
    "memory_edit": _("change in the memory"),
    "memory_recalled": _("what was recalled"),
    "memory_search": _("search in the memory"),
    "propose_document": _("proposed text"),
    "rag_forget": _("removal of a document"),
    "rag_index": _("document to keep"),
    "rag_list": _("list of the documents"),
    "rag_search": _("search in the documents"),
    "read_file": _("file that came"),
    "remember_fact": _("fact to remember"),
    "send_file": _("file to send"),
    "session_status": _("state of the conversation"),
    "update_user_document": _("notes about you"),
}


def labels() -> dict[str, str]:
    """Return the labels by the tools' names, in the active language."""
    return {name: str(label) for name, label in _LABELS.items()}


def label_of(name: str) -> str:
    """Return a tool's label; its name where no app offers it any more."""
    return str(_LABELS.get(name, name))
