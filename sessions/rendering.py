"""Markdown of a model → HTML that is safe to put into a page."""

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

TAGS: Final = frozenset(
    "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong "
    "table tbody td th thead tr ul".split()
)
ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "code": {"class"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
SCHEMES: Final = frozenset({"http", "https", "mailto"})
# A page shows twenty turns; opening it again, or in a second tab, renders nothing anew.
CACHED_TEXTS: Final = 256

# The parser is quadratic on some hostile texts (3 s for 40,000 characters of "!["); nobody
# reads an answer this long as prose, so beyond it the text is shown as it is.
MARKDOWN_CHARACTERS: Final = 40_000

_TASK = re.compile(r"\[([ xX])\] ")
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")


@lru_cache(maxsize=CACHED_TEXTS)
def render(markdown: str) -> str:
    """Return the HTML of a finished answer.

    HTML in the Markdown is shown as text, images become links (a page that fetched them would
    tell strangers who reads), links lead to http, https and mailto only.
    """
    if len(markdown) > MARKDOWN_CHARACTERS:
        return f"<pre><code>{html.escape(markdown)}</code></pre>"
    return nh3.clean(
        _parser().render(markdown),
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        attribute_filter=_kept,
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": True, "breaks": True})
    # Bare words such as `models.py` are no links; the live renderer agrees.
    if parser.linkify is not None:
        parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.core.ruler.push("plain_attributes", _plain_attributes)
    parser.add_render_rule("image", _image)
    return parser


def _plain_attributes(state: StateCore) -> None:
    """Columns are aligned by an attribute (our policy forbids styles); boxes become signs."""
    for before, token in zip([None, None, *state.tokens], state.tokens, strict=False):
        if token.type in {"td_open", "th_open"} and "style" in token.attrs:
            token.attrs["align"] = str(token.attrs.pop("style")).rpartition(":")[2]
        elif token.type == "inline" and before is not None and before.type == "list_item_open":
            _tick(token)


def _tick(item: Token) -> None:
    first = item.children[0] if item.children else None
    if first is not None and (box := _TASK.match(first.content)):
        sign = "☐" if box[1] == " " else "☑"
        first.content = f"{sign} {first.content[box.end() :]}"


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    image = tokens[index]
    name = renderer.renderInlineAsText(image.children or [], options, env)
    link = Token("link_open", "a", 1, attrs={"href": image.attrs.get("src", "")})
    words = Token("text", "", 0, content=name or str(image.attrs.get("src", "")))
    return renderer.renderInline([link, words, Token("link_close", "a", -1)], options, env)


def _kept(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("code", "class") and not _LANGUAGE.fullmatch(value):
        return None
    return value
