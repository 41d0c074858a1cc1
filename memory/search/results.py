"""What a search answers with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Note(StrEnum):
    """What a search could not do, or decided; whoever shows it translates it."""

    # Words only: ...
    NO_EMBEDDER = "no_embedder"  # nobody embeds here
    OTHER_MODEL = "other_model"  # the index was made by another model: it is being made anew
    TOO_SLOW = "too_slow"  # the query's vector did not come in time
    EMBEDDER_FAILED = "embedder_failed"  # whoever embeds did not answer
    # Part of what is visible has no vector yet: its meaning is not searched.
    VECTORS_MISSING = "vectors_missing"
    # There are passages, and none of them has to do with the query.
    NOTHING_RELEVANT = "nothing_relevant"


@dataclass(frozen=True, slots=True)
class Found:
    """One passage that fits.

    Args:
        id: Its key in the index, as text.
        file: Where it stands in the files as they are exported for this viewer; may be empty.
        line: Counted from one; None where there is no such line.
        score: The sum of ``why``; only comparable inside one answer.
        why: What each feature gave. The keys are explained in `memory.search.weights`.
        source: What it is made of: ``turn:81``, ``message:12``.
        at: When it was said or noted.
        kind: ``exchange``, ``fact`` or ``document``.
        also: Ids of passages that say the same in other words, shown by this one.
        newer: Id of a later passage, shown further up, by which this one seems outdated.
        was_corrected: It is outdated for certain: a fact that it tells was corrected.
        relevance: How sure it is that it has to do with the query at all; 1 is just enough.
        fits: It has to do with the query whatever else was found; the others are shown to those
            who search, as the best of the rest.
        is_exact: It contains the query, or an identifier of it, as it stands.
    """

    id: str
    file: str
    line: int | None
    content: str
    score: float
    why: Mapping[str, float]
    source: str
    at: datetime
    kind: str
    author: str = ""
    also: tuple[str, ...] = ()
    newer: str = ""
    was_corrected: bool = False
    relevance: float = 0.0
    fits: bool = False
    is_exact: bool = False

    def as_json(self) -> dict[str, object]:
        """Return it as tools, REST and the command show it."""
        shown: dict[str, object] = {
            "id": self.id,
            "file": self.file,
            "line": self.line,
            "content": self.content,
            "score": self.score,
            "why": dict(self.why),
            "source": self.source,
            "at": self.at.isoformat(),
            "kind": self.kind,
        }
        if self.author:
            shown["author"] = self.author
        if self.also:
            shown["also"] = list(self.also)
        if self.newer:
            shown["newer"] = self.newer
        return shown


@dataclass(frozen=True, slots=True)
class Result:
    """What was found, the best first, and what is to be said of the search itself."""

    found: list[Found] = field(default_factory=list)
    notes: tuple[Note, ...] = ()
