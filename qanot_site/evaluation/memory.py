"""Measures whether search finds the turns that hold the evidence of questions (LoCoMo)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from django.utils import timezone
from rich.table import Table

from agents.core.viewer import Viewer
from memory.index import scopes, terms
from memory.models import Passage
from memory.search import background, search
from memory.search.asking import Asked
from memory.search.candidates import gather
from memory.search.searching import DEFAULT, Profile
from memory.search.weights import ALL, FITTED_ON, MEANING, OF_MEANING, PLAIN, SCALED, WORDS, Weights
from qanot_site.bench import report
from qanot_site.evaluation import conversations, fitting
from qanot_site.evaluation.conversations import Conversation, Question
from qanot_site.evaluation.fitting import Example
from qanot_site.evaluation.measures import Scores
from qanot_site.evaluation.scratch import Said, Scratch, index_all

DEPTH: Final = 20
FEATURES: Final = (*SCALED, *PLAIN)
WORD_FEATURES: Final = tuple(name for name in FEATURES if name not in OF_MEANING)
ROWS: Final = ("keyword", "meaning", "no_speaker", "all")


@dataclass(frozen=True, slots=True)
class Stored:
    """A conversation with who may read it."""

    conversation: Conversation
    viewer: Viewer

    @property
    def is_fitted_on(self) -> bool:
        """Return whether the frozen weights have seen its questions."""
        return self.conversation.digest in FITTED_ON


def measure(path: Path, *, is_fitting: bool = False) -> tuple[report.Figures, Table]:
    """Store a file's conversations and ask their questions.

    Args:
        is_fitting: Fit weights on all of the file and measure these, each conversation by weights
            of the others.

    Raises:
        ValueError: The file is in another format.
    """
    stored = _store(conversations.read(path))
    seen = stored if is_fitting else [one for one in stored if one.is_fitted_on]
    held_out = _held_out(seen)
    frozen = (ALL, WORDS)
    if is_fitting:
        frozen = _fitted(seen)
    scores = _ask(stored, held_out, frozen)
    figures = _figures(scores, stored, seen)
    if is_fitting:
        figures["weights"] = {"ALL": dict(frozen[0]), "WORDS": dict(frozen[1])}
        figures["fitted_on"] = sorted(one.conversation.digest for one in stored)
    return figures, _table(figures)


def _store(read: Sequence[Conversation]) -> list[Stored]:
    scratch = Scratch()
    stored = []
    for conversation in read:
        viewer = scratch.group()
        said = [
            Said(
                id=f"{conversation.name}:{turn.id}",
                text=turn.text,
                thread=f"{conversation.name}:{turn.session}",
                at=turn.at,
                speaker=turn.speaker,
            )
            for turn in conversation.turns
        ]
        scratch.tell(viewer, said, Passage.Kind.EXCHANGE)
        stored.append(Stored(conversation, viewer))
    index_all("turns")
    return stored


def _held_out(seen: Sequence[Stored]) -> dict[str, tuple[Weights, Weights]]:
    """Return for each conversation the weights that the other ones give."""
    if len(seen) < 2:
        return {}
    examples = _all_examples(seen)
    return {
        one.conversation.digest: _fit(
            [examples[other.conversation.digest] for other in seen if other is not one]
        )
        for one in seen
    }


def _fitted(seen: Sequence[Stored]) -> tuple[Weights, Weights]:
    return _fit(list(_all_examples(seen).values()))


Examples = tuple[list[Example], list[Example]]


def _fit(examples: Sequence[Examples]) -> tuple[Weights, Weights]:
    with_meaning = [example for given, _ in examples for example in given]
    words_only = [example for _, given in examples for example in given]
    words = dict(fitting.fit(words_only, WORD_FEATURES))
    return fitting.fit(with_meaning, FEATURES), words


_examples: dict[str, Examples] = {}


def _all_examples(seen: Sequence[Stored]) -> dict[str, Examples]:
    """Return each conversation's candidates, with vectors and without."""
    missing = [one for one in seen if one.conversation.digest not in _examples]
    count_of = sum(len(one.conversation.questions) for one in missing)
    if missing:
        with report.bar("Reading candidates for the weights", count_of) as count:
            for one in missing:
                pairs = []
                for question in one.conversation.questions:
                    pairs.append((_example(one, question, True), _example(one, question, False)))
                    count()
                _examples[one.conversation.digest] = (
                    [pair[0] for pair in pairs],
                    [pair[1] for pair in pairs],
                )
    return {one.conversation.digest: _examples[one.conversation.digest] for one in seen}


