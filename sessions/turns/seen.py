"""The pictures of messages as models are shown them: those of the turn and of the one before.

Older ones are named in the history, not sent again: each costs as much as a page of text.
"""

from collections.abc import Iterable, Mapping, Sequence

import structlog

from agents.core.messages import Image
from agents.models import File
from agents.services import files, pictures
from sessions.marks import Said

_log = structlog.get_logger(__name__)

# An album has ten; whoever sends several albums at once is answered about the newest.
MOST: int = 10


def images_of(said: Sequence[Said]) -> list[tuple[Image, ...]]:
    """Return each message's pictures, in order; without any, no query is made."""
    wanted = [picture for each in said for picture in _pictures(each)][-MOST:]
    if not wanted:
        return [() for _ in said]
    found = _load(wanted)
    return [tuple(found[pk] for pk in _pictures(each) if pk in found) for each in said]


def _pictures(said: Said) -> Iterable[int]:
    return (each.picture for each in said.attached if each.picture is not None)


def _load(wanted: Iterable[int]) -> Mapping[int, Image]:
    found = {}
    for file in File.objects.filter(pk__in=wanted):
        try:
            data = files.read(file)
        except OSError as error:
            # The storage lost it: the model is told by name that there was one.
            _log.error("picture.lost", file=file.pk, error=type(error).__name__)
            continue
        width, height = pictures.size_of(data)
        found[file.pk] = Image(file.name, file.media_type, data, width, height)
    return found
