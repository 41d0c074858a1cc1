"""What evaluation reads, counts and fits; plain."""

import json
from pathlib import Path

import pytest

from qanot_site.evaluation import conversations, fitting
from qanot_site.evaluation.fitting import Example
from qanot_site.evaluation.measures import Scores


def sample(**given: object) -> dict[str, object]:
    said = [
        {"speaker": "Anna", "dia_id": "D1:1", "text": "I moved to Khiva"},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice", "blip_caption": "a city wall"},
    ]
    return {
        "sample_id": "conv-1",
        "conversation": {"session_1": said, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        "qa": [
            {"question": "Where?", "evidence": ["D1:01; D:1:2"], "category": 4},
            {"question": "Never?", "evidence": [], "category": 2},
            {"question": "A trap?", "evidence": ["D1:1"], "category": 5},
        ],
        **given,
    }


def test_malformed_evidence_is_read_as_meant(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([sample()]))
    (read,) = conversations.read(path)
    (question,) = read.questions
    assert question.evidence == {"D1:1", "D1:2"}
    assert read.turns[1].text == "Nice [shares a city wall]"
    assert read.turns[0].at.isoformat() == "2023-05-08T13:56:00+00:00"


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    for text in ('{"a": 1}', "[1]", "no json"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"format|Expecting"):
            conversations.read(path)


def test_recall_counts_each_evidence_once() -> None:
    scores = Scores()
    scores.add(["b", "a", "a", "c"], frozenset({"a", "z"}), words=12, ms=3)
    figures = scores.figures()
    assert (figures["recall@5"], figures["mrr"], figures["n"]) == (0.5, 0.5, 1)
    assert figures["ndcg@10"] == pytest.approx(0.3869, abs=1e-3)


def test_weights_follow_what_tells_the_evidence() -> None:
    examples = [
        Example([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [True, False, False]),
        Example([[0.0, 0.5], [1.0, 0.1]], [False, True]),
        Example([[0.0, 1.0]], [False]),
    ]
    weights = fitting.fit(examples, ["telling", "noise"])
    assert weights["telling"] > 1 > 0 > weights["noise"]
    assert weights == fitting.fit(examples, ["telling", "noise"])
