"""Render a definition's markdown safely: without its HTML and pictures."""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from toolmd._http.console.visible import visible

if TYPE_CHECKING:
    # A server whose console nobody opens does without it.
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

_SAFE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_LOWER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}
"""The page has its own headings above those of the document."""


def rendered(text: str) -> Markup:
    """Return a file's text as HTML; front matter becomes a block of code."""
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff"))
    return Markup(_reader().render(_fenced_front_matter(text)))  # noqa: S704 - html is off


@cache
def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.validateLink = lambda url: bool(_SAFE.match(url))  # type: ignore[method-assign]
    reader.core.ruler.push("lower_headings", _lower_headings)
    reader.add_render_rule("link_open", _link_open)
    return reader


def _lower_headings(state: "StateCore") -> None:
    for token in state.tokens:
        token.tag = _LOWER.get(token.tag, token.tag)


def _link_open(renderer: Any, tokens: Sequence[Any], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", "noopener noreferrer")
    opened: str = renderer.renderToken(tokens, at, options, env)
    return opened


def _fenced_front_matter(text: str) -> str:
    if not text.startswith("---\n"):
        return text
    head, closing, rest = text[4:].partition("\n---\n")
    return f"```yaml\n{head}\n```\n\n{rest}" if closing and "```" not in head else text
