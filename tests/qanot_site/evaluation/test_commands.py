"""The two commands on tiny files: through the product's own path, in the test's database."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from django.core.management import call_command
from django.utils.module_loading import import_string

from qanot_site.bench import report
from qanot_site.evaluation import __main__ as evaluation
from tests.qanot_site.evaluation.test_evaluation import sample

pytestmark = pytest.mark.django_db

FACTS = (
    ("1", "en", "Dilshod is allergic to peanuts", "What food must Dilshod avoid?"),
    ("2", "en", "The office is on the third floor", "On which floor is the office?"),
    ("1", "ru", "У Дильшода аллергия на арахис", "Какой еды должен избегать Дильшод?"),
    ("2", "ru", "Офис находится на третьем этаже", "На каком этаже офис?"),
)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure here, as a process and a database of its own take many seconds."""

    def measure(program: str, given: Sequence[str]) -> None:
        what, path, *more = given[3:]
        assert more == ["--json", "-"]
        figures, shown = import_string(evaluation.MEASURES[what])(Path(path))
        report.deliver(figures, shown, json_to="-")

    monkeypatch.setattr("os.execv", measure)


def measured(command: str, path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    call_command(command, str(path), "--json", "-")
    return cast(dict[str, Any], json.loads(capsys.readouterr().out))


def test_evaluate_memory_prints_every_row_within_its_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([sample()]))
    figures = measured("evaluate_memory", path, capsys)
    assert set(figures["rows"]) == {"keyword", "meaning", "no_speaker", "all"}
    shares = ("recall@5", "recall@10", "recall@20", "mrr", "ndcg@10")
    for row in figures["rows"].values():
        assert {*shares, "words", "ms", "n"} <= set(row)
        assert all(0 <= row[share] <= 1 for share in shares)
        assert row["n"] == 1
        assert row["ms"] > 0
    assert figures["turns"] == 2
    assert figures["categories"]


def test_evaluate_recall_prints_every_pair_of_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.tsv"
    lines = ["pair\tlang\tfact\tquestion", *("\t".join(row) for row in FACTS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = measured("evaluate_recall", path, capsys)
    assert set(figures["pairs"]) == {"en>en", "en>ru", "ru>en", "ru>ru"}
    assert all(pair["n"] == 2 for pair in figures["pairs"].values())
    assert figures["min"] == min(pair["top1"] for pair in figures["pairs"].values()) == 1
