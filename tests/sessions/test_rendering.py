"""What a model writes becomes HTML that can do no harm."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.rendering import MARKDOWN_CHARACTERS, render


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**a** *b* ~~c~~ `d`", "<p><strong>a</strong> <em>b</em> <s>c</s> <code>d</code></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("- [x] done\n- [ ] open", "<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>"),
        ("3. c", '<ol start="3">\n<li>c</li>\n</ol>'),
        ("```c++\na<b\n```", '<pre><code class="language-c++">a&lt;b\n</code></pre>'),
        ("see models.py and a@b.co", "<p>see models.py and a@b.co</p>"),
    ],
)
def test_markdown(markdown: str, html: str) -> None:
    assert render(markdown).strip() == html


def test_table_is_aligned_without_a_style() -> None:
    html = render("|a|b|\n|-|-:|\n|1|2|")
    assert '<td align="right">2</td>' in html
    assert "style" not in html


@pytest.mark.parametrize("address", ["https://a.b/c?d=1", "http://a.b", "mailto:a@b.co"])
def test_links_to_the_web_and_to_mail_are_kept(address: str) -> None:
    html = render(f"[x]({address})")
    assert f'href="{address}"' in html
    assert "noopener" in html


def test_bare_address_is_a_link() -> None:
    assert 'href="https://a.b/c"' in render("look at https://a.b/c")


@pytest.mark.parametrize(
    "markdown",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](file:///etc/passwd)",
        "[x](/admin/)",
        "[x](//evil.example)",
        "<javascript:alert(1)>",
    ],
)
def test_other_links_lead_nowhere(markdown: str) -> None:
    assert "href" not in render(markdown)


@pytest.mark.parametrize(
    "markdown",
    [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "<b onclick=alert(1)>x</b>",
        "<iframe src=//evil.example></iframe>",
        "<style>*{display:none}</style>",
        "![x](https://evil.example/pixel.png)",
        "![x](javascript:alert(1))",
        '```"onmouseover=alert(1)\nx\n```',
    ],
)
def test_nothing_runs_and_nothing_is_fetched(markdown: str) -> None:
    html = render(markdown)
    for tag in ("<img", "<script", "<b", "<iframe", "<style"):
        assert f"{tag} " not in html
        assert f"{tag}>" not in html
    assert '"onmouseover' not in html


def test_image_becomes_a_link_with_its_words() -> None:
    assert ">a cat</a>" in render("![a cat](https://a.b/c.png)")


def test_text_too_long_for_markdown_is_shown_as_it_is() -> None:
    started = time.perf_counter()
    html = render("![" * MARKDOWN_CHARACTERS + "<b>")
    assert time.perf_counter() - started < 0.5
    assert html.endswith("&lt;b&gt;</code></pre>")


@given(st.text(alphabet="<>\"'&[]()!`*_~|-:#\n abjscript/=", max_size=200))
def test_no_text_makes_a_handler_or_a_foreign_tag(markdown: str) -> None:
    html = render(markdown).lower()
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
