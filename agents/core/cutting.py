"""Shortening texts for the model: the head and the tail stay, the middle goes."""

from dataclasses import dataclass
from typing import Final

HEAD_SHARE: Final = 0.70
TAIL_SHARE: Final = 0.20
TOOL_RESULT_CHARACTERS: Final = 8_000


@dataclass(frozen=True, slots=True)
class Cut:
    """A text as the model sees it, and how many characters of the whole it lacks."""

    text: str
    removed: int


def cut_middle(text: str, limit: int) -> Cut:
    """Return a text of at most ``limit`` characters: 70 % head, 20 % tail, a marker between.

    A text within the limit stays as it is. Where the limit has no room for a marker, only the
    head stays.
    """
    if len(text) <= limit:
        return Cut(text, 0)
    head, middle, tail = split_middle(text, limit)
    removed = len(middle)
    marker = f"\n\n[… {removed} characters removed …]\n\n"
    if len(head) + len(marker) + len(tail) > limit:
        return Cut(text[:limit], len(text) - limit)
    return Cut(f"{head}{marker}{tail}", removed)


def split_middle(text: str, limit: int) -> tuple[str, str, str]:
    """Return the head that stays, the middle that goes and the tail that stays.

    For a text beyond the limit, and a limit with room for a marker.
    """
    head, tail = int(limit * HEAD_SHARE), int(limit * TAIL_SHARE)
    return text[:head], text[head : len(text) - tail], text[len(text) - tail :]
