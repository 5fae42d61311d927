"""Text to markdown-it-py's block tokens; nothing inline, nothing silently dropped."""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_NESTING = 20
"""markdown-it-py drops what is nested deeper; outline.py finds the lines and refuses them."""


@cache
def markdown() -> MarkdownIt:
    """Give the block parser: CommonMark and tables, without inline rules and references."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # References would swallow lines like `[key]: value` without a token.
    md.block.ruler.disable("reference")
    md.core.ruler.disable(["inline", "text_join"])
    return md


def source_lines(text: str) -> list[str]:
    """Split as markdown-it-py does: at newlines only, after CRLF and a byte order mark went."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def tokens(lines: list[str]) -> list[Token]:
    """Give the block tokens of the lines."""
    return markdown().parse("\n".join(lines))
