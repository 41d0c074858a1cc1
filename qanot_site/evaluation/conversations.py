"""Reads conversations with questions in LoCoMo's format (Maharana et al., ACL 2024); plain."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
# Some evidence is written as `D8:6; D9:17`, `D:11:26` or `D30:05`.
_EVIDENCE: Final = re.compile(r"D:?\s*(\d+)\s*:\s*0*(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")
_TIME: Final = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person said.

    Args:
        id: ``D1:3``: session and place in it.
        text: With what a picture shows, where one was sent.
    """

    id: str
    session: int
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that hold the evidence for its answer."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of two people, in sessions.

    Args:
        digest: Of what was said: the same conversation in another file has the same.
    """

    name: str
    digest: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read(path: Path) -> list[Conversation]:
    """Read a file.

    Questions that have no answer (category 5) or no evidence are left out.

    Raises:
        ValueError: It is in another format.
    """
    try:
        samples = json.loads(path.read_text(encoding="utf-8"))
        return [_conversation(sample) for sample in samples]
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise ValueError("it is not in LoCoMo's format") from error


# Any: JSON of somebody else, checked by use.
def _conversation(sample: dict[str, Any]) -> Conversation:
    turns = tuple(_turns(sample["conversation"]))
    said = "\n".join(f"{turn.id} {turn.speaker}: {turn.text}" for turn in turns)
    known = {turn.id for turn in turns}
    questions = []
    for asked in sample["qa"]:
        written = [pair for text in asked.get("evidence") or () for pair in _EVIDENCE.findall(text)]
        evidence = frozenset(f"D{session}:{place}" for session, place in written) & known
        category = CATEGORIES.get(int(asked["category"]))
        if evidence and category:
            questions.append(Question(str(asked["question"]), category, evidence))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return Conversation(str(sample["sample_id"]), digest, turns, tuple(questions))


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    sessions = sorted(
        int(match[1])
        for key, said in conversation.items()
        if (match := _SESSION.fullmatch(key)) and isinstance(said, list)
    )
    for session in sessions:
        begun = _time(conversation.get(f"session_{session}_date_time") or "")
        for place, turn in enumerate(conversation[f"session_{session}"]):
            text = turn.get("text") or ""
            if shown := turn.get("blip_caption"):
                text = f"{text} [shares {shown}]".strip()
            at = begun + timedelta(minutes=place)
            yield Turn(turn["dia_id"], session, turn["speaker"], text, at)


def _time(written: str) -> datetime:
    try:
        return datetime.strptime(written, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return datetime(2023, 1, 1, tzinfo=UTC)
