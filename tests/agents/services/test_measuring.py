"""How long a document is for the prompt, and what of it would be cut."""

import pytest

from agents.core import prompt
from agents.core.prompt import DOCUMENT_CHARACTERS, Source
from agents.services.measuring import Measure, measure
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def of(text: str, **agent: str) -> Measure:
    return measure(factories.agent(**agent), text, now=NOON)


def test_a_short_text_is_counted_as_the_prompt_counts_it() -> None:
    text = "  Be brief. Ҳар доим қисқа.\n\n"
    entry = prompt.assemble([Source("SOUL.md", text)], preset="default", values={}).manifest[0]
    found = of(text)
    assert (found.characters, found.tokens) == (entry["characters"], entry["tokens"])
    assert (found.removed, found.cut) == (0, None)
    assert found.percent == 1


def test_an_empty_text_is_nothing() -> None:
    assert of(" \n") == Measure(2, 0, 0, 0, None)


def test_what_is_filled_in_counts() -> None:
    assert of("I am {bot_name}.", name="B" * 90).characters == 96
    assert of("{unknown}").characters == 9


def test_the_cut_is_the_prompts_own() -> None:
    text = "".join(f"{number:>9}\n" for number in range(3_300))
    found = of(text)
    entry = prompt.assemble([Source("SOUL.md", text)], preset="default", values={}).manifest[0]
    assert found.removed == entry["cut"] == found.characters - 18_000
    assert found.tokens == entry["tokens"]
    assert found.cut is not None
    whole = found.cut.head + found.cut.removed + found.cut.tail
    assert whole == text.strip()
    assert len(found.cut.removed) == found.removed
    assert found.percent == 165


def test_the_limit_itself_is_not_cut() -> None:
    assert of("x" * DOCUMENT_CHARACTERS).removed == 0
    assert of("x" * (DOCUMENT_CHARACTERS + 1)).removed > 0