def _example(stored: Stored, question: Question, has_meaning: bool) -> Example:
    visible = scopes.visible(stored.viewer)
    sought = terms.of_query(question.text)
    vector = None
    if has_meaning and visible.space:
        asked = Asked(visible, sought.text, team_id=stored.viewer.team_id, deadline_s=None)
        vector, _ = asked.vector()
        usual = background.of(visible.space.identity)
        if vector is not None and usual is not None:
            vector, _ = usual.about(vector)
    pool = gather(visible, sought, vector, ALL if has_meaning else WORDS)
    names = FEATURES if has_meaning else WORD_FEATURES
    rows, marks = [], []
    for candidate in pool.candidates:
        rows.append([candidate.features.get(name, 0.0) for name in names])
        source = pool.rows[candidate.id].source
        marks.append(source.split(":", 1)[1] in question.evidence)
    return Example(rows, marks)


def _ask(
    stored: Sequence[Stored],
    held_out: Mapping[str, tuple[Weights, Weights]],
    frozen: tuple[Weights, Weights],
) -> dict[tuple[str, str], Scores]:
    """Ask every question in every way; return the scores by row and by kind or category."""
    scores: dict[tuple[str, str], Scores] = {}
    total = sum(len(one.conversation.questions) for one in stored)
    with report.bar("Asking questions", total) as count:
        for one in stored:
            weights = held_out.get(one.conversation.digest)
            for question in one.conversation.questions:
                for row, profile in _profiles(*(weights or frozen)).items():
                    kinds = ["" if weights else "unseen"]
                    if row == "all":
                        kinds.append(question.category)
                    _ask_one(
                        one,
                        question,
                        profile,
                        [
                            scores.setdefault((row, kind), Scores())
                            for kind in ["figure", *kinds]
                            if kind
                        ],
                    )
                if weights:
                    for row, profile in _profiles(*frozen).items():
                        if row != "meaning":
                            known = scores.setdefault((row, "in_sample"), Scores())
                            _ask_one(one, question, profile, [known])
                count()
    return scores


def _profiles(with_meaning: Weights, words_only: Weights) -> dict[str, Profile]:
    full = replace(DEFAULT, with_meaning=with_meaning, words_only=words_only)
    unnamed = {name: weight for name, weight in with_meaning.items() if name != "author"}
    return {
        "keyword": replace(full, asks_embedder=False),
        "meaning": replace(full, with_meaning=MEANING),
        "no_speaker": replace(full, with_meaning=unnamed),
        "all": full,
    }


def _ask_one(stored: Stored, question: Question, profile: Profile, to: Sequence[Scores]) -> None:
    began = time.perf_counter()
    result = search(stored.viewer, question.text, now=timezone.now(), limit=DEPTH, profile=profile)
    ms = (time.perf_counter() - began) * 1000
    ranked = [hit.source.split(":", 1)[1] for hit in result.found]
    words = sum(len(hit.content.split()) for hit in result.found[:10])
    for scores in to:
        scores.add(ranked, question.evidence, words=words, ms=ms)


def _figures(
    scores: Mapping[tuple[str, str], Scores], stored: Sequence[Stored], seen: Sequence[Stored]
) -> report.Figures:
    rows: dict[str, dict[str, object]] = {}
    for row in ROWS:
        rows[row] = dict(scores[row, "figure"].figures())
        for kind in ("in_sample", "unseen"):
            if seen and (row, kind) in scores:
                rows[row][kind] = scores[row, kind].figures()
    return {
        "rows": rows,
        "categories": {
            category: scores["all", category].figures()
            for category in conversations.CATEGORIES.values()
            if ("all", category) in scores
        },
        "conversations": len(stored),
        "turns": sum(len(one.conversation.turns) for one in stored),
        "weights_fitted_on": [one.conversation.name for one in seen],
    }


def _table(figures: report.Figures) -> Table:
    rows = figures["rows"]
    assert isinstance(rows, dict)  # noqa: S101 — ours, of a line above
    heads = ("", "recall@5", "recall@10", "recall@20", "mrr", "ndcg@10", "words", "ms", "n")
    lines = []
    for row, values in rows.items():
        lines.append((row, *(values[head] for head in heads[1:])))
        for kind in ("in_sample", "unseen"):
            if kind in values:
                lines.append((f"  {kind}", *(values[kind][head] for head in heads[1:])))
    return report.table("Evidence found, by turn", heads, lines)
