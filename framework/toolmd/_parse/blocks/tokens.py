"""Split text into markdown-it-py's block tokens, without inline parsing."""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from toolmd._parse.blocks.plain_bullets import plain_bullets

MAX_NESTING = 144
"""Two levels for each list; markdown-it-py drops deeper lines, which unread.py reports."""

_NEEDS = {
    "table": ("|",),
    "fence": ("```", "~~~"),
    "blockquote": (">",),
    "html_block": ("<",),
    "code": ("    ", "\t"),
}
"""The signs that a text must contain for a block rule to match anything in it.

Every rule is tried at every line, so leaving out those that can't match halves the time.
"""
_RULED = ("hr", "lheading")
_RULE_SIGNS = "=-_* \t>+0123456789.)"
"""The characters of rules and heading underlines, also within a list or a quote."""


@cache
def markdown(rules: tuple[str, ...]) -> MarkdownIt:
    """Build the block parser: CommonMark and tables, without inline rules and references."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # References would swallow lines like `[key]: value` without a token.
    md.block.ruler.disable(
        ["reference", *(rule for rule in (*_NEEDS, *_RULED) if rule not in rules)]
    )
    md.core.ruler.disable(["inline", "text_join"])
    plain_bullets(md)
    return md


def source_lines(text: str) -> list[str]:
    """Split at newlines as markdown-it-py does; drop a byte order mark and carriage returns."""
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parser_for(lines: list[str]) -> MarkdownIt:
    """Return the parser with only the rules that these lines can need."""
    text = "\n".join(lines)
    rules = tuple(rule for rule, signs in _NEEDS.items() if any(sign in text for sign in signs))
    if any(line and not line.strip(_RULE_SIGNS) for line in lines):
        rules += _RULED
    return markdown(rules)


def tokens(lines: list[str]) -> list[Token]:
    """Return the block tokens of the lines."""
    return parser_for(lines).parse("\n".join(lines))
