"""Reasoning inside an answer: where it is, it is not shown; what only looks like it, stays."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.providers.thoughts import ThoughtFilter
from tests.agents.core.transcripts import patient

SHOWN = {
    "": "",
    "Hello.": "Hello.",
    "  Hello.": "  Hello.",
    "\n\n": "\n\n",
    "<think>Hm.</think>Hello.": "Hello.",
    "<think>\nHm.\n</think>\n\nHello.": "Hello.",
    "\n<THINK>Hm.</Think> Hello.": "Hello.",
    "<thinking>Hm.</thinking>Hello.": "Hello.",
    "<thought>Hm.</thought>Hello.": "Hello.",
    "<think></think>Hello.": "Hello.",
    "<think>One.</think>\n<think>Two.</think>\nHello.": "Hello.",
    "<think>a < b </thin </thinking> c</think>Hello.": "Hello.",
    "<think>Hm.": "",
    "<think>Hm.</thin": "",
    "<think>Hm.</think>\n\n": "",
    "<think>Hm.</think>Write <think>: it is a tag.": "Write <think>: it is a tag.",
    "Use <think>this</think> tag.": "Use <think>this</think> tag.",
    "<thead>A table</thead>": "<thead>A table</thead>",
    "<think about it>": "<think about it>",
    "<thin": "<thin",
    "<": "<",
    "</think>Hello.": "</think>Hello.",
}


def filtered(*pieces: str) -> str:
    """Return what is shown of a reply that came in pieces."""
    thoughts = ThoughtFilter()
    return "".join([*map(thoughts.feed, pieces), thoughts.finish()])


@pytest.mark.parametrize(("said", "shown"), SHOWN.items())
def test_only_reasoning_at_the_beginning_is_hidden(said: str, shown: str) -> None:
    assert filtered(said) == shown


@patient
@given(st.sampled_from(list(SHOWN)), st.lists(st.integers(0, 60), max_size=8))
def test_where_a_reply_is_cut_does_not_matter(said: str, cuts: list[int]) -> None:
    marks = sorted({0, len(said), *(cut for cut in cuts if cut < len(said))})
    pieces = [said[begin:end] for begin, end in pairwise(marks)]
    assert filtered(*pieces) == SHOWN[said]
    assert filtered(*said) == SHOWN[said]


def test_an_ordinary_answer_is_not_held_up() -> None:
    thoughts = ThoughtFilter()
    assert [thoughts.feed(piece) for piece in ("H", "ello", " <", "think>")] == [
        "H",
        "ello",
        " <",
        "think>",
    ]
