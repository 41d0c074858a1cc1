"""What we write, TOML's own reader reads back; and each value's line is found again."""

import tomllib
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from qanot_site.configuration import toml
from qanot_site.configuration.lines import Lines

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
QUOTES = st.text(alphabet="\"'\\\n\r\t ab#[]{}=,\x7f\x01")


@given(name=TEXTS | QUOTES, text=TEXTS | QUOTES)
def test_any_text_comes_back_as_it_was(name: str, text: str) -> None:
    written = toml.pair(name, text)
    assert tomllib.loads(written) == {name: text}


def test_values_come_back_as_they_were() -> None:
    values = {
        "flag": True,
        "count": 3,
        "price": Decimal("0.0500"),
        "whole": Decimal("5"),
        "short": ["a", "b"],
        "long": ["x" * 60, "y" * 60],
        "table": {"file": "SOUL.md"},
    }
    written = "\n".join(toml.pair(name, value) for name, value in values.items())
    assert tomllib.loads(written, parse_float=Decimal) == values


@given(st.lists(st.tuples(TEXTS | QUOTES, TEXTS | QUOTES), unique_by=lambda pair: pair[0]))
def test_each_values_line_is_found(pairs: list[tuple[str, str]]) -> None:
    lines = ["# a comment with = and [", toml.header("agents", "one")]
    expected = {}
    for name, text in pairs:
        expected[name] = sum(line.count("\n") + 1 for line in lines) + 1
        lines.append(toml.pair(name, text))
    found = Lines("\n".join(lines))
    assert {name: found.of(("agents", "one", name)) for name, _ in pairs} == expected


def test_lines_inside_of_lists_and_tables() -> None:
    found = Lines(
        'team = "a" # ]\n'
        "[agents.'one'] # comment\n"
        "tools = [\n"
        '  "x", # first ]\n'
        '  "y",\n'
        "]\n"
        "chain = [ { account = \"A\" },\n  { account = 'B', model = 1.5 } ]\n"
        "[[agents.two.chain]]\n"
        'a.b = """\nnot = "a key"\n""""\n'
        "[[agents.two.chain]]\n"
        "since = 2026-11-30 12:00:00 # a moment\n"
        "[agents.two.chain.inner]\n"
        "n = 1\n"
    )
    assert found.of(("team",)) == 1
    assert found.of(("agents", "one")) == 2
    assert found.of(("agents", "one", "tools", 1)) == 5
    assert found.of(("agents", "one", "chain", 0, "account")) == 7
    assert found.of(("agents", "one", "chain", 1, "model")) == 8
    assert found.of(("agents", "two", "chain", 0)) == 9
    assert found.of(("agents", "two", "chain", 0, "a", "b")) == 10
    assert found.of(("agents", "two", "chain", 1, "since")) == 14
    assert found.of(("agents", "two", "chain", 1, "inner", "n")) == 16
    # What is missing is said of what it is missing in.
    assert found.of(("agents", "two", "chain", 1, "model")) == 13
    assert found.of(("nothing",)) == 0
