"""What people are told about a search, in their language."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_NOTES: Final[Mapping[str, Promise]] = {
    "no_embedder": _("Searched by words only: nothing is set up to search by meaning."),
    "other_model": _("Searched by words only: the index is being made anew for another model."),
    "too_slow": _("Searched by words only: the query's meaning was not known in time."),
    "embedder_failed": _("Searched by words only: the embedding service did not answer."),
    "vectors_missing": _("A part of the texts is searched by words only, until it is indexed."),
    "nothing_relevant": _("Nothing in memory has to do with it."),
}


def of_note(code: str) -> str:
    """Return a search's remark as a sentence."""
    return str(_NOTES.get(code, _("The search did not work this time.")))
